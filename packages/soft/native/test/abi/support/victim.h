// pthread_cancel in tests.
#pragma once

#include <doctest/doctest.h>
#include <pthread.h>

#include <atomic>
#include <ctime>
#include <functional>
#include <utility>

namespace verbs::soft::test {

// A thread that the test cancels.
class Victim {
 public:
  explicit Victim(std::function<void()> calls) : calls_(std::move(calls)) {
    REQUIRE(pthread_create(&thread_, nullptr, run, this) == 0);
  }
  // Whether it ended because it was cancelled, within two seconds.
  bool cancel() {
    pthread_cancel(thread_);
    return join();
  }
  bool join() {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    void* result = nullptr;
    return pthread_timedjoin_np(thread_, &result, &until) == 0 && result == PTHREAD_CANCELED;
  }
  bool returned() const { return returned_; }

 private:
  static void* run(void* self) {
    auto* victim = static_cast<Victim*>(self);
    victim->calls_();
    victim->returned_ = true;
    pthread_testcancel();
    return nullptr;
  }

  std::function<void()> calls_;
  std::atomic<bool> returned_{false};
  pthread_t thread_{};
};

}  // namespace verbs::soft::test
