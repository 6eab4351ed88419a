// Pages of device registers in ordinary memory.
//
// On the hardware each store to a register is a transaction of its own; memory would keep only the last of two stores
// to the same address. Therefore the pages are read-only: a store faults, and the fault handler of the process, which
// is the NIC's, calls the model's. That decodes the instruction, passes the value to the register's ring and continues
// behind the instruction. Reads give zeros. A store costs about as much as a system call.
//
// There is a decoder for the stores of x86-64. On other processors there are no pages, as on a device that does not let
// user space map its registers.
#pragma once

#include <cstdint>
#include <mutex>

#include "verbs_soft_extension.h"

namespace verbs::hbl::model {

class DoorbellRing;

class RegisterPage {
 public:
  static std::mutex& allocation_lock();  // for forks; no other lock is taken under it
  static constexpr std::uint32_t kSize = 4096;
  static constexpr std::uint32_t kOddOffset = 0x800;  // of the second register of a page
  static constexpr int kRegisters = 2;

  // nullptr without a decoder or a free page.
  static RegisterPage* allocate(const verbs_soft_extension_table& soft);
  static void free(RegisterPage* page);

  void* address() const;
  // Directs stores to the register to `ring`; nullptr discards them. On return no store to the former ring is in
  // progress.
  void connect(int index, DoorbellRing* ring);
};

}  // namespace verbs::hbl::model
