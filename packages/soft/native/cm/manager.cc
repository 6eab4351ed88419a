#include "cm/manager.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "cm/message.h"
#include "cm/timing.h"

namespace verbs::soft::cm {

Manager::Manager(const Config& config, Outlet& outlet)
    : config_(config), outlet_(outlet), next_id_(static_cast<std::uint32_t>(config.seed) & config.id_mask) {}

int Manager::listen(const verbs_soft_cm_listen_attr& attr, const Owner& owner, Nanos now, std::uint32_t* listener) {
  if (const int error = listeners_.add(attr, owner, listener)) return error;
  try {
    if (const int error = outlet_.announce(attr)) {
      listeners_.remove(*listener);
      return error;
    }
    for (const Held& held : std::exchange(held_, {})) {
      wire::Path there = held.path;
      std::swap(there.sgid, there.dgid);
      if (held.passed) there.hop_limit = kPassedHops;
      deliver(held.port_num, there, held.mad, now);
      if (held_.empty() || held_.back().mad != held.mad) continue;
      held_.back().deadline = held.deadline;  // it is not for this one
      held_.back().look_at = held.look_at;
    }
  } catch (...) {
    unlisten(*listener);
    throw;
  }
  return 0;
}

void Manager::unlisten(std::uint32_t listener) {
  if (const verbs_soft_cm_listen_attr* attr = listeners_.find(listener)) outlet_.withdraw(*attr);
  listeners_.remove(listener);
}

bool Manager::hold(const Arrival& arrival) {
  if (arrival.held || held_.size() >= kMaxHeld) return false;
  Held added{arrival.port_num, arrival.path, {}, arrival.now + kHoldTime, arrival.passed, arrival.now + kLookInterval};
  std::ranges::copy(arrival.mad, added.mad.begin());
  const bool known = std::ranges::any_of(held_, [&](const Held& held) { return held.mad == added.mad; });
  if (!known) held_.push_back(added);
  return true;
}

// To another process of the host. False: none listens.
bool Manager::pass_on(const wire::Path& path, bool passed, MadView mad) {
  MadHeader header;
  if (passed || !MadHeader::parse(mad, &header)) return false;
  const bool datagrams = header.attribute == Attribute::kSidrReq;
  const std::uint64_t service = datagrams ? SidrReq::parse(mad).service_id : Req::parse(mad).service_id;
  verbs_soft_cm_ip ip{};
  if (!parse_ip_header(datagrams ? SidrReq::parse(mad).data : Req::parse(mad).data, &ip)) return false;
  return outlet_.hand_over(path, service, datagrams, wire::Gid::from_bytes(ip.destination), mad);
}

// Nobody listened meanwhile in this process: another one may, else it is rejected.
void Manager::receive_held(const Held& held, Nanos now) {
  const MadView mad(held.mad);
  MadHeader header;
  if (!MadHeader::parse(mad, &header)) return;
  const Arrival arrival{held.port_num, held.path, header.transaction, mad, now, true, held.passed};
  if (header.attribute == Attribute::kReq) receive_req(arrival);
  if (header.attribute == Attribute::kSidrReq) receive_sidr_req(arrival);
}

// -- the table

Connection* Manager::create(State state, const Owner& owner) {
  if (connections_.size() >= config_.max_connections) return nullptr;
  std::uint32_t id = 0;
  do {
    next_id_ = (next_id_ + 1) & config_.id_mask;
    id = config_.id_base | next_id_;
  } while (next_id_ == 0 || connections_.contains(id));
  auto created = std::make_unique<Connection>();
  created->id = id;
  created->state = state;
  created->owner = owner;
  return connections_.emplace(id, std::move(created)).first->second.get();
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
  // Also a peer that calls itself 0: an entry that stays would lead to a connection that is gone.
  erase(requests_, Peer{connection.path.dgid, connection.remote_guid, connection.remote_id});
  erase(peers_, Peer{connection.path.dgid, connection.remote_guid, connection.remote_qpn});
  erase(lookups_, std::pair{connection.path.dgid, connection.remote_id});
}

void Manager::close(Connection& connection) {
  leave_established(connection);
  arm(connection, kNever);
  forget_peer(connection);
  connection.state = State::kClosed;
  if (!connection.owner.data) connections_.erase(connection.id);
}

void Manager::wait_out(Connection& connection, Nanos now) {
  arm(connection, now + timewait(connection.ack_timeout));
  leave_established(connection);
  connection.state = State::kTimewait;
}

void Manager::arm(Connection& connection, Nanos deadline) {
  if (deadline == connection.deadline) return;
  if (deadline != kNever) timers_.emplace(deadline, connection.id);
  if (connection.deadline != kNever) timers_.erase({connection.deadline, connection.id});
  connection.deadline = deadline;
}

// -- messages

void Manager::send_until_response(Connection& connection, const Mad& mad, int sends, Nanos now) {
  connection.keep(mad);
  connection.sends_left = sends - 1;
  connection.interval = kFirstInterval;
  send_and_arm(connection, mad, now + connection.interval);
}

void Manager::send_and_arm(Connection& connection, const Mad& mad, Nanos deadline) {
  arm(connection, deadline);
  try {
    send(connection, mad);
  } catch (...) {
    arm(connection, kNever);
    throw;
  }
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
  const bool passed = path.hop_limit == kPassedHops;
  const Arrival arrival{port_num, back, header.transaction, mad, now, false, passed};
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
    case Attribute::kApr:
      return receive_apr(arrival);
  }
}

