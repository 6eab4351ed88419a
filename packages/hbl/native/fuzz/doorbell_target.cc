// Doorbells as a program makes them: the store instructions that the fault handler decodes, and the ring that they
// fill. The bytes of an instruction are any that a program executed, and stores come in any order, size and place.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>

#include "fuzz/check.h"
#include "fuzz/input.h"
#include "model/doorbell/doorbell_ring.h"
#include "model/doorbell/store_decoder.h"

namespace {

using namespace verbs::hbl::model;
using verbs::soft::fuzz::Input;

constexpr std::size_t kLongestInstruction = 15;

void decode(Input& input) {
  // On the heap and no larger than the longest instruction, so that a read beyond it is seen.
  const auto code = std::make_unique<std::array<std::uint8_t, kLongestInstruction>>();
  code->fill(0);
  const auto bytes = input.bytes(kLongestInstruction);
  std::copy(bytes.begin(), bytes.end(), code->begin());
  Store store{};
  if (!decode_store(code->data(), &store)) return;
  FUZZ_CHECK(store.length >= 2 && store.length <= kLongestInstruction);
  FUZZ_CHECK(store.width == 4 || store.width == 8);
  FUZZ_CHECK(store.reg < 16);
  FUZZ_CHECK(!store.immediate || !store.vector);
  // What follows the instruction has no influence.
  std::fill(code->begin() + static_cast<std::ptrdiff_t>(store.length), code->end(), std::uint8_t{0xcc});
  Store again{};
  FUZZ_CHECK(decode_store(code->data(), &again));
  FUZZ_CHECK(again.length == store.length && again.width == store.width && again.reg == store.reg);
  FUZZ_CHECK(again.immediate == store.immediate && again.vector == store.vector && again.value == store.value);
}

// The ring beside a queue that is plainly right.
void store_and_pop(Input& input) {
  static Waker waker;
  DoorbellRing ring(waker);
  std::deque<std::uint64_t> expected;
  std::uint32_t low = 0, popped = 0;
  bool overrun = false;
  while (!input.empty()) {
    if (input.one_in(3)) {
      FUZZ_CHECK(ring.empty() == expected.empty());
      if (ring.empty()) continue;
      FUZZ_CHECK(ring.front() == expected.front());
      expected.pop_front();
      FUZZ_CHECK(ring.pop() == ++popped % DoorbellRing::kEntries);
      continue;
    }
    const std::uint32_t offset = input.one_in(8) ? input.take<std::uint16_t>() : input.one_in(2) ? 4 : 0;
    const unsigned width = input.one_in(2) ? 4 : 8;
    const auto value = input.take<std::uint64_t>();
    ring.store(offset, width, value);
    std::optional<std::uint64_t> doorbell;
    if (offset == 0 && width == 8) doorbell = value;
    if (offset == 0 && width == 4) low = static_cast<std::uint32_t>(value);
    if (offset == 4 && width == 4) doorbell = value << 32 | low;
    if (!doorbell) continue;
    if (expected.size() < DoorbellRing::kEntries) {
      expected.push_back(*doorbell);
    } else {
      overrun = true;
    }
  }
  FUZZ_CHECK(ring.take_overrun() == overrun);
  FUZZ_CHECK(!ring.take_overrun());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  if (input.one_in(2)) {
    decode(input);
  } else {
    store_and_pop(input);
  }
  return 0;
}
