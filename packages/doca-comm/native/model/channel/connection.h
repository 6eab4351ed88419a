// One connection: two RC queue pairs and their memory.
//
// Messages go by the data pair, each with a header of eight bytes, and never more of them than the peer has receives
// posted: the peer tells by the control pair how many it has consumed. The control pair also carries the keep-alive (a
// write of no bytes, which the peer's NIC answers by itself) and, besides the last message of the data pair, the
// farewell. What arrives by it completes where sends complete, because it is what a sender waits for.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "doca_error.h"
#include "model/base/clock.h"
#include "model/bluefield/device.h"
#include "model/channel/event_channel.h"
#include "model/channel/frame.h"
#include "model/channel/in_flight.h"
#include "model/setup/handshake.h"

namespace verbs::doca_comm::model {

struct Sizes {
  std::uint16_t message = 4080;
  std::uint16_t send_queue = 64;
  std::uint16_t recv_queue = 64;
};

// What a completion is about: the connection's number and a slot, in its wr_id.
enum class Work : std::uint8_t { kReceive, kSend, kFlush, kControlReceive };

struct WorkId {
  std::uint32_t connection;
  Work work;
  std::uint32_t slot;

  static constexpr int kSlotBits = 24;
  std::uint64_t pack() const {
    return static_cast<std::uint64_t>(connection) << 32 | static_cast<std::uint64_t>(work) << kSlotBits | slot;
  }
  static WorkId unpack(std::uint64_t id) {
    return {static_cast<std::uint32_t>(id >> 32), static_cast<Work>(id >> kSlotBits & 0xff),
            static_cast<std::uint32_t>(id & ((1u << kSlotBits) - 1))};
  }
};

class Connection {
 public:
  enum class Arrival : std::uint8_t { kMessage, kFarewell, kBroken };
  struct Message {
    const std::uint8_t* data = nullptr;
    std::size_t size = 0;
    std::uint32_t slot = 0;
  };

  // Memory and queue pairs, ready to be told of.
  static doca_error_t create(doca_dev& dev, CompletionQueues& sends, CompletionQueues& receives, const Sizes& sizes,
                             std::uint32_t number, std::unique_ptr<Connection>* connection);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  // Frees what the destructor would, and says whether that went well: 0 or errno.
  int close();

  const EndAttributes& own() const { return own_; }
  doca_error_t establish(const Gid& gid, const EndAttributes& peer);
  bool established() const { return established_; }

  // The longest message that both ends take.
  std::size_t max_message() const { return max_message_; }
  bool has_slot() const { return sent_.count() < sizes_.send_queue; }
  bool has_credit() const { return sent_.posted() - consumed_by_peer_ < peer_queue_; }
  std::uint64_t in_flight() const { return sent_.count(); }
  int send(const void* message, std::size_t size);  // 0 or errno; there must be a slot and a credit
  // Whether no completion of what was sent is to come by itself.
  bool silent() const { return sent_.silent(); }
  // Asks for the completion of everything that was sent.
  void flush();

  Arrival read(const ibv_wc& completion, std::uint32_t slot, Message* message) const;
  int consume(std::uint32_t slot);  // gives the slot back to the peer: 0 or errno
  // A completion of a send, or what the peer told by the control pair. False if the connection is broken.
  bool complete(const ibv_wc& completion, const WorkId& id);
  // Whether the peer has said farewell.
  bool left() const { return left_; }

  // False if the connection is broken.
  bool keep_alive();
  void say_farewell();
  // Whether everything that was sent is acknowledged, the farewell too.
  bool quiet();

 private:
  Connection(doca_dev& dev, CompletionQueues& sends, CompletionQueues& receives, const Sizes& sizes,
             std::uint32_t number);
  int allocate();
  int make_pair(ibv_qp** qp, const ibv_qp_init_attr& init);
  std::uint32_t data_sends() const { return sent_.slots() + 1; }  // and the flush
  int sends_reserved() const { return static_cast<int>(data_sends() + kControlReceives); }
  int connect_pair(ibv_qp* qp, const Gid& gid, std::uint32_t qpn, const EndAttributes& peer);
  int post_receive(std::uint32_t slot);
  int post_control_receive(std::uint32_t slot);
  int post_frame(FrameKind kind, const void* message, std::size_t size, bool asks);
  int post_control(FrameKind kind, std::uint32_t value);
  bool reap_control();
  void tell_consumed();
  bool take_control(const ibv_wc& completion, std::uint32_t slot);
  Frame* receive_slot(std::uint32_t slot) const;
  Frame* send_slot(std::uint32_t slot) const;
  Control* control_slot(std::uint32_t slot) const;

  static constexpr std::uint32_t kControlReceives = 32;
  static constexpr std::uint32_t kControlSends = 16;

  doca_dev& dev_;
  CompletionQueues& sends_;
  CompletionQueues& receives_;
  const Sizes sizes_;
  const std::uint32_t number_;
  std::size_t stride_;
  std::size_t size_;
  std::uint8_t* memory_ = nullptr;
  ibv_mr* mr_ = nullptr;
  ibv_cq* send_cq_ = nullptr;
  ibv_cq* recv_cq_ = nullptr;
  ibv_cq* quiet_cq_ = nullptr;  // of control sends: nobody waits for those
  ibv_qp* data_ = nullptr;
  ibv_qp* control_ = nullptr;
  EndAttributes own_;
  bool established_ = false;
  std::size_t max_message_ = 0;

  InFlight sent_;
  bool flushing_ = false;
  std::uint64_t peer_queue_ = 0;
  std::uint64_t consumed_by_peer_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t told_ = 0;
  std::uint32_t control_posted_ = 0;
  std::uint32_t control_completed_ = 0;
  bool left_ = false;
  bool parted_ = false;  // has said farewell itself
  bool failed_ = false;  // a control send did
};

}  // namespace verbs::doca_comm::model
