// How the destruction of an object waits for the acknowledgement of its events.
#pragma once

#include <pthread.h>

#include "verbs_soft_boundary.h"

namespace verbs::soft::abi {

// An object is destroyed only when all its events are acknowledged.

// Blocks until the program has acknowledged every event of `ibv` (an ibv_cq, ibv_qp or ibv_srq) that it received, which
// `done` tells, and calls `release`. A thread that is cancelled meanwhile waits no more. Called after
// AsyncQueue::forget().
template <typename Object, typename Done, typename Release>
void release_acknowledged(Object& ibv, Done&& done, Release&& release) {
  struct Lock {
    explicit Lock(pthread_mutex_t& its) : mutex(its) { pthread_mutex_lock(&mutex); }
    ~Lock() { pthread_mutex_unlock(&mutex); }
    pthread_mutex_t& mutex;
  };
  const auto wait = [&] {
    const Lock lock(ibv.mutex);
    const Cancellable asleep;
    while (!done()) pthread_cond_wait(&ibv.cond, &ibv.mutex);
  };
  wait_and_finish(wait, release);
}

}  // namespace verbs::soft::abi
