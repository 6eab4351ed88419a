#include "model/doorbell/register_page.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "model/doorbell/doorbell_ring.h"
#include "model/doorbell/store_decoder.h"

namespace verbs::hbl::model {
namespace {

constexpr std::size_t kPages = 1024;  // of two FIFOs each: enough for all ports of several devices

struct Slot {
  std::atomic<DoorbellRing*> rings[RegisterPage::kRegisters];
  std::atomic<unsigned> inside{0};
  bool used = false;
};

// One region for all pages, so that a fault finds its page by arithmetic. Never unmapped: a store through a stale
// address is discarded.
std::atomic<std::uint8_t*> region{nullptr};
std::array<Slot, kPages> slots;
std::mutex allocation;

#if defined(__x86_64__)

// The general registers by their numbers in instructions.
constexpr int kGeneral[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

bool emulate(std::size_t at, ucontext_t* context) {
  greg_t* registers = context->uc_mcontext.gregs;
  Store store;
  if (!decode_store(reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]), &store)) return false;
  std::uint64_t value = store.value;
  if (store.vector) {
    std::memcpy(&value, context->uc_mcontext.fpregs->_xmm[store.reg].element, sizeof value);
  } else if (!store.immediate) {
    value = static_cast<std::uint64_t>(registers[kGeneral[store.reg]]);
  }
  if (store.width == 4) value = static_cast<std::uint32_t>(value);
  Slot& slot = slots[at / RegisterPage::kSize];
  const auto offset = static_cast<std::uint32_t>(at % RegisterPage::kSize);
  const std::uint32_t index = offset / RegisterPage::kOddOffset;
  slot.inside.fetch_add(1);
  if (DoorbellRing* ring = slot.rings[index].load()) {
    ring->store(offset - index * RegisterPage::kOddOffset, store.width, value);
  }
  slot.inside.fetch_sub(1);
  registers[REG_RIP] += static_cast<greg_t>(store.length);
  return true;
}

constexpr bool kDecodable = true;

#else

bool emulate(std::size_t, ucontext_t*) { return false; }
constexpr bool kDecodable = false;

#endif

int on_fault(void*, void* info, void* context) {
  const auto* address = static_cast<const std::uint8_t*>(static_cast<const siginfo_t*>(info)->si_addr);
  const auto at = static_cast<std::size_t>(address - region.load(std::memory_order_acquire));
  return emulate(at, static_cast<ucontext_t*>(context)) ? 1 : 0;
}

bool prepare(const verbs_soft_extension_table& soft) {
  if (region.load()) return true;
  if (!kDecodable) return false;
  constexpr std::size_t kBytes = kPages * RegisterPage::kSize;
  void* memory = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  region.store(static_cast<std::uint8_t*>(memory), std::memory_order_release);
  if (soft.watch_faults(memory, kBytes, on_fault, nullptr) == 0) return true;
  region.store(nullptr);
  munmap(memory, kBytes);
  return false;
}

std::size_t index_of(const RegisterPage* page) {
  return static_cast<std::size_t>(reinterpret_cast<const std::uint8_t*>(page) - region.load()) / RegisterPage::kSize;
}

}  // namespace

std::mutex& RegisterPage::allocation_lock() { return allocation; }

RegisterPage* RegisterPage::allocate(const verbs_soft_extension_table& soft) {
  const std::lock_guard guard(allocation);
  if (!prepare(soft)) return nullptr;
  for (std::size_t i = 0; i < kPages; ++i) {
    if (slots[i].used) continue;
    slots[i].used = true;
    return reinterpret_cast<RegisterPage*>(region.load() + i * kSize);
  }
  return nullptr;
}

void RegisterPage::free(RegisterPage* page) {
  const std::lock_guard guard(allocation);
  slots[index_of(page)].used = false;
}

void* RegisterPage::address() const { return const_cast<RegisterPage*>(this); }

void RegisterPage::connect(int index, DoorbellRing* ring) {
  Slot& slot = slots[index_of(this)];
  slot.rings[index].store(ring);
  while (slot.inside.load() != 0) sched_yield();
}

}  // namespace verbs::hbl::model
