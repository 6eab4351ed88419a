#include "model/channel/handles.h"

#include <pthread.h>

#include <atomic>

namespace verbs::doca_comm::model {

namespace {

std::atomic<std::uint32_t> generation{0};

}  // namespace

std::uint32_t process_generation() {
  [[maybe_unused]] static const int kRegistered = pthread_atfork(nullptr, nullptr, [] { ++generation; });
  return generation.load(std::memory_order_relaxed);
}

}  // namespace verbs::doca_comm::model
