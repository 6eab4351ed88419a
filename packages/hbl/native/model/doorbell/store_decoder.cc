#include "model/doorbell/store_decoder.h"

#include <cstring>

namespace verbs::hbl::model {
namespace {

constexpr std::uint8_t kOperandSize = 0x66, kRep = 0xf3;

// Bytes of ModRM, SIB and displacement of a memory operand; 0 for a register operand.
std::size_t operand_size(const std::uint8_t* modrm) {
  const unsigned mod = *modrm >> 6, rm = *modrm & 7;
  if (mod == 3) return 0;
  std::size_t size = 1;
  const bool sib = rm == 4;
  if (sib) ++size;
  if (mod == 1) size += 1;
  if (mod == 2 || (mod == 0 && rm == 5) || (mod == 0 && sib && (modrm[1] & 7) == 5)) size += 4;
  return size;
}

}  // namespace

bool decode_store(const std::uint8_t* code, Store* store) {
  const std::uint8_t* at = code;
  std::uint8_t prefix = 0, rex = 0;
  if (*at == kOperandSize || *at == kRep) prefix = *at++;
  if ((*at & 0xf0) == 0x40) rex = *at++;
  const bool wide = (rex & 8) != 0;
  *store = {.length = 0, .width = wide ? 8u : 4u, .immediate = false, .vector = false, .reg = 0, .value = 0};
  const std::uint8_t opcode = *at++;
  if (opcode == 0x0f) {
    const std::uint8_t second = *at++;
    if (second == 0xc3 && prefix == 0) {                    // MOVNTI
    } else if (second == 0xd6 && prefix == kOperandSize) {  // MOVQ
      store->width = 8;
      store->vector = true;
    } else if (second == 0x7e && prefix == kOperandSize) {  // MOVD, and with REX.W MOVQ
      store->vector = true;
    } else {
      return false;
    }
  } else if (prefix != 0 || (opcode != 0x89 && opcode != 0xc7)) {
    return false;
  }
  const std::size_t operand = operand_size(at);
  if (operand == 0) return false;
  store->reg = (*at >> 3 & 7) | (rex & 4) << 1;
  const bool immediate = opcode == 0xc7;
  if (immediate && (*at >> 3 & 7) != 0) return false;
  at += operand;
  if (immediate) {
    std::int32_t value = 0;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    store->immediate = true;
    store->value = wide ? static_cast<std::uint64_t>(std::int64_t{value}) : static_cast<std::uint32_t>(value);
  }
  store->length = static_cast<std::size_t>(at - code);
  return true;
}

}  // namespace verbs::hbl::model
