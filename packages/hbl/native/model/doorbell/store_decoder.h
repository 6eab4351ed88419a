// Decodes the store instruction of a write to a doorbell register that faulted.
#pragma once

#include <cstddef>
#include <cstdint>

namespace verbs::hbl::model {

struct Store {
  std::size_t length;  // bytes of the instruction
  unsigned width;      // 4 or 8 bytes stored
  bool immediate;      // `value` is stored
  bool vector;         // the XMM register `reg` is stored; otherwise the general register `reg`
  unsigned reg;        // number in the instruction set: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 … r15
  std::uint64_t value;
};

// Decodes the x86-64 instructions that compilers emit for 32- and 64-bit stores: MOV from a register or an immediate,
// MOVNTI, MOVQ and MOVD from a vector register, in any addressing mode. False for any other. Reads at most 15 bytes.
bool decode_store(const std::uint8_t* code, Store* store);

}  // namespace verbs::hbl::model
