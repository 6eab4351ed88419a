#include "guard/access_guard.h"

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

}  // namespace verbs::soft::guard
