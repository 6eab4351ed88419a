#include "model/setup/handshake.h"

#include <endian.h>

#include <algorithm>
#include <cstring>

namespace verbs::doca_comm::model {

namespace {

constexpr std::uint32_t kHandshakeMagic = 0x64636331;  // "dcc1"

struct [[gnu::packed]] Wire {
  std::uint32_t magic;
  std::uint8_t type;
  std::uint8_t mtu;
  std::uint8_t name_length;
  std::uint8_t features;
  std::uint64_t client_id;
  std::uint8_t key[16];
  char representor[12];
  std::uint32_t data_qpn;
  std::uint32_t control_qpn;
  std::uint32_t psn;
  std::uint16_t max_msg_size;
  std::uint16_t recv_queue_size;
  char name[128];
  std::uint32_t producer;
  std::uint32_t consumer;
  std::uint32_t limit;
};
static_assert(sizeof(Wire) == HandshakeMessage::kSize);

}  // namespace

void HandshakeMessage::write(std::span<std::uint8_t, kSize> bytes) const {
  Wire wire{};
  wire.magic = htobe32(kHandshakeMagic);
  wire.type = static_cast<std::uint8_t>(type);
  wire.mtu = end.mtu;
  wire.name_length = static_cast<std::uint8_t>(std::min(name.size(), kMaxNameLength - 1));
  wire.features = end.features;
  wire.client_id = htobe64(client_id);
  std::copy(key.begin(), key.end(), wire.key);
  representor.copy(wire.representor, sizeof wire.representor);
  wire.data_qpn = htobe32(end.data_qpn);
  wire.control_qpn = htobe32(end.control_qpn);
  wire.psn = htobe32(end.psn);
  wire.max_msg_size = htobe16(end.max_msg_size);
  wire.recv_queue_size = htobe16(end.recv_queue_size);
  name.copy(wire.name, wire.name_length);
  wire.producer = htobe32(producer);
  wire.consumer = htobe32(consumer);
  wire.limit = htobe32(limit);
  std::memcpy(bytes.data(), &wire, kSize);
}

HandshakeMessage HandshakeMessage::answer(Type kind) const {
  HandshakeMessage message;
  message.type = kind;
  message.client_id = client_id;
  message.end.mtu = IBV_MTU_256;
  if (kind == Type::kDismissed) {
    message.representor = representor;
    message.name = name;
  }
  return message;
}

bool HandshakeMessage::read(std::span<const std::uint8_t> bytes) {
  if (bytes.size() != kSize) return false;
  Wire wire;
  std::memcpy(&wire, bytes.data(), kSize);
  constexpr std::uint32_t kMaxQpn = 0xffffff;
  if (be32toh(wire.magic) != kHandshakeMagic || wire.type < 1 || wire.type > static_cast<std::uint8_t>(kLastType) ||
      wire.mtu < IBV_MTU_256 || wire.mtu > IBV_MTU_4096 || wire.name_length >= kMaxNameLength ||
      be32toh(wire.data_qpn) > kMaxQpn || be32toh(wire.control_qpn) > kMaxQpn || be32toh(wire.psn) > kMaxQpn) {
    return false;
  }
  type = static_cast<Type>(wire.type);
  client_id = be64toh(wire.client_id);
  std::copy(std::begin(wire.key), std::end(wire.key), key.begin());
  representor.assign(wire.representor, strnlen(wire.representor, sizeof wire.representor));
  name.assign(wire.name, wire.name_length);
  end = {.data_qpn = be32toh(wire.data_qpn),
         .control_qpn = be32toh(wire.control_qpn),
         .psn = be32toh(wire.psn),
         .max_msg_size = be16toh(wire.max_msg_size),
         .recv_queue_size = be16toh(wire.recv_queue_size),
         .mtu = wire.mtu,
         .features = wire.features};
  producer = be32toh(wire.producer);
  consumer = be32toh(wire.consumer);
  limit = be32toh(wire.limit);
  return true;
}

}  // namespace verbs::doca_comm::model
