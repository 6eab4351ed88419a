// A request packet for an RC or UC QP, after the checks of its headers.
#pragma once

#include <cstdint>
#include <span>

#include "wire/headers.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {

struct Request {
  const wire::Bth& bth;
  const wire::OpcodeInfo& info;
  std::span<const std::uint8_t> transport;  // BTH to the end of the payload, without pad and ICRC

  bool has(std::uint32_t flag) const { return info.has(flag); }
  const std::uint8_t* header(std::uint8_t offset) const { return transport.data() + offset; }
  std::span<const std::uint8_t> payload() const { return transport.subspan(info.header_size); }
};

}  // namespace verbs::soft::nic
