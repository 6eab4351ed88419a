// How connections end: REJ, DREQ, DREP, and the release by their owners.
#include <algorithm>
#include <cerrno>
#include <new>
#include <vector>

#include "cm/manager.h"
#include "cm/message.h"
#include "cm/timing.h"
#include "wire/gid.h"

namespace verbs::soft::cm {

void Manager::send_reject(const Connection& connection, About about, int reason, Data data) {
  // The receiver of a timeout may not have this side's number yet, and finds the connection by the GUID.
  Withdrawal withdrawal{.guid = config_.guid};
  if (connection.state == State::kReqSent) {
    const Req req = Req::parse(connection.sent);
    verbs_soft_cm_ip ip{};
    withdrawal.service_id = req.service_id;
    if (parse_ip_header(req.data, &ip)) withdrawal.address = wire::Gid::from_bytes(ip.destination);
  }
  const auto bytes = withdrawal.bytes();
  const std::size_t size = withdrawal.service_id == 0 ? Withdrawal::kGuid : Withdrawal::kSize;
  const Data info = reason == VERBS_SOFT_CM_TIMEOUT ? Data(bytes).first(size) : Data();
  send(connection, make_mad(connection.transaction, Attribute::kRej,
                            Rej{.local_id = connection.id,
                                .remote_id = connection.remote_id,
                                .about = about,
                                .reason = static_cast<std::uint16_t>(reason),
                                .info = info,
                                .data = data}));
}

int Manager::reject(std::uint32_t id, int reason, Data data, Nanos now) {
  if (data.size() > Rej::kData) return EINVAL;
  if (find(id, State::kLookupReceived)) return answer(id, SidrRep::kRejected, 0, 0, data, now);
  if (Connection* own = find(id, State::kReqSent)) {
    // The peer's number is not known: it hears of this when it replies.
    close(*own);
    return 0;
  }
  Connection* connection = find(id, State::kReqReceived);
  const About about = connection ? About::kReq : About::kRep;
  if (!connection) connection = find(id, State::kRepReceived);
  if (!connection) return EINVAL;
  send_reject(*connection, about, reason, data);
  if (about == About::kRep) {
    wait_out(*connection, now);
  } else {
    close(*connection);
  }
  return 0;
}

// The way of the peer carries shorter packets than this side's. False if that is not what the peer says.
bool Manager::request_smaller_mtu(Connection& connection, const Rej& rej, Nanos now) {
  if (rej.reason != VERBS_SOFT_CM_INVALID_MTU || rej.mtu() < IBV_MTU_256 || rej.mtu() > connection.path_mtu)
    return false;
  // Again the same: an answer to a request that was sent twice.
  if (rej.mtu() == connection.path_mtu) return true;
  connection.path_mtu = rej.mtu();
  Mad req = connection.sent;
  Req::set_path_mtu(&req, rej.mtu());
  send_until_response(connection, req, kSends, now);
  return true;
}

void Manager::receive_rej(const Arrival& arrival) {
  const Rej rej = Rej::parse(arrival.mad);
  Connection* connection = nullptr;
  if (rej.reason == VERBS_SOFT_CM_TIMEOUT && rej.remote_id == 0) {
    // The peer has withdrawn a request before it knew this side's number.
    Withdrawal withdrawal;
    if (!Withdrawal::parse(rej.info, &withdrawal)) return;
    const auto known = requests_.find({arrival.path.dgid, withdrawal.guid, rej.local_id});
    if (known != requests_.end()) {
      connection = find(known->second);
    } else if (!arrival.passed && withdrawal.service_id != 0) {
      // Nothing in it names this process: the one that listens may be another.
      outlet_.hand_over(arrival.path, withdrawal.service_id, false, withdrawal.address, arrival.mad);
    }
  } else {
    connection = find(rej.remote_id);
    if (!connection || connection->is_lookup() || connection->path.dgid != arrival.path.dgid) return;
    // Without a connection the peer has no number of its own.
    if (connection->remote_id != 0 && rej.local_id != 0 && rej.local_id != connection->remote_id) return;
  }
  if (!connection) return;
  if (connection->state == State::kReqSent && request_smaller_mtu(*connection, rej, arrival.now)) return;
  verbs_soft_cm_event event = event_of(*connection, VERBS_SOFT_CM_REJECTED, rej.data);
  event.status = rej.reason;
  switch (connection->state) {
    case State::kReqSent:
    case State::kReqReceived:
      report(*connection, event);
      return close(*connection);
    case State::kRepSent:
    case State::kRepReceived:
      report(*connection, event);
      return wait_out(*connection, arrival.now);
    case State::kEstablished:
      if (const auto watch = watches_.find(watched(*connection)); watch != watches_.end()) {
        // The others of that peer may be gone too: they are asked about at once.
        watch->second.silent = 0;
        watch->second.due = next_watch_ = arrival.now;
      }
      [[fallthrough]];
    case State::kDreqSent:
      event.type = VERBS_SOFT_CM_DISCONNECTED;
      event.status = 0;
      event.data = {};
      report(*connection, event);
      return wait_out(*connection, arrival.now);
    default:
      return;
  }
}

// -- disconnecting

void Manager::send_dreq(Connection& connection, Data data, Nanos now) {
  connection.transaction = new_transaction(connection.id);
  const Dreq dreq{connection.id, connection.remote_id, connection.remote_qpn, data};
  send_until_response(connection, make_mad(connection.transaction, Attribute::kDreq, dreq), kDreqSends, now);
  leave_established(connection);
  connection.state = State::kDreqSent;
}

void Manager::send_drep(Connection& connection, Data data) {
  connection.keep(
      make_mad(connection.transaction, Attribute::kDrep, Notice{connection.id, connection.remote_id, data}));
  send(connection, connection.sent);
}

int Manager::disconnect(std::uint32_t id, Data data, Nanos now) {
  if (data.size() > Dreq::kData) return EINVAL;
  if (Connection* connection = find(id, State::kEstablished)) {
    send_dreq(*connection, data, now);
    return 0;
  }
  Connection* connection = find(id, State::kDreqReceived);
  if (!connection) return EINVAL;
  send_drep(*connection, data);
  wait_out(*connection, now);
  return 0;
}

void Manager::receive_dreq(const Arrival& arrival) {
  const Dreq dreq = Dreq::parse(arrival.mad);
  Connection* connection = find_for(dreq.remote_id, dreq.local_id, arrival.path);
  if (!connection || connection->state == State::kClosed) {
    // It has ended here. Without a response the peer would repeat itself.
    return respond(arrival.port_num, arrival.path, arrival.transaction, Attribute::kDrep,
                   Notice{dreq.remote_id, dreq.local_id, {}});
  }
  connection->transaction = arrival.transaction;
  switch (connection->state) {
    case State::kRepSent:
      // The RTU was lost, or is on its way still. Who ends a connection had one: the owner learns of both.
      report(*connection, event_of(*connection, VERBS_SOFT_CM_READY));
      [[fallthrough]];
    case State::kEstablished:
      arm(*connection, kNever);
      leave_established(*connection);
      connection->state = State::kDreqReceived;
      if (!connection->owner.data) {
        send_drep(*connection, {});
        return wait_out(*connection, arrival.now);
      }
      return report(*connection, event_of(*connection, VERBS_SOFT_CM_DISCONNECTED, dreq.data));
    case State::kDreqSent:  // both sides at once
      send_drep(*connection, {});
      report(*connection, event_of(*connection, VERBS_SOFT_CM_DISCONNECTED, dreq.data));
      return wait_out(*connection, arrival.now);
    case State::kTimewait:
      return send_drep(*connection, {});
    default:
      return;
  }
}

void Manager::receive_drep(const Arrival& arrival) {
  const Notice drep = Notice::parse(arrival.mad);
  Connection* connection = find_for(drep.remote_id, drep.local_id, arrival.path);
  if (!connection || connection->state != State::kDreqSent) return;
  report(*connection, event_of(*connection, VERBS_SOFT_CM_DISCONNECTED, drep.data));
  wait_out(*connection, arrival.now);
}

// -- the owner leaves

void Manager::release(std::uint32_t id, Nanos now) {
  Connection* connection = find(id);
  if (!connection || !connection->owner.data) return;
  connection->owner.data = nullptr;
  try {
    part(*connection, now);
  } catch (const std::bad_alloc&) {  // without memory the peer hears nothing
    if (Connection* left = find(id)) close(*left);
  }
}

// Tells the peer.
void Manager::part(Connection& connection, Nanos now) {
  switch (connection.state) {
    case State::kReqSent:
      send_reject(connection, About::kReq, VERBS_SOFT_CM_TIMEOUT, {});
      return close(connection);
    case State::kReqReceived:
      send_reject(connection, About::kReq, VERBS_SOFT_CM_CONSUMER, {});
      return close(connection);
    case State::kRepSent:
    case State::kRepReceived:
      send_reject(connection, connection.active ? About::kRep : About::kReq, VERBS_SOFT_CM_CONSUMER, {});
      return wait_out(connection, now);
    case State::kEstablished:
      return send_dreq(connection, {}, now);
    case State::kDreqReceived:
      send_drep(connection, {});
      return wait_out(connection, now);
    case State::kLookupReceived: {
      const SidrRep rep{
          .request_id = connection.remote_id, .status = SidrRep::kRejected, .service_id = connection.service_id};
      connection.keep(make_mad(connection.transaction, Attribute::kSidrRep, rep));
      connection.state = State::kLookupAnswered;
      send(connection, connection.sent);
      return arm(connection, now + kLookupMemory);
    }
    case State::kLookupSent:
    case State::kClosed:
      return close(connection);
    case State::kDreqSent:
    case State::kTimewait:
    case State::kLookupAnswered:
      return;  // until the timer
  }
}

void Manager::shut_down() {
  for (const auto& [id, connection] : connections_) {
    switch (connection->state) {
      case State::kReqSent:
        send_reject(*connection, About::kReq, VERBS_SOFT_CM_TIMEOUT, {});
        break;
      case State::kReqReceived:
      case State::kRepSent:
      case State::kRepReceived:
        send_reject(*connection, connection->active ? About::kRep : About::kReq, VERBS_SOFT_CM_CONSUMER, {});
        break;
      case State::kEstablished:
      case State::kDreqSent:
        send(*connection, make_mad(new_transaction(id), Attribute::kDreq,
                                   Dreq{id, connection->remote_id, connection->remote_qpn, {}}));
        break;
      case State::kDreqReceived:
        send_drep(*connection, {});
        break;
      default:
        break;
    }
  }
}

// Whether the peers of connections that stand still exist: LAP and APR.

void Manager::enter_established(Connection& connection, Nanos now) {
  const Watched peer = watched(connection);
  established_.emplace(peer, connection.id);
  const Watch first{.due = now + kFirstWatch, .answers = wire::is_soft_guid(peer.guid)};
  if (watches_.try_emplace(peer, first).second) next_watch_ = std::min(next_watch_, first.due);
  connection.state = State::kEstablished;
}

void Manager::leave_established(const Connection& connection) {
  established_.erase({watched(connection), connection.id});
}

void Manager::watch_peers(Nanos now) {
  std::vector<Watched> lost;
  Nanos next = kNever;
  next_watch_ = now + kSilentInterval;  // if there is no memory for a question
  for (auto at = watches_.begin(); at != watches_.end();) {
    auto& [peer, watch] = *at;
    if (watch.due <= now) {
      if (watch.answers && watch.silent >= kSilentLimit) lost.push_back(peer);
      if (!ask(peer, watch, now)) {
        at = watches_.erase(at);
        continue;
      }
    }
    next = std::min(next, watch.due);
    ++at;
  }
  next_watch_ = next;
  for (const Watched& peer : lost) lose_peer(peer, now);
}

// About each connection in turn.
bool Manager::ask(const Watched& peer, Watch& watch, Nanos now) {
  auto next = established_.upper_bound({peer, watch.last});
  if (next == established_.end() || next->first != peer) next = established_.lower_bound({peer, 0});
  if (next == established_.end() || next->first != peer) return false;
  const Connection& connection = *find(next->second);
  send(connection,
       make_mad(new_transaction(connection.id), Attribute::kLap, Notice{connection.id, connection.remote_id, {}}));
  watch.last = connection.id;
  watch.due = now + (watch.silent > 0 ? kSilentInterval : kWatchInterval);
  ++watch.silent;
  return true;
}

void Manager::lose_peer(const Watched& peer, Nanos now) {
  // Without memory the rest is watched on, and lost the next time.
  for (;;) {
    const auto next = established_.lower_bound({peer, 0});
    if (next == established_.end() || next->first != peer) break;
    Connection& connection = *find(next->second);
    verbs_soft_cm_event event = event_of(connection, VERBS_SOFT_CM_DISCONNECTED);
    event.status = ETIMEDOUT;
    wait_out(connection, now);
    report(connection, event);
  }
  watches_.erase(peer);
}

// Alternate paths are refused: the specification has them for InfiniBand's subnets only. The peer of a connection that
// is gone learns it.
void Manager::receive_lap(const Arrival& arrival) {
  const Notice lap = Notice::parse(arrival.mad);
  const Connection* connection = find_for(lap.remote_id, lap.local_id, arrival.path);
  // In kRepSent the RTU was lost.
  if (connection && (connection->state == State::kEstablished || connection->state == State::kRepSent)) {
    send(*connection,
         make_mad(arrival.transaction, Attribute::kApr, Apr{connection->id, connection->remote_id, Apr::kUnsupported}));
  } else if (!connection) {
    respond(arrival.port_num, arrival.path, arrival.transaction, Attribute::kRej,
            Rej{.local_id = lap.remote_id,
                .remote_id = lap.local_id,
                .about = About::kOther,
                .reason = VERBS_SOFT_CM_INVALID_COMM_ID});
  }
}

void Manager::receive_apr(const Arrival& arrival) {
  const Apr apr = Apr::parse(arrival.mad);
  const Connection* connection = find_for(apr.remote_id, apr.local_id, arrival.path);
  if (!connection || connection->state != State::kEstablished) return;
  const auto watch = watches_.find(watched(*connection));
  if (watch == watches_.end()) return;
  watch->second.answers = true;
  watch->second.silent = 0;
}

}  // namespace verbs::soft::cm
