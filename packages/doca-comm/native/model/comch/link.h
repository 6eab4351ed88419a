// A connection of Comch, as the program knows it: one end, behind which is a peer of the transport. Its producers and
// consumers may run on engines of other threads, so the transport's mutex guards everything here but the task lists.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "doca_comch.h"
#include "model/base/handles.h"
#include "model/channel/transport.h"
#include "model/engine/task.h"

namespace verbs::doca_comm::model::comch {

class Control;
class Consumer;
class Producer;

// Decided here, for each end of a connection.
inline constexpr std::size_t kMaxConsumers = 64;
inline constexpr std::size_t kMaxProducers = 64;

struct Link final : PeerOwner {
  Link(Transport& transport, std::shared_ptr<void> keep);

  // Queues an announcement of a consumer of this end, and sends what can be sent. Needs no memory.
  void announce(FrameKind kind, std::uint32_t consumer);
  // The same for what a consumer of this end has received, before it goes.
  void announce(std::uint32_t consumer, const Delivery& delivery);
  // True if something was sent.
  bool flush_announcements();
  // A consumer of the other end. False if there is nothing to tell the program: the announcement makes no sense, which
  // a peer may well write, or is for its producers only.
  bool on_announcement(const Connection::Message& message);
  bool knows(std::uint32_t consumer) const;
  // One of the running producers and consumers of this end.
  bool has_active() const { return !consumers.empty() || !producers.empty(); }
  // The connection has ended; they end by themselves.
  void end();
  // Sends a message of the fast path to the other end.
  void send(HandshakeMessage::Type type, const EndAttributes& own, const HandshakeMessage& about);

  void send_now(HandshakeMessage::Type type, const EndAttributes& own, const HandshakeMessage& about);

  void on_pair(const HandshakeMessage& message) override;
  Nanos on_timer(Nanos now) override;

  Control* control = nullptr;          // nullptr when it has ended
  Peer* peer = nullptr;                // likewise
  const std::shared_ptr<void> anchor;  // keeps the transport, with its mutex
  std::mutex& mutex;
  doca_comch_connection* handle = nullptr;
  doca_data user_data{};
  Statistics updated;  // as of the last update

  // Of the thread of the control path.
  TaskList waiting;   // submitted; the transport has no room yet
  TaskList sent;      // not acknowledged yet
  bool busy = false;  // among those that complete_sends() looks at

  std::vector<Consumer*> consumers;                          // running
  std::vector<Producer*> producers;                          // running
  std::size_t consumers_created = 0, producers_created = 0;  // and not destroyed
  std::uint32_t last_consumer = 0, last_producer = 0;        // their numbers
  std::vector<std::uint32_t> remote_consumers;
  struct Announcement {
    FrameKind kind;
    std::uint32_t consumer;
    Delivery delivery{};
  };
  std::vector<Announcement> announcements;  // to be sent; it never grows beyond what is reserved
};

}  // namespace verbs::doca_comm::model::comch

struct doca_comch_connection : verbs::doca_comm::model::Handle<verbs::doca_comm::model::comch::Link> {};

struct doca_comch_task_send : doca_task {
  static constexpr std::uint8_t kKind = 1;
  doca_comch_connection* connection = nullptr;
  const void* message = nullptr;  // the program's, unchanged until the completion
  std::uint32_t length = 0;
  std::uint64_t number = 0;  // of the messages of its connection
};

namespace verbs::doca_comm::model::comch {

doca_comch_connection* publish(const std::shared_ptr<Link>& link);
// nullptr if there is no such connection, or no longer.
Link* find_link(const doca_comch_connection* handle);
void retire(Link& link);

}  // namespace verbs::doca_comm::model::comch
