// The list of tagged buffers: which one a message gets, when a new one may be matched, and what a handle stands for.
#include "nic/objects/tag_list.h"

#include <doctest/doctest.h>

#include <vector>

using namespace verbs::soft::nic;

namespace {

std::uint32_t add(TagList& list, std::uint64_t wr_id, std::uint64_t tag, std::uint64_t mask = UINT64_MAX) {
  return list.add({.wr_id = wr_id, .sge = {}, .tag = tag, .mask = mask});
}

// The buffer that a message takes; 0: none.
std::uint64_t take(TagList& list, std::uint64_t tag) {
  const std::uint32_t handle = list.match(tag);
  if (handle == TagList::kNone) return 0;
  const std::uint64_t wr_id = list.at(handle).wr_id;
  REQUIRE(list.remove(handle));
  return wr_id;
}

}  // namespace

TEST_CASE("a message takes the first buffer whose masked bits are its own") {
  TagList list(8, 8);
  add(list, 1, 0x10);
  add(list, 2, 0x20, 0xf0);
  add(list, 3, 0x20);
  add(list, 4, 0, 0);        // any
  add(list, 5, 0x31, 0xf0);  // a tag outside its mask: none ever
  CHECK(take(list, 0x20) == 2);
  CHECK(take(list, 0x20) == 3);
  CHECK(take(list, 0x31) == 4);
  CHECK(take(list, 0x31) == 0);
  CHECK(take(list, 0x10) == 1);
  CHECK(take(list, 0x10) == 0);
}

TEST_CASE("buffers are matched in the order in which they were added, whatever was removed") {
  TagList list(4, 4);
  std::vector<std::uint32_t> handles;
  for (std::uint64_t i = 1; i <= 4; ++i) handles.push_back(add(list, i, 7));
  CHECK(list.full());
  CHECK(list.remove(handles[1]));
  CHECK(list.remove(handles[3]));
  CHECK_FALSE(list.full());
  add(list, 5, 7);
  add(list, 6, 7);
  for (const std::uint64_t expected : {1, 3, 5, 6, 0}) CHECK(take(list, 7) == expected);
}

TEST_CASE("a handle stands for one buffer, not for the next one in its place") {
  TagList list(1, 1);
  const std::uint32_t first = add(list, 1, 7);
  CHECK(take(list, 7) == 1);
  CHECK_FALSE(list.remove(first));
  const std::uint32_t second = add(list, 2, 7);
  CHECK(second != first);
  CHECK_FALSE(list.remove(first));
  CHECK(list.remove(second));
  CHECK_FALSE(list.remove(second));
  CHECK_FALSE(list.is_foreign(second));
  CHECK(list.is_foreign(1));
  CHECK(list.is_foreign(TagList::kNone));
}

TEST_CASE("a buffer that was added after an unexpected message waits until the program knows of it") {
  TagList list(8, 8);
  add(list, 1, 7);
  list.note_unexpected();
  CHECK_FALSE(list.in_step());
  CHECK_FALSE(list.waits());
  add(list, 2, 7);
  add(list, 3, 8);
  CHECK(list.waits());
  CHECK(take(list, 7) == 1);  // was there before
  CHECK(take(list, 7) == 0);
  CHECK(take(list, 8) == 0);
  list.synchronize(0);
  CHECK(take(list, 7) == 0);
  list.synchronize(1);
  CHECK(list.in_step());
  CHECK_FALSE(list.waits());
  CHECK(take(list, 8) == 3);
  CHECK(take(list, 7) == 2);
}

TEST_CASE("what waits may be removed, and what comes behind it waits on") {
  TagList list(8, 8);
  list.note_unexpected();
  const std::uint32_t first = add(list, 1, 7);
  const std::uint32_t second = add(list, 2, 7);
  CHECK(list.remove(first));
  CHECK(list.waits());
  CHECK(take(list, 7) == 0);
  CHECK(list.remove(second));
  CHECK_FALSE(list.waits());
  add(list, 3, 7);
  CHECK(list.waits());
  list.synchronize(1);
  CHECK(take(list, 7) == 3);
}

TEST_CASE("the count of unexpected messages has 16 bits, as with adapters") {
  TagList list(1, 1);
  for (int i = 0; i < 65537; ++i) list.note_unexpected();
  list.synchronize(65537);
  CHECK(list.in_step());
  list.synchronize(1);
  CHECK(list.in_step());
  list.synchronize(0);
  CHECK_FALSE(list.in_step());
  list.forget_unexpected();
  list.synchronize(0);
  CHECK(list.in_step());
}
