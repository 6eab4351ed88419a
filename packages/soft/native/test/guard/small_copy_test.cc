// Small guarded copies: every size, at every place in a page, and with either side gone.
#include "guard/small_copy.h"

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "guard/fault_handler.h"
#include "guard/fault_signals.h"
#include "test/guard/fault_child.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr std::size_t kPage = 4096;

// A page that is there, and behind it one that is not.
std::uint8_t* page_before_hole() {
  auto* pages =
      static_cast<std::uint8_t*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(pages + kPage, kPage);
  return pages;
}

bool copies(std::size_t size, std::size_t shift) {
  std::array<std::uint8_t, guard::kSmallCopy + 64> from, to, expected;
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint8_t>(i * 7 + size);
  to.fill(0xee);
  expected.fill(0xee);
  std::memcpy(&expected[shift], &from[3], size);
  return guard::small_copy(&to[shift], &from[3], size) && to == expected;
}

// At all distances from the hole at which a copy reaches into it, and the last one at which it does not.
bool ends_at_hole(std::uint8_t* end, bool reads) {
  std::array<std::uint8_t, guard::kSmallCopy> other = {};
  for (std::size_t size = 1; size <= guard::kSmallCopy; size += size < 34 ? 1 : 37) {
    for (std::size_t inside = 0; inside <= size; ++inside) {
      std::uint8_t* at = end - inside;
      guard::admit_fault_signals();
      const bool copied = reads ? guard::small_copy(other.data(), at, size) : guard::small_copy(at, other.data(), size);
      guard::restore_fault_signals();
      if (copied != (inside == size)) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("a small copy has every size and touches nothing else") {
  for (std::size_t size = 1; size <= guard::kSmallCopy; ++size) {
    for (const std::size_t shift : {0u, 1u, 8u, 13u}) CHECK(copies(size, shift));
  }
}

TEST_CASE("a small copy that reaches memory which is gone fails, wherever it does") {
  if (guard::kSmallCopy == 0) return;
  CHECK(ended_by([] {
          guard::put_in_front();
          std::uint8_t* page = page_before_hole();
          if (!ends_at_hole(page + kPage, true) || !ends_at_hole(page + kPage, false)) _exit(1);
        }) == 1000);
}

TEST_CASE("a small copy fails while the thread blocks all signals outside of the step") {
  if (guard::kSmallCopy == 0) return;
  CHECK(ended_by([] {
          guard::put_in_front();
          sigset_t all;
          sigfillset(&all);
          pthread_sigmask(SIG_SETMASK, &all, nullptr);
          if (!ends_at_hole(page_before_hole() + kPage, false)) _exit(1);
        }) == 1000);
}
