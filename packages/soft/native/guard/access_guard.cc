#include "guard/access_guard.h"

#include <sched.h>

#include <cerrno>
#include <mutex>
#include <new>

namespace verbs::soft::guard {
namespace {

constexpr unsigned kPageShift = 12;      // si_addr is exact, or rounded down to a page
constexpr unsigned kCanonicalBits = 47;  // x86-64 reports a fault at a higher address without the address

#if defined(__aarch64__)
constexpr std::uintptr_t kAddressBits = (std::uintptr_t{1} << 56) - 1;  // the tag above them is not reported
#else
constexpr std::uintptr_t kAddressBits = ~std::uintptr_t{0};
#endif

bool covers(std::uintptr_t begin, std::size_t size, std::uintptr_t address, unsigned shift) {
  const std::uintptr_t first = (begin & kAddressBits) >> shift;
  const std::uintptr_t last = ((begin + size - 1) & kAddressBits) >> shift;
  return (address >> shift) - first <= last - first;
}

}  // namespace

constinit thread_local AccessGuard* active_guard VERBS_FAST_TLS = nullptr;

bool AccessGuard::caused(const siginfo_t& info) const {
  if (info.si_code <= 0) return false;  // kill() or sigqueue()
  if (info.si_code == SI_KERNEL) return ((to | from | (to + size - 1) | (from + size - 1)) >> kCanonicalBits) != 0;
  unsigned shift = kPageShift;
  if (info.si_signo == SIGBUS && info.si_code == BUS_MCEERR_AO) return false;  // found in passing, by no access
  if (info.si_signo == SIGBUS && info.si_code == BUS_MCEERR_AR && info.si_addr_lsb > 0) {
    shift = static_cast<unsigned>(info.si_addr_lsb);
  }
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(info.si_addr) & kAddressBits;
  return covers(to, size, address, shift) || covers(from, size, address, shift);
}

namespace {

// Held by add() and remove() only, never in a signal handler.
std::mutex& changes() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

bool WatchedRanges::overlaps(std::uintptr_t begin, std::size_t size) const {
  for (const Slot& slot : slots_) {
    const Range* range = slot.range.load();
    if (range && begin < range->begin + range->size && range->begin < begin + size) return true;
  }
  return false;
}

int WatchedRanges::add(void* address, std::size_t size, RangeHandler handler, void* data) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (size == 0 || begin + size < begin || !handler) return EINVAL;
  const std::lock_guard lock(changes());
  if (overlaps(begin, size)) return EEXIST;
  for (Slot& slot : slots_) {
    if (slot.range.load()) continue;
    const Range* range = new (std::nothrow) Range{begin, size, handler, data};
    if (!range) return ENOMEM;
    slot.range.store(range);
    return 0;
  }
  return ENOMEM;
}

int WatchedRanges::remove(const void* address) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(changes());
  for (Slot& slot : slots_) {
    const Range* range = slot.range.load();
    if (!range || range->begin != begin) continue;
    slot.range.store(nullptr);
    while (slot.inside.load() != 0) sched_yield();
    delete range;
    return 0;
  }
  return ENOENT;
}

bool WatchedRanges::handle(siginfo_t* info, void* context) {
  if (info->si_code <= 0) return false;  // kill() or sigqueue()
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Slot& slot : slots_) {
    if (!slot.range.load(std::memory_order_relaxed)) continue;
    slot.inside.fetch_add(1);
    const Range* range = slot.range.load();
    const bool within = range && address - range->begin < range->size;
    const bool handled = within && range->handler(range->data, info, context) != 0;
    slot.inside.fetch_sub(1);
    if (handled) return true;
  }
  return false;
}

WatchedRanges& watched_ranges() {
  static constinit WatchedRanges ranges;
  return ranges;
}

}  // namespace verbs::soft::guard
