// For models in C++: their locks across fork().
#pragma once

#include <pthread.h>

#include <new>

#include "verbs_soft_extension.h"

namespace verbs::soft::model {

// Makes a lock of the parent free in a child, whichever thread of the parent held it.
template <typename Mutex>
void renew(Mutex& mutex) {
  new (&mutex) Mutex;  // not unlocked: only the thread that locked it may do that, and it does not exist here
}

// Has each fork take the locks that the functions return, the first one first: the order in which the model nests them.
// `child` runs in the child afterwards. Call it once, when the model attaches.
template <auto... kMutexes>
int take_at_fork(const verbs_soft_extension_table& soft, verbs_soft_lock_rank rank, void (*child)() = nullptr) {
  static void (*then)() = nullptr;
  then = child;
  return soft.at_fork(
      rank, [] { (kMutexes().lock(), ...); }, [] { (kMutexes().unlock(), ...); },
      [] {
        (renew(kMutexes()), ...);
        if (then) then();
      });
}

// The same for a lock under which no other one is taken, which has no place in the order.
template <auto kMutex>
int take_leaf_at_fork() {
  return pthread_atfork([] { kMutex().lock(); }, [] { kMutex().unlock(); }, [] { renew(kMutex()); });
}

}  // namespace verbs::soft::model
