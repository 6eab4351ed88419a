#include "abi/objects/process_lock.h"

#include <pthread.h>

namespace verbs::soft::abi {

std::mutex& process_lock() {
  // Never destroyed: threads may outlive the static objects.
  static std::mutex* mutex = [] {
    pthread_atfork([] { process_lock().lock(); }, [] { process_lock().unlock(); }, [] { process_lock().unlock(); });
    return new std::mutex;
  }();
  return *mutex;
}

}  // namespace verbs::soft::abi
