// One connection: messages with credits, over two RC queue pairs.
//
// A message travels on the data queue pair behind a header of eight bytes. An end never has more messages in flight
// than the peer has receives posted: the peer reports on the control queue pair how many it has consumed. The control
// queue pair also carries the keep-alive, and a disconnect message besides the one behind the last message of the data
// queue pair. Both are needed: the one on the data queue pair tells the receiver that no message is missing, the one on
// the control queue pair tells a sender at once.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "doca_error.h"
#include "model/channel/in_flight.h"
#include "model/channel/queue_pairs.h"

namespace verbs::doca_comm::model {

class Connection {
 public:
  enum class Received : std::uint8_t { kMessage, kDisconnect, kInvalid };
  struct Message {
    const std::uint8_t* data = nullptr;
    std::size_t size = 0;
    std::uint32_t slot = 0;
    FrameKind kind = FrameKind::kData;
    std::uint32_t consumer = 0;  // of the kinds of the fast path
    Delivery delivery{};         // of the kind kDelivered
  };

  // Memory and queue pairs, ready for the handshake.
  static doca_error_t create(doca_dev& dev, CompletionQueues& sends, CompletionQueues& receives, const Sizes& sizes,
                             std::uint32_t number, std::unique_ptr<Connection>* connection);
  // Frees what the destructor would, and reports the result: 0 or errno.
  int close() { return pairs_.close(); }

  const EndAttributes& own() const { return pairs_.own(); }
  doca_error_t establish(const Gid& gid, const EndAttributes& peer);
  bool established() const { return established_; }

  // The longest message that both ends take, in bytes.
  std::size_t max_message() const { return max_message_; }
  // Whether both ends know the fast path.
  bool has_fast_path() const { return fast_path_; }
  bool has_slot() const { return sent_.count() < sizes_.send_queue; }
  bool has_credit() const { return sent_.posted() - consumed_by_peer_ < peer_queue_; }
  std::uint64_t in_flight() const { return sent_.count(); }
  // Counts of the messages since the beginning: sent, and of those, known to have arrived. What the peer says to have
  // consumed has arrived, too: an end that leaves acknowledges nothing more.
  std::uint64_t posted() const { return sent_.posted(); }
  std::uint64_t arrived() const { return std::max(sent_.completed(), std::max(consumed_by_peer_, confirmed_)); }
  bool poll_due() const { return sent_.poll_due(); }
  // 0 or errno; they need a slot and a credit.
  int send(const void* message, std::size_t size);
  int announce(FrameKind kind, std::uint32_t consumer, const Delivery& delivery);
  // Whether messages are in flight and no completion was requested for any of them.
  bool all_unsignaled() const { return sent_.all_unsignaled(); }
  // Requests a completion for all messages in flight.
  void flush();

  // Checks and decodes a received frame. The peer wrote all of it, so none of it is trusted.
  Received read(const ibv_wc& completion, std::uint32_t slot, Message* message) const;
  // The disconnect message behind the last one is in that slot.
  void read_disconnect(std::uint32_t slot) { confirm(consumer_of(*pairs_.receive_slot(slot)), 0xffffff); }
  // Returns the slot to the peer, at the latest together with some others: 0 or errno.
  int consume(std::uint32_t slot);
  // Handles a completion of a send, or of a receive on the control queue pair. False if the connection is lost.
  bool complete(const ibv_wc& completion, const WorkId& id);
  bool peer_disconnected() const { return peer_disconnected_; }

  // What is due from time to time. False if the connection is lost.
  bool tend();
  // Asks the other end's NIC whether it is there. Nothing that was sent must wait for its acknowledgement, which proves
  // as much.
  void keep_alive();
  bool awaits_keep_alive() const { return !control_drained(); }
  // Tells the peer that this end leaves. `last`: also that no message is missing, behind the last one; only a peer that
  // still receives wants to know.
  void send_disconnect(bool last);
  // Whether this end may leave: everything that was sent is acknowledged, the peer leaves too, or the connection
  // failed.
  bool drained();

 private:
  Connection(doca_dev& dev, CompletionQueues& sends, CompletionQueues& receives, const Sizes& sizes,
             std::uint32_t number);
  int post_frame(FrameKind kind, const void* message, std::size_t size, bool signaled, std::uint32_t consumer = 0);
  int post_control(FrameKind kind, std::uint32_t value);
  bool poll_control();  // false if a send on the control queue pair failed
  bool control_drained() const { return control_posted_ == control_completed_; }
  // The messages that are consumed between one report to the peer and the next.
  std::uint64_t report_interval() const { return sizes_.recv_queue < 4 ? 1 : sizes_.recv_queue / 4; }
  void report_consumed();
  int return_held();
  void discard_sent();
  // The peer leaves, and says how many messages it has consumed: the lower bits of the count.
  void confirm(std::uint32_t count, std::uint32_t mask);
  static std::uint32_t consumer_of(const Frame& frame);
  bool receive_control(const ibv_wc& completion, std::uint32_t slot);

  const Sizes sizes_;
  InFlight sent_;
  QueuePairs pairs_;
  bool established_ = false;
  std::size_t max_message_ = 0;
  bool fast_path_ = false;
  bool flushing_ = false;
  std::uint64_t peer_queue_ = 0;  // receives of the peer
  std::uint64_t consumed_by_peer_ = 0;
  std::uint64_t confirmed_ = 0;  // as consumed by the peer, when it left
  // Of a long queue, consumed slots are held until there are some in a row, whose memory is given back first: else the
  // connection would come to occupy the whole queue's memory, even with one message in it at a time.
  const bool long_queues_;
  std::uint32_t first_held_ = 0;
  std::uint32_t held_ = 0;
  std::uint64_t discarded_ = 0;  // of the sent messages
  std::uint64_t consumed_ = 0;
  std::uint64_t reported_ = 0;  // of the consumed, to the peer
  std::uint32_t control_posted_ = 0;
  std::uint32_t control_completed_ = 0;
  bool peer_disconnected_ = false;
  bool disconnected_ = false;
  bool control_failed_ = false;
};

}  // namespace verbs::doca_comm::model
