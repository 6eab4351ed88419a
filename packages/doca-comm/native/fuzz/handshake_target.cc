// Datagrams of the handshake, which any host on the network can send: an accepted one is within the limits, and is the
// same after it is written and read again.
#include <array>

#include "fuzz/check.h"
#include "fuzz/input.h"
#include "model/setup/handshake.h"

using verbs::doca_comm::model::HandshakeMessage;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  HandshakeMessage datagram;
  if (!datagram.read({data, size})) return 0;
  FUZZ_CHECK(size == HandshakeMessage::kSize);
  FUZZ_CHECK(datagram.name.size() < verbs::doca_comm::model::kMaxNameLength);
  FUZZ_CHECK(datagram.end.mtu >= IBV_MTU_256 && datagram.end.mtu <= IBV_MTU_4096);
  FUZZ_CHECK((datagram.end.data_qpn | datagram.end.control_qpn | datagram.end.psn) <= 0xffffff);
  std::array<std::uint8_t, HandshakeMessage::kSize> bytes;
  datagram.write(bytes);
  HandshakeMessage again;
  FUZZ_CHECK(again.read(bytes));
  FUZZ_CHECK(again.type == datagram.type && again.client_id == datagram.client_id && again.key == datagram.key);
  FUZZ_CHECK(again.name == datagram.name && again.representor == datagram.representor);
  FUZZ_CHECK(again.end.data_qpn == datagram.end.data_qpn && again.end.control_qpn == datagram.end.control_qpn);
  FUZZ_CHECK(again.end.psn == datagram.end.psn && again.end.mtu == datagram.end.mtu);
  FUZZ_CHECK(again.end.max_msg_size == datagram.end.max_msg_size);
  FUZZ_CHECK(again.end.recv_queue_size == datagram.end.recv_queue_size);
  return 0;
}
