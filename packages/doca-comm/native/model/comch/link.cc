#include "model/comch/link.h"

#include <algorithm>
#include <utility>

#include "model/base/boundary.h"
#include "model/comch/consumer.h"
#include "model/comch/control.h"
#include "model/comch/producer.h"
#include "model/setup/handshake_channel.h"

namespace verbs::doca_comm::model::comch {

namespace {

using LinkPool = HandlePool<doca_comch_connection, Link>;

template <typename Member>
Member* member_of(const std::vector<Member*>& members, std::uint32_t id) {
  const auto found =
      std::find_if(members.begin(), members.end(), [id](const Member* each) { return each->id() == id; });
  return found == members.end() ? nullptr : *found;
}

}  // namespace

doca_comch_connection* publish(const std::shared_ptr<Link>& link) {
  link->handle = LinkPool::get().add(link);
  return link->handle;
}

Link* find_link(const doca_comch_connection* handle) { return LinkPool::get().find(handle); }

void retire(Link& link) {
  if (link.handle) LinkPool::get().remove(std::exchange(link.handle, nullptr));
}

// A consumer has at most three announcements in the queue: that it has gone, come, and gone. Beside those there is room
// for as many of what consumers have received.
constexpr std::size_t kMostAnnouncements = 3 * kMaxConsumers;

Link::Link(Transport& transport, std::shared_ptr<void> keep) : anchor(std::move(keep)), mutex(transport.mutex()) {
  consumers.reserve(kMaxConsumers);
  producers.reserve(kMaxProducers);
  remote_consumers.reserve(kMaxConsumers);
  announcements.reserve(2 * kMostAnnouncements);
}

void Link::announce(FrameKind kind, std::uint32_t consumer) {
  if (!peer) return;
  // Of a consumer whose coming was not announced yet, the other end learns nothing.
  const bool unknown =
      kind == FrameKind::kConsumerExpired && std::erase_if(announcements, [consumer](const auto& each) {
                                               return each.consumer == consumer && each.kind == FrameKind::kConsumer;
                                             }) > 0;
  if (!unknown && announcements.size() < announcements.capacity()) announcements.push_back({kind, consumer, {}});
  flush_announcements();
  if (!announcements.empty()) control->want_progress(*this);
}

void Link::announce(std::uint32_t consumer, const Delivery& delivery) {
  if (!peer || peer->connection->max_message() < sizeof delivery || announcements.size() >= kMostAnnouncements) return;
  announcements.push_back({FrameKind::kDelivered, consumer, delivery});
  flush_announcements();
}

bool Link::flush_announcements() {
  bool some = false;
  while (peer && !announcements.empty()) {
    const Announcement& next = announcements.front();
    // A lost connection has no more use for it.
    if (peer->transport->announce(*peer, next.kind, next.consumer, next.delivery) == DOCA_ERROR_AGAIN) break;
    announcements.erase(announcements.begin());
    some = true;
  }
  return some;
}

bool Link::knows(std::uint32_t consumer) const {
  return std::find(remote_consumers.begin(), remote_consumers.end(), consumer) != remote_consumers.end();
}

bool Link::on_announcement(const Connection::Message& message) {
  const std::uint32_t consumer = message.consumer;
  if (message.kind == FrameKind::kDelivered) {
    if (Producer* producer = member_of(producers, message.delivery.producer)) {
      producer->on_delivered(consumer, message.delivery);
    }
    return false;
  }
  if (message.kind == FrameKind::kConsumer) {
    if (consumer == 0 || knows(consumer) || remote_consumers.size() >= kMaxConsumers) return false;
    remote_consumers.push_back(consumer);
    return true;
  }
  if (std::erase(remote_consumers, consumer) == 0) return false;
  for (Producer* producer : producers) producer->on_expired(consumer);
  return true;
}

void Link::end() {
  for (Consumer* consumer : consumers) consumer->end();
  for (Producer* producer : producers) producer->end();
}

void Link::send(HandshakeMessage::Type type, const EndAttributes& own, const HandshakeMessage& about) {
  if (!peer) return;
  // Without memory it is lost, as on a network.
  contained([&] { return send_now(type, own, about), DOCA_SUCCESS; });
}

void Link::send_now(HandshakeMessage::Type type, const EndAttributes& own, const HandshakeMessage& about) {
  HandshakeMessage message = peer->envelope;
  message.type = type;
  message.end = own;
  if (message.end.mtu == 0) message.end.mtu = IBV_MTU_256;
  message.producer = about.producer;
  message.consumer = about.consumer;
  message.limit = about.limit;
  control->device()->handshakes->send(message, peer->remote);
}

void Link::on_pair(const HandshakeMessage& message) {
  using Type = HandshakeMessage::Type;
  if (!peer->connection->has_fast_path()) return;
  if (message.type == Type::kPair || message.type == Type::kUnpair) {
    Consumer* consumer = member_of(consumers, message.consumer);
    if (message.type == Type::kUnpair) {
      if (consumer) consumer->unpair(message);
    } else if (!consumer || !consumer->pair(message)) {
      send(Type::kUnpaired, {}, message);
    }
  } else if (Producer* producer = member_of(producers, message.producer)) {
    producer->on_answer(message);
  }
}

Nanos Link::on_timer(Nanos now) {
  Nanos next = kNever;
  for (Producer* producer : producers) next = std::min(next, producer->on_timer(now));
  return next;
}

}  // namespace verbs::doca_comm::model::comch
