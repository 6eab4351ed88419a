#include "test/link/support/memory_link.h"

#include "wire/bytes.h"
#include "wire/headers.h"
#include "wire/icrc.h"

namespace verbs::soft::link::test {

wire::Gid ipv4_gid(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  const std::uint8_t address[4] = {a, b, c, d};
  return wire::Gid::from_ipv4(address);
}

Frame sealed_frame(const wire::Path& path, std::uint32_t number, std::size_t payload) {
  const std::size_t transport = wire::Bth::kSize + payload + wire::kIcrcSize;
  Frame frame(wire::network_size(path) + transport);
  std::uint8_t* at = frame.data() + wire::write_network(frame.data(), path, transport);
  wire::Bth bth;
  bth.opcode = 0x04;
  bth.dest_qpn = 17;
  bth.psn = number & 0xffffff;
  bth.emit(at);
  for (std::size_t i = 0; i < payload; ++i) at[wire::Bth::kSize + i] = static_cast<std::uint8_t>(number + i);
  wire::store_be(at + wire::Bth::kSize, number);
  wire::seal_icrc(frame);
  return frame;
}

Frame numbered_frame(std::uint32_t number, std::size_t payload) {
  wire::Path path;
  path.sgid = ipv4_gid(127, 0, 0, 1);
  path.dgid = ipv4_gid(127, 0, 0, 2);
  path.source_port = wire::kRocePort;
  return sealed_frame(path, number, payload);
}

std::uint32_t number_of(const Frame& frame) {
  return wire::load_be<std::uint32_t>(&frame[wire::network_size_of(frame) + wire::Bth::kSize]);
}

}  // namespace verbs::soft::link::test
