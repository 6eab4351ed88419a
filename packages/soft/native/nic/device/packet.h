// A received packet whose headers have passed the checks of the ingress.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <cstring>
#include <span>

#include "link/reference.h"
#include "wire/frame.h"
#include "wire/headers.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {

// The payload of a packet that refers to it.
struct ReferredPayload {
  link::SenderMemory& memory;
  std::span<const link::Reference> pieces;
  std::size_t size;  // of all pieces
};

struct Packet {
  const wire::FrameView& frame;
  const wire::Bth& bth;
  const wire::OpcodeInfo& info;
  std::span<const std::uint8_t> transport;  // BTH to the end of the payload, without pad and ICRC
  // Instead of a payload, in SENDs, WRITEs and READ responses of reliable connections. The packet stands for as many as
  // its bytes need.
  const ReferredPayload* referred = nullptr;

  bool has(std::uint32_t flag) const { return info.has(flag); }
  const std::uint8_t* header(std::uint8_t offset) const { return transport.data() + offset; }
  std::span<const std::uint8_t> payload() const { return transport.subspan(info.header_size); }
  std::size_t payload_size() const { return referred != nullptr ? referred->size : payload().size(); }
  // The PSNs that it takes.
  std::uint32_t psns(std::uint32_t mtu) const {
    return referred != nullptr ? static_cast<std::uint32_t>((referred->size + mtu - 1) / mtu) : 1;
  }

  // The immediate data in network byte order, or the key to invalidate in the host's: ibv_wc has them in a union.
  // 0 if the packet has neither.
  __be32 immediate() const {
    __be32 value = 0;
    if (has(wire::kHasImmDt)) std::memcpy(&value, header(info.imm_dt), sizeof value);
    if (has(wire::kHasIeth)) value = wire::load_be<std::uint32_t>(header(info.ieth));
    return value;
  }
};

}  // namespace verbs::soft::nic
