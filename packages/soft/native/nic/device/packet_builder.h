// Building one frame in a transmitter's buffer: headers, payload, pad, ICRC.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nic/device/core.h"
#include "wire/frame.h"
#include "wire/headers.h"
#include "wire/tunnel.h"

namespace verbs::soft::nic {

class PacketBuilder {
 public:
  PacketBuilder(Core& core, Port& port, const wire::Path& path, std::uint8_t opcode);

  wire::Bth bth;  // opcode is set; fill in the rest before send()

  // The extended headers, at their places for this opcode. Only those that the opcode has.
  std::uint8_t* xrceth();
  std::uint8_t* deth();
  std::uint8_t* reth();
  std::uint8_t* aeth();
  std::uint8_t* atomic_eth();
  std::uint8_t* atomic_ack_eth();
  std::uint8_t* imm_dt();
  std::uint8_t* ieth();
  std::uint8_t* feth();
  // Where the payload goes: room for 4096 bytes.
  std::uint8_t* payload() { return transport_ + header_size_; }

  // Pads, seals and commits. Without it nothing is sent.
  void send(std::size_t payload_size);

 private:
  Core& core_;
  Port& port_;
  const wire::Path& path_;
  const wire::Tunnel* tunnel_;
  std::uint8_t* frame_;
  std::uint8_t* transport_;
  std::size_t header_size_;
};

}  // namespace verbs::soft::nic
