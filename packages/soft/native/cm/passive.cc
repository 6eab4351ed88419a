// The side that is asked for a connection or a lookup: REQ, REP, RTU; SIDR_REQ, SIDR_REP.
#include <algorithm>
#include <cerrno>

#include "cm/manager.h"
#include "cm/message.h"
#include "cm/timing.h"

namespace verbs::soft::cm {
namespace {

constexpr int kInvalidTransport = 9;

}  // namespace

template <typename Message>
void Manager::respond(std::uint8_t port_num, const wire::Path& path, std::uint64_t transaction, Attribute attribute,
                      const Message& message) {
  outlet_.send_mad(port_num, path, make_mad(transaction, attribute, message));
}
// For the files that respond to messages without a connection.
template void Manager::respond(std::uint8_t, const wire::Path&, std::uint64_t, Attribute, const Rej&);
template void Manager::respond(std::uint8_t, const wire::Path&, std::uint64_t, Attribute, const Notice&);
template void Manager::respond(std::uint8_t, const wire::Path&, std::uint64_t, Attribute, const SidrRep&);

// Whether the request is known: then its response was lost, or the program has not decided yet.
bool Manager::receive_repeated_req(const wire::Gid& from, const Req& req) {
  const auto known = requests_.find({from, req.guid, req.local_id});
  if (known == requests_.end()) return false;
  const Connection& connection = *find(known->second);
  if (connection.state == State::kReqReceived) send_mra(connection, About::kReq);
  if (connection.state == State::kRepSent) send(connection, connection.sent);
  return true;
}

void Manager::receive_req(const Arrival& arrival) {
  const Req req = Req::parse(arrival.mad);
  if (req.local_id == 0 || receive_repeated_req(arrival.path.dgid, req)) return;
  const auto reject = [&](int reason) {
    respond(arrival.port_num, arrival.path, arrival.transaction, Attribute::kRej,
            Rej{.remote_id = req.local_id, .about = About::kReq, .reason = static_cast<std::uint16_t>(reason)});
  };
  if (req.transport == Req::kReserved) return reject(kInvalidTransport);
  verbs_soft_cm_ip ip{};
  if (!parse_ip_header(req.data, &ip)) return reject(VERBS_SOFT_CM_INVALID_SERVICE_ID);
  const Owner* listener = listeners_.find(req.service_id, false, wire::Gid::from_bytes(ip.destination));
  if (!listener && (pass_on(arrival.path, arrival.passed, arrival.mad) || hold(arrival))) return;
  if (!listener) return reject(VERBS_SOFT_CM_INVALID_SERVICE_ID);
  if (const auto stale = peers_.find({arrival.path.dgid, req.guid, req.qpn}); stale != peers_.end()) {
    Connection& old = *find(stale->second);
    if (old.state != State::kTimewait && old.state != State::kDreqSent && old.state != State::kDreqReceived) {
      // The peer has forgotten the connection that it had with this queue pair.
      reject(VERBS_SOFT_CM_STALE_CONNECTION);
      if (old.state == State::kEstablished) send_dreq(old, {}, arrival.now);
      return;
    }
    peers_.erase(stale);  // it ends already, and the peer uses the queue pair's number again
  }
  if (const std::uint8_t most = outlet_.path_mtu(arrival.port_num, arrival.path); req.path_mtu > most) {
    const std::uint8_t acceptable = Rej::mtu_info(most);
    return respond(arrival.port_num, arrival.path, arrival.transaction, Attribute::kRej,
                   Rej{.remote_id = req.local_id,
                       .about = About::kReq,
                       .reason = VERBS_SOFT_CM_INVALID_MTU,
                       .info = Data(&acceptable, 1)});
  }
  Connection* connection = create(State::kReqReceived, {listener->callback, nullptr});
  if (!connection) return reject(VERBS_SOFT_CM_NO_RESOURCES);
  connection->remote_id = req.local_id;
  connection->remote_guid = req.guid;
  connection->remote_qpn = req.qpn;
  connection->transaction = arrival.transaction;
  connection->service_id = req.service_id;
  connection->port_num = arrival.port_num;
  connection->ack_timeout = req.ack_timeout;
  connection->path_mtu = req.path_mtu;
  connection->transport = req.transport;
  connection->path = arrival.path;
  connection->path.traffic_class = req.traffic_class;
  connection->path.flow_label = req.flow_label;
  if (req.hop_limit != 0) connection->path.hop_limit = req.hop_limit;
  requests_.emplace(Peer{arrival.path.dgid, req.guid, req.local_id}, connection->id);
  peers_.emplace(Peer{arrival.path.dgid, req.guid, req.qpn}, connection->id);

  verbs_soft_cm_event event = event_of(*connection, VERBS_SOFT_CM_REQUEST, req.data.subspan(VERBS_SOFT_CM_IP_HEADER));
  event.ip = ip;
  event.end = {.qp_num = req.qpn,
               .psn = req.psn,
               .responder_resources = req.responder_resources,
               .initiator_depth = req.initiator_depth,
               .flow_control = req.flow_control,
               .rnr_retry_count = req.rnr_retry_count,
               .srq = req.srq,
               .ece_vendor_id = req.ece.vendor_id,
               .ece_options = req.ece.options};
  event.retry_count = req.retry_count;
  event.transport = req.transport;
  connection->owner.data = listener->callback(listener->data, &event);
  if (connection->owner.data) return;
  send_reject(*connection, About::kReq, VERBS_SOFT_CM_CONSUMER, {});
  close(*connection);
}

int Manager::accept(std::uint32_t id, const verbs_soft_cm_end& end, Data data, Nanos now) {
  if (data.size() > Rep::kData) return EINVAL;
  Connection* connection = find(id, State::kReqReceived);
  if (!connection) return EINVAL;
  const bool xrc = connection->transport == VERBS_SOFT_CM_XRC;
  const Rep rep{.local_id = id,
                .remote_id = connection->remote_id,
                .qpn = xrc ? 0 : end.qp_num,
                .eecn = xrc ? end.qp_num : 0,
                .psn = end.psn,
                .responder_resources = end.responder_resources,
                .initiator_depth = xrc ? std::uint8_t{0} : end.initiator_depth,
                .ack_delay = kAckDelay,
                .flow_control = end.flow_control != 0,
                .rnr_retry_count = end.rnr_retry_count,
                .srq = xrc || end.srq != 0,
                .guid = config_.guid,
                .ece = {end.ece_vendor_id, end.ece_options},
                .data = data};
  send_until_response(*connection, make_mad(connection->transaction, Attribute::kRep, rep), kSends, now);
  connection->state = State::kRepSent;
  return 0;
}

void Manager::receive_rtu(const Arrival& arrival) {
  const Notice rtu = Notice::parse(arrival.mad);
  Connection* connection = find_for(rtu.remote_id, rtu.local_id, arrival.path);
  if (!connection || connection->state != State::kRepSent) return;
  arm(*connection, kNever);
  enter_established(*connection, arrival.now);
  report(*connection, event_of(*connection, VERBS_SOFT_CM_READY, rtu.data));
}

int Manager::establish(std::uint32_t id, Nanos now) {
  Connection* connection = find(id, State::kRepSent);
  if (!connection) return find(id, State::kEstablished) ? EISCONN : EINVAL;
  arm(*connection, kNever);
  enter_established(*connection, now);
  report(*connection, event_of(*connection, VERBS_SOFT_CM_READY));
  return 0;
}

void Manager::receive_sidr_req(const Arrival& arrival) {
  const SidrReq req = SidrReq::parse(arrival.mad);
  const std::pair key{arrival.path.dgid, req.request_id};
  if (const auto known = lookups_.find(key); known != lookups_.end()) {
    const Connection& connection = *find(known->second);
    if (connection.state == State::kLookupAnswered) send(connection, connection.sent);
    return;
  }
  const auto reject = [&](std::uint8_t status) {
    respond(arrival.port_num, arrival.path, arrival.transaction, Attribute::kSidrRep,
            SidrRep{.request_id = req.request_id, .status = status, .service_id = req.service_id});
  };
  verbs_soft_cm_ip ip{};
  if (!parse_ip_header(req.data, &ip)) return reject(SidrRep::kUnsupported);
  const Owner* listener = listeners_.find(req.service_id, true, wire::Gid::from_bytes(ip.destination));
  if (!listener && (pass_on(arrival.path, arrival.passed, arrival.mad) || hold(arrival))) return;
  if (!listener) return reject(SidrRep::kUnsupported);
  Connection* connection = create(State::kLookupReceived, {listener->callback, nullptr});
  if (!connection) return reject(SidrRep::kRejected);
  connection->remote_id = req.request_id;
  connection->transaction = arrival.transaction;
  connection->service_id = req.service_id;
  connection->port_num = arrival.port_num;
  connection->path = arrival.path;
  lookups_.emplace(key, connection->id);
  verbs_soft_cm_event event = event_of(*connection, VERBS_SOFT_CM_LOOKUP, req.data.subspan(VERBS_SOFT_CM_IP_HEADER));
  event.ip = ip;
  connection->owner.data = listener->callback(listener->data, &event);
  if (connection->owner.data) return;
  reject(SidrRep::kRejected);
  close(*connection);
}

int Manager::answer(std::uint32_t id, int status, std::uint32_t qpn, std::uint32_t qkey, Data data, Nanos now) {
  if (data.size() > SidrRep::kData) return EINVAL;
  Connection* connection = find(id, State::kLookupReceived);
  if (!connection) return EINVAL;
  const SidrRep rep{.request_id = connection->remote_id,
                    .status = static_cast<std::uint8_t>(status),
                    .qpn = qpn,
                    .service_id = connection->service_id,
                    .qkey = qkey,
                    .data = data};
  connection->keep(make_mad(connection->transaction, Attribute::kSidrRep, rep));
  send_and_arm(*connection, connection->sent, now + kLookupMemory);
  connection->state = State::kLookupAnswered;
  return 0;
}

}  // namespace verbs::soft::cm
