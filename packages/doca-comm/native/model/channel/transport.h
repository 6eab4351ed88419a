// The peers of an endpoint and the messages between them: the part that a service and a client have in common.
//
// Two threads call it, the user's and the handshake channel's. The caller holds mutex(), except for leave(), which
// locks it.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "model/base/clock.h"
#include "model/channel/completion_queues.h"
#include "model/channel/event_channel.h"
#include "model/channel/peer_table.h"
#include "model/setup/liveness.h"

namespace verbs::doca_comm::model {

class Transport {
 public:
  // A lost peer is reported once. A service removes a lost peer itself if the user never had its address.
  Transport(doca_dev& dev, const Sizes& sizes, bool service) : dev_(dev), sizes_(sizes), service_(service) {}
  ~Transport() { close(); }
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  std::mutex& mutex() { return mutex_; }
  // With the epoll set of an engine, both directions have one channel, in that set, and no descriptors of their own.
  doca_error_t open(int set = -1);
  // Frees everything, with the descriptors. Sends nothing to the peers.
  void close();
  int send_fd() const { return send_events_.fd(); }
  int recv_fd() const { return recv_events_.fd(); }

  PeerTable& peers() { return peers_; }
  // A peer with a connection that is not established yet.
  doca_error_t add(Peer** peer);
  void remove(Peer& peer);

  doca_error_t send(Peer& peer, const void* message, std::size_t size);
  // That a consumer has come or gone, or what it has received.
  doca_error_t announce(Peer& peer, FrameKind kind, std::uint32_t consumer, const Delivery& delivery);
  doca_error_t receive(void* message, std::size_t* size, doca_comm_channel_addr_t** from);
  // What there is to receive: the next message, which stays until take(), or the loss of a peer.
  enum class Next : std::uint8_t { kNone, kMessage, kLoss, kFailed };
  Next next(Peer** peer, Connection::Message* found);
  void take(Peer& peer, const Connection::Message& found);
  // Handles acknowledgements, credits and failures of sends.
  void poll_sends();
  doca_error_t update(Peer& peer);
  // Asks the other end, outside the connection, whether it still has the connection. Called under mutex().
  using Ask = std::function<void(const Peer&)>;
  // Sends a disconnect message, and waits for a limited time until all messages are acknowledged or the other end has
  // left as well. The peer is named by its number: another thread may remove it meanwhile. nullopt: all peers. Needs no
  // memory.
  void leave(std::optional<std::uint32_t> number, const Ask& ask);
  // The same without waiting: drain() asks, and releases the peers that have left. Both are called under mutex().
  void detach(Peer& peer);
  // Returns the time by which it wants the next call.
  Nanos drain(Nanos time, const Ask& ask);
  // Frees the peer. UNKNOWN or NO_MEMORY if destroying a queue pair failed; it is freed all the same.
  doca_error_t release(std::uint32_t number);

  void arm_send();
  // `ready`: there is something to receive besides messages.
  void arm_recv(bool ready);
  // Both, of a transport in an engine's set.
  void arm();
  // Neither descriptor is readable for what was there up to now.
  void disarm();
  // Make the descriptors readable, if they are armed.
  void notify_recv();
  void notify_send();
  // The connection is lost, or was not established.
  void mark_lost(Peer& peer);
  // Returns the time until the next call: shorter while a peer has not acknowledged the last keep-alive, so that its
  // loss is noticed soon.
  Nanos keep_alive(Liveness& liveness, Nanos time);
  // Counts the peers that were lost or removed.
  std::uint64_t changes() const { return changes_; }

 private:
  // A lost peer that is to be reported: after its messages, and at the latest when `due` completions were handled, so
  // that other peers cannot delay it by sending more.
  struct Loss {
    std::uint32_t number;
    std::uint64_t due;
  };
  static constexpr int kBatch = 16;
  static constexpr int kMostRearmed = 8;

  // Makes batch_[batch_next_] the next completion of a receive. False if there is none.
  bool fetch();
  // fetch() takes the event of an armed handle that the user has not waited for yet. Then the next message must raise
  // another one. True if it armed something: fetch() again, since what arrived before raises no event. A program that
  // goes on without arming again has its event at last, and then messages raise none, which would cost system calls.
  bool rearm();
  void advance();
  doca_error_t deliver(Peer& peer, const Connection::Message& found, void* message, std::size_t* size);
  Peer* next_loss();
  // Whether the peer can be sent something now.
  doca_error_t sendable(Peer& peer);
  bool has_room(const Peer& peer) const { return peer.connection->has_slot() && peer.connection->has_credit(); }
  // Whether no completion of this end can make room for a message that was refused, but a report of its peer.
  bool awaits_report();
  void send_disconnect(Peer& peer);
  // Calls `call` with the peer of that number, or with all of them.
  template <typename Call>
  void each(std::optional<std::uint32_t> number, Call&& call) {
    if (!number) return peers_.each(call);
    if (Peer* peer = peers_.find(*number)) call(*peer);
  }

  doca_dev& dev_;
  const Sizes sizes_;
  const bool service_;
  std::mutex mutex_;
  EventChannel send_events_;
  EventChannel recv_events_;
  CompletionQueues sends_;
  CompletionQueues receives_;
  PeerTable peers_;
  std::vector<Loss> losses_;   // has room for every peer: a loss is noted without memory
  std::uint64_t handled_ = 0;  // completions of receives
  ibv_wc batch_[kBatch];
  int batch_size_ = 0;
  int batch_next_ = 0;
  bool poll_failed_ = false;
  bool shared_ = false;  // one channel for both directions: that of receives
  bool send_armed_ = false;
  bool recv_armed_ = false;
  int rearmed_ = 0;  // since the user armed it
  std::uint64_t changes_ = 0;
};

}  // namespace verbs::doca_comm::model
