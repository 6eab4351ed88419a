#include "host/fork_order.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <mutex>

namespace verbs::soft::host {

namespace {

struct Slot {
  LockRank rank;
  ForkHandler prepare, parent, child;
  std::atomic<bool> ready;
};

constexpr std::size_t kSlots = 32;
constexpr LockRank kRanks[] = {LockRank::kModel, LockRank::kRegistry, LockRank::kTable, LockRank::kModelInner};

// Without constructors: handlers are registered before the static objects of this library exist.
constinit std::array<Slot, kSlots> slots{};
constinit std::atomic<std::size_t> taken{0};

// Held from the first handler to the last one of a fork: two threads may fork at a time.
constinit std::mutex forking;
// The slots that the fork in progress has prepared: others were registered meanwhile.
constinit std::array<bool, kSlots> prepared{};

void prepare_all() {
  forking.lock();
  for (std::size_t i = 0; i < kSlots; ++i) prepared[i] = slots[i].ready.load(std::memory_order_acquire);
  for (const LockRank rank : kRanks) {
    for (std::size_t i = 0; i < kSlots; ++i) {
      if (prepared[i] && slots[i].rank == rank && slots[i].prepare) slots[i].prepare();
    }
  }
}

void finish(ForkHandler Slot::* handler) {
  for (std::size_t rank = std::size(kRanks); rank-- > 0;) {
    for (std::size_t i = kSlots; i-- > 0;) {
      if (prepared[i] && slots[i].rank == kRanks[rank] && slots[i].*handler) (slots[i].*handler)();
    }
  }
  forking.unlock();
}

void finish_in_parent() { finish(&Slot::parent); }
void finish_in_child() { finish(&Slot::child); }

// When the library is loaded: no thread can hold a lock of it, and every other library of ours comes later.
[[gnu::constructor]] void register_handlers() { pthread_atfork(prepare_all, finish_in_parent, finish_in_child); }

}  // namespace

bool at_fork(LockRank rank, ForkHandler prepare, ForkHandler parent, ForkHandler child) {
  const std::size_t index = taken.fetch_add(1, std::memory_order_relaxed);
  if (index >= kSlots) return false;
  Slot& slot = slots[index];
  slot.rank = rank;
  slot.prepare = prepare;
  slot.parent = parent;
  slot.child = child;
  slot.ready.store(true, std::memory_order_release);
  return true;
}

}  // namespace verbs::soft::host
