// An end that breaks the protocol: it has the queue pairs of a connection, and one of the fast path of Comch, and sends
// any bytes on them.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/nic/verbs.h"
#include "model/setup/handshake.h"
#include "model/setup/registry.h"

namespace verbs::doca_comm::model::test {

inline constexpr const char* kRepresentor = "5f5f:3b:00.0";

// A frame of the data pair: its header, and a message.
std::string data_frame(std::uint8_t kind, std::uint32_t size, std::string_view message);
// A frame of the control pair.
std::string control_frame(std::uint8_t kind, std::uint32_t value);
inline constexpr std::uint8_t kDataKind = 1, kDisconnectKind = 2, kConsumedKind = 3;
inline constexpr std::uint8_t kConsumerKind = 4, kExpiredKind = 5;

class Hostile {
 public:
  explicit Hostile(const char* device = "doca_host0");
  ~Hostile();
  Hostile(const Hostile&) = delete;
  Hostile& operator=(const Hostile&) = delete;

  // A valid request to that service, with the key of the registry.
  HandshakeMessage request(const std::string& name);
  // Is found as the service of that name on the device with `own`, by clients with the address `clients`.
  void serve(const std::string& name, const Gid& own, const Gid& clients);
  // Its half of a connection.
  EndAttributes half(std::uint8_t features = 0) const;
  std::uint32_t bulk_qpn() const { return bulk_->qp_num; }
  void send(const HandshakeMessage& message);
  // Sends any bytes to the queue pair of the handshakes.
  void send(std::string_view bytes);
  // The next message of the handshakes, if one has arrived.
  std::optional<HandshakeMessage> receive();
  // The next response with that client ID, if one arrives within 5 seconds.
  std::optional<HandshakeMessage> receive(std::uint64_t client_id);

  // Connects its queue pairs to those of the service.
  void establish(const EndAttributes& service);
  void establish_bulk(const EndAttributes& other) { connect_pair(bulk_, other.data_qpn, other); }
  void post(ibv_qp* qp, std::string_view bytes, ibv_wr_opcode opcode = IBV_WR_SEND, std::uint32_t rkey = 0);
  void data(std::string_view bytes, ibv_wr_opcode opcode = IBV_WR_SEND) { post(data_, bytes, opcode, rkey()); }
  void control(std::string_view bytes, ibv_wr_opcode opcode = IBV_WR_SEND) { post(control_, bytes, opcode, rkey()); }
  void bulk(std::string_view bytes, ibv_wr_opcode opcode = IBV_WR_SEND) { post(bulk_, bytes, opcode, rkey()); }
  std::uint32_t rkey() const { return mr_->rkey; }
  // The number of work requests that have completed since the last call.
  int completed();

 private:
  ibv_qp* create_pair(ibv_qp_type type);
  void connect_pair(ibv_qp* qp, std::uint32_t qpn, const EndAttributes& service);

  static constexpr std::size_t kSlot = 8192;
  static constexpr std::uint32_t kSlots = 512;
  static constexpr std::uint32_t kReceives = 64;

  const Verbs* verbs_;
  ibv_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_cq* cq_ = nullptr;         // of sends
  ibv_cq* responses_ = nullptr;  // of the handshakes' receives
  std::vector<std::uint8_t> memory_;
  ibv_mr* mr_ = nullptr;
  ibv_qp* handshake_qp_ = nullptr;
  ibv_qp* data_ = nullptr;
  ibv_qp* control_ = nullptr;
  ibv_qp* bulk_ = nullptr;
  std::unique_ptr<ServiceEntry> entry_;
  ibv_ah* address_handle_ = nullptr;
  Gid service_{};
  std::uint32_t next_ = kReceives;
};

}  // namespace verbs::doca_comm::model::test
