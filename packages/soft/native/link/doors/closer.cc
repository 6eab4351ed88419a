#include "link/doors/closer.h"

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "include/verbs_soft_worker.h"
#include "link/process_instance.h"

namespace verbs::soft::link {
namespace {

// Each of them sleeps with one descriptor at a time.
constexpr int kMostThreads = 8;

struct Closer {
  std::mutex mutex;
  std::vector<int> waiting;
  int threads = 0;
  int idle = 0;  // threads that are about to take the next one
  std::size_t closing = 0;

  void close_later(int fd);
  void run();
};

void Closer::close_later(int fd) {
  const std::lock_guard lock(mutex);
  waiting.push_back(fd);
  if (threads >= kMostThreads || waiting.size() <= static_cast<std::size_t>(idle)) return;
  try {
    const model::WorkerSignals signals;
    std::thread thread([this] { run(); });
    pthread_setname_np(thread.native_handle(), "verbs-close");
    thread.detach();
    ++threads;
    ++idle;
  } catch (const std::system_error&) {
    // No thread can be had: the next descriptor's, or one that runs, closes it.
  }
}

void Closer::run() {
  std::unique_lock lock(mutex);
  while (!waiting.empty()) {
    const int fd = waiting.back();
    waiting.pop_back();
    ++closing;
    --idle;
    lock.unlock();
    close(fd);
    lock.lock();
    ++idle;
    --closing;
  }
  --idle;
  --threads;
}

}  // namespace

void close_elsewhere(int fd) {
  try {
    process_instance<Closer>().close_later(fd);
  } catch (const std::bad_alloc&) {
    close(fd);
  }
}

std::size_t closing_elsewhere() {
  Closer& closer = process_instance<Closer>();
  const std::lock_guard lock(closer.mutex);
  return closer.waiting.size() + closer.closing;
}

}  // namespace verbs::soft::link
