#include "cm/manager.h"

#include <algorithm>
#include <cerrno>

#include "cm/make_mad.h"
#include "cm/timing.h"

namespace verbs::soft::cm {

Manager::Manager(const Config& config, Outlet& outlet)
    : config_(config), outlet_(outlet), next_id_(static_cast<std::uint32_t>(config.seed)) {}

int Manager::listen(const verbs_soft_cm_listen_attr& attr, const Owner& owner, std::uint32_t* listener) {
  return listeners_.add(attr, owner, listener);
}

// -- the table

Connection* Manager::create(State state, const Owner& owner) {
  if (connections_.size() >= config_.max_connections) return nullptr;
  do ++next_id_;
  while (next_id_ == 0 || connections_.contains(next_id_));
  auto created = std::make_unique<Connection>();
  created->id = next_id_;
  created->state = state;
  created->owner = owner;
  return connections_.emplace(next_id_, std::move(created)).first->second.get();
}

Connection* Manager::find(std::uint32_t id) const {
  const auto found = connections_.find(id);
  return found != connections_.end() ? found->second.get() : nullptr;
}

// A released connection is nobody's.
Connection* Manager::find(std::uint32_t id, State state) const {
  Connection* connection = find(id);
  return connection && connection->state == state && connection->owner.data ? connection : nullptr;
}

Connection* Manager::find_for(std::uint32_t id, std::uint32_t remote_id, const wire::Path& path) const {
  Connection* connection = find(id);
  if (!connection || connection->is_lookup() || connection->path.dgid != path.dgid) return nullptr;
  return connection->remote_id == 0 || connection->remote_id == remote_id ? connection : nullptr;
}

void Manager::forget_peer(Connection& connection) {
  const auto erase = [&](auto& table, const auto& key) {
    const auto found = table.find(key);
    if (found != table.end() && found->second == connection.id) table.erase(found);
  };
  if (connection.remote_guid != 0) {
    erase(requests_, Peer{connection.path.dgid, connection.remote_guid, connection.remote_id});
    erase(peers_, Peer{connection.path.dgid, connection.remote_guid, connection.remote_qpn});
  }
  erase(lookups_, std::pair{connection.path.dgid, connection.remote_id});
}

void Manager::close(Connection& connection) {
  arm(connection, kNever);
  forget_peer(connection);
  connection.state = State::kClosed;
  if (!connection.owner.data) connections_.erase(connection.id);
}

void Manager::wait_out(Connection& connection, Nanos now) {
  connection.state = State::kTimewait;
  arm(connection, now + timewait(connection.ack_timeout));
}

void Manager::arm(Connection& connection, Nanos deadline) {
  if (connection.deadline != kNever) timers_.erase({connection.deadline, connection.id});
  connection.deadline = deadline;
  if (deadline != kNever) timers_.emplace(deadline, connection.id);
}

// -- messages

void Manager::send_until_response(Connection& connection, const Mad& mad, int sends, Nanos now) {
  connection.keep(mad);
  connection.sends_left = sends - 1;
  connection.interval = kFirstInterval;
  send(connection, mad);
  arm(connection, now + connection.interval);
}

// The kernel puts the number of the connection into it as well, so that a trace shows what belongs together.
std::uint64_t Manager::new_transaction(std::uint32_t id) {
  return static_cast<std::uint64_t>(id) << 32 | (config_.seed >> 32 & 0xffff0000) |
         static_cast<std::uint16_t>(++next_transaction_);
}

void Manager::send_mra(const Connection& connection, About about) {
  send(connection, make_mad(connection.transaction, Attribute::kMra,
                            Mra{connection.id, connection.remote_id, about, kServiceTimeout}));
}

void Manager::deliver(std::uint8_t port_num, const wire::Path& path, std::span<const std::uint8_t> bytes, Nanos now) {
  if (bytes.size() != kMadSize || path.sgid.is_zero() || path.sgid.is_multicast()) return;
  const MadView mad = bytes.first<kMadSize>();
  MadHeader header;
  if (!MadHeader::parse(mad, &header)) return;
  wire::Path back = path;
  std::swap(back.sgid, back.dgid);
  back.hop_limit = 64;
  const Arrival arrival{port_num, back, header.transaction, mad, now};
  switch (header.attribute) {
    case Attribute::kReq:
      return receive_req(arrival);
    case Attribute::kRep:
      return receive_rep(arrival);
    case Attribute::kRtu:
      return receive_rtu(arrival);
    case Attribute::kRej:
      return receive_rej(arrival);
    case Attribute::kMra:
      return receive_mra(arrival);
    case Attribute::kDreq:
      return receive_dreq(arrival);
    case Attribute::kDrep:
      return receive_drep(arrival);
    case Attribute::kLap:
      return receive_lap(arrival);
    case Attribute::kSidrReq:
      return receive_sidr_req(arrival);
    case Attribute::kSidrRep:
      return receive_sidr_rep(arrival);
    case Attribute::kApr:  // no LAP was sent
      return;
  }
}

// -- time

void Manager::advance(Nanos now) {
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Connection* connection = find(timers_.begin()->second);
    arm(*connection, kNever);
    expire(*connection, now);
  }
}

void Manager::expire(Connection& connection, Nanos now) {
  switch (connection.state) {
    case State::kTimewait:
      forget_peer(connection);
      report(connection, event_of(connection, VERBS_SOFT_CM_TIMEWAIT_EXIT));
      return close(connection);
    case State::kLookupAnswered:
      return close(connection);
    default:
      break;
  }
  if (connection.sends_left <= 0) return give_up(connection, now);
  --connection.sends_left;
  connection.interval = std::min(2 * connection.interval, std::max(connection.interval, kLongestInterval));
  send(connection, connection.sent);
  arm(connection, now + connection.interval);
}

void Manager::give_up(Connection& connection, Nanos now) {
  const bool ending = connection.state == State::kDreqSent;
  verbs_soft_cm_event event = event_of(connection, ending ? VERBS_SOFT_CM_DISCONNECTED : VERBS_SOFT_CM_UNREACHABLE);
  event.status = ETIMEDOUT;
  if (connection.state == State::kReqSent || connection.state == State::kRepSent) {
    send_reject(connection, connection.active ? About::kReq : About::kRep, VERBS_SOFT_CM_TIMEOUT, {});
  }
  const bool remembered = connection.state == State::kRepSent || ending;
  report(connection, event);
  if (remembered) return wait_out(connection, now);
  close(connection);
}

// -- events

verbs_soft_cm_event Manager::event_of(const Connection& connection, verbs_soft_cm_event_type type, Data data) {
  verbs_soft_cm_event event{};
  event.type = type;
  event.connection = connection.id;
  event.service_id = connection.service_id;
  event.ack_timeout = connection.ack_timeout;
  event.path.port_num = connection.port_num;
  event.path.traffic_class = connection.path.traffic_class;
  event.path.hop_limit = connection.path.hop_limit;
  event.path.flow_label = connection.path.flow_label;
  std::ranges::copy(connection.path.sgid.bytes, event.path.sgid);
  std::ranges::copy(connection.path.dgid.bytes, event.path.dgid);
  event.data = {data.data(), static_cast<std::uint32_t>(data.size())};
  return event;
}

void Manager::report(const Connection& connection, const verbs_soft_cm_event& event) {
  if (connection.owner.data) connection.owner.callback(connection.owner.data, &event);
}

}  // namespace verbs::soft::cm
