// The small parts: PSN arithmetic, the timer heap, the table of objects, the congestion window.
#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <vector>

#include "nic/base/containers.h"
#include "nic/base/limits.h"
#include "nic/objects/queue_pair.h"
#include "test/abi/support/failing_new.h"

using namespace verbs::soft::nic;
using namespace verbs::soft::test;

TEST_CASE("PSNs compare across the wrap") {
  CHECK(psn_add(0xffffff, 1) == 0);
  CHECK(psn_diff(0, 0xffffff) == 1);
  CHECK(psn_diff(0xffffff, 0) == -1);
  CHECK(psn_before(0xfffff0, 0x000010));
  CHECK_FALSE(psn_before(5, 5));
  CHECK(psn_diff(0x7fffff, 0) == 0x7fffff);
  CHECK(psn_diff(0x800000, 0) == -0x800000);
}

TEST_CASE("timers come up in order, whatever was re-armed, cancelled or removed") {
  TimerHeap heap;
  std::vector<TimerSlot> slots(100);
  for (std::size_t i = 0; i < slots.size(); ++i) heap.arm(slots[i], static_cast<Nanos>((i * 37) % 100) + 1);
  heap.arm(slots[0], 1000);  // later: the heap keeps the earlier entry until it comes up
  heap.arm(slots[1], 0);     // earlier
  heap.cancel(slots[2]);
  heap.remove(slots[3]);
  CHECK(heap.next() == 0);
  CHECK(heap.expire(0) == &slots[1]);
  CHECK(heap.expire(0) == nullptr);
  Nanos last = 0;
  std::size_t count = 0;
  for (Nanos now = 1; now <= 100; ++now) {
    while (const TimerSlot* slot = heap.expire(now)) {
      CHECK(slot != &slots[0]);
      CHECK(slot != &slots[2]);
      CHECK(slot != &slots[3]);
      CHECK(now >= last);
      last = now;
      ++count;
    }
  }
  CHECK(count == 96);
  CHECK(heap.next() == 1000);
  CHECK(heap.expire(999) == nullptr);
  CHECK(heap.expire(1000) == &slots[0]);
  CHECK(heap.next() == kNever);
}

TEST_CASE("a timer for which there was no memory is not armed, and can be armed again") {
  if (!kAllocationsCanFail) return;
  TimerHeap timers;
  TimerSlot slot;
  bool thrown = false;
  fail_allocation(1);
  try {
    timers.arm(slot, 5);
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  CHECK(thrown);
  CHECK(slot.deadline == kNever);
  CHECK(timers.next() == kNever);
  timers.arm(slot, 7);
  CHECK(timers.expire(7) == &slot);
}

TEST_CASE("a table hands out indices up to its limit, and a freed one rests") {
  Table<int> table(17, 3);
  CHECK(table.insert(std::make_unique<int>(1)) == 17);
  CHECK(table.insert(std::make_unique<int>(2)) == 18);
  CHECK(table.insert(std::make_unique<int>(3)) == 19);
  CHECK(table.insert(std::make_unique<int>(4)) == 0);
  CHECK(table.find(16) == nullptr);
  CHECK(table.find(20) == nullptr);
  CHECK(*table.find(18) == 2);
  table.erase(18);
  table.erase(18);
  CHECK(table.find(18) == nullptr);
  CHECK(table.size() == 2);
  CHECK(table.insert(std::make_unique<int>(5)) == 18);

  Table<int> large(1, 1 << 20);
  const std::uint32_t first = large.insert(std::make_unique<int>(0));
  large.erase(first);
  CHECK(large.insert(std::make_unique<int>(0)) != first);
}

TEST_CASE("the window grows by two for each window acknowledged, shrinks by an eighth on loss, and keeps its bounds") {
  CongestionWindow window;
  CHECK(window.packets() == CongestionWindow::kInitial);
  window.acknowledged(CongestionWindow::kInitial);
  CHECK(window.packets() == CongestionWindow::kInitial + 2);
  window.lost();
  CHECK(window.packets() == CongestionWindow::kInitial + 2 - 4);
  for (int i = 0; i < 40; ++i) window.lost();
  CHECK(window.packets() == CongestionWindow::kMinimum);
  for (int i = 0; i < 100'000; ++i) window.acknowledged(1);
  CHECK(window.packets() == CongestionWindow::kMaximum);
}
