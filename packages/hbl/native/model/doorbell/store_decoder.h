// Reading a store out of machine code: a program's write to a doorbell register that faulted is carried out by who
// decodes it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace verbs::hbl {

struct Store {
  std::size_t length;  // bytes of the instruction
  unsigned width;      // 4 or 8 bytes stored
  bool immediate;      // `value` is it
  bool vector;         // of the XMM register with the number `reg`; else of the general register with that number
  unsigned reg;        // in the order of the instruction set: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 … r15
  std::uint64_t value;
};

// The x86-64 instructions that compilers make of 32- and 64-bit stores: MOV from a register or of an immediate, MOVNTI,
// MOVQ and MOVD from a vector register, with any addressing. False for any other. Reads at most 15 bytes.
bool decode_store(const std::uint8_t* code, Store* store);

}  // namespace verbs::hbl
