// Cancellation of threads (pthread_cancel). Only functions that wait for something are cancellation points, as those of
// the C libraries are, and only while they wait: the system calls between would leave their work half done.
#pragma once

#include <pthread.h>

namespace verbs::soft {

// Of the thread, as this library knows it.
struct CancelState {
  int depth = 0;  // of Uncancelled
  int outside = PTHREAD_CANCEL_DISABLE;

  static CancelState& get() {
    static thread_local CancelState state;
    return state;
  }
};

// While an object exists, its thread is not cancelled.
class Uncancelled {
 public:
  Uncancelled() {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
    CancelState& state = CancelState::get();
    if (state.depth++ == 0) state.outside = before_;
  }
  ~Uncancelled() {
    --CancelState::get().depth;
    pthread_setcancelstate(before_, nullptr);
  }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_DISABLE;
};

// While an object exists within an Uncancelled one, its thread is cancelled if the program has not switched that off:
// around a call that waits. What the thread has begun must be undone by destructors.
class Cancellable {
 public:
  Cancellable() {
    const CancelState& state = CancelState::get();
    if (state.depth != 0) pthread_setcancelstate(state.outside, nullptr);
  }
  ~Cancellable() {
    if (CancelState::get().depth != 0) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  }
  Cancellable(const Cancellable&) = delete;
  Cancellable& operator=(const Cancellable&) = delete;
};

}  // namespace verbs::soft
