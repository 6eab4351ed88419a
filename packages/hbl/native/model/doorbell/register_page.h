// Pages of device registers in ordinary memory. On the hardware a store to a register is a transaction of its own, even
// when the next store to the same address follows at once; memory would keep only the last. So the pages cannot be
// written: a store faults, and the handler of the fault decodes the instruction, hands the value to the register's
// queue, and lets the program go on behind it. Reads give zeros.
//
// That costs about as much as a system call. It needs a decoder for the processor's stores: there is one for x86-64.
// Elsewhere there are no pages, as on a device that does not let user space map its registers.
#pragma once

#include <cstdint>

namespace verbs::hbl {

class DoorbellRing;

class RegisterPage {
 public:
  static constexpr std::uint32_t kSize = 4096;
  static constexpr std::uint32_t kOddOffset = 0x800;  // of the second register of a page
  static constexpr int kRegisters = 2;

  // nullptr if there are no pages.
  static RegisterPage* allocate();
  static void free(RegisterPage* page);

  void* address() const;
  // From now on stores to that register go to `ring`; nullptr: nowhere. Returns when no store is on its way to the
  // former ring any more.
  void connect(int index, DoorbellRing* ring);
};

}  // namespace verbs::hbl