// -- time

void Manager::advance(Nanos now) {
  while (!held_.empty() && held_.front().look_at <= now) {
    Held held = held_.front();
    held_.pop_front();
    if (held.deadline <= now) {
      receive_held(held, now);
    } else if (!pass_on(held.path, held.passed, held.mad)) {
      held.look_at = now + kLookInterval;
      held_.push_back(held);
    }
  }
  if (next_watch_ <= now) watch_peers(now);
  while (!timers_.empty() && timers_.begin()->first <= now) {
    auto timer = timers_.extract(timers_.begin());
    const std::uint32_t id = timer.value().second;
    Connection& connection = *find(id);
    connection.deadline = kNever;
    try {
      expire(connection, now);
    } catch (const std::bad_alloc&) {  // in a moment again, with the timer's own memory
      Connection* const left = find(id);
      if (!left || left->deadline != kNever || left->state == State::kClosed) continue;
      timer.value().first = left->deadline = now + kFirstInterval;
      timers_.insert(std::move(timer));
    }
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
  if (remembered) wait_out(connection, now);  // the first, because it needs memory
  report(connection, event);
  if (!remembered) close(connection);
}

// -- events

verbs_soft_cm_event Manager::event_of(const Connection& connection, verbs_soft_cm_event_type type, Data data) {
  verbs_soft_cm_event event{};
  event.type = type;
  event.connection = connection.id;
  event.service_id = connection.service_id;
  event.ack_timeout = connection.ack_timeout;
  event.path_mtu = connection.path_mtu;
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

int Listeners::add(const verbs_soft_cm_listen_attr& attr, const Owner& owner, std::uint32_t* listener) {
  const Listener added{.service_id = attr.service_id,
                       .address = wire::Gid::from_bytes(attr.address),
                       .families = attr.families,
                       .datagrams = attr.datagrams != 0,
                       .owner = owner,
                       .attr = attr};
  for (const auto& [number, known] : listeners_) {
    const bool families_meet = known.families == 0 || added.families == 0 || known.families == added.families;
    if (known.service_id == added.service_id && known.datagrams == added.datagrams && families_meet &&
        known.address == added.address) {
      return EADDRINUSE;
    }
  }
  while (next_ == 0 || listeners_.contains(next_)) ++next_;
  *listener = next_;
  listeners_.emplace(next_++, added);
  return 0;
}

const Owner* Listeners::find(std::uint64_t service_id, bool datagrams, const wire::Gid& address) const {
  const Owner* wildcard = nullptr;
  for (const auto& [number, listener] : listeners_) {
    if (!listener.takes(service_id, datagrams, address.is_ipv4())) continue;
    if (listener.address == address) return &listener.owner;
    if (listener.address.is_zero()) wildcard = &listener.owner;
  }
  return wildcard;
}

}  // namespace verbs::soft::cm
