// The side that requests a connection: REQ, REP, RTU.
#include <algorithm>
#include <cerrno>

#include "cm/manager.h"
#include "cm/message.h"
#include "cm/timing.h"

namespace verbs::soft::cm {
namespace {

wire::Path path_of(const verbs_soft_cm_path& path) {
  wire::Path to;
  to.sgid = wire::Gid::from_bytes(path.sgid);
  to.dgid = wire::Gid::from_bytes(path.dgid);
  to.traffic_class = path.traffic_class;
  if (path.hop_limit != 0) to.hop_limit = path.hop_limit;
  to.flow_label = path.flow_label & 0xfffff;
  return to;
}

Data data_of(const verbs_soft_cm_data& data) { return {static_cast<const std::uint8_t*>(data.bytes), data.size}; }

}  // namespace

void Manager::begin(Connection& connection, const Mad& mad, Nanos now, std::uint32_t* id) {
  *id = connection.id;
  try {
    send_until_response(connection, mad, kSends, now);
  } catch (...) {
    *id = 0;
    connection.owner.data = nullptr;
    close(connection);
    throw;
  }
}

int Manager::connect(const verbs_soft_cm_connect_attr& attr, const Owner& owner, Nanos now, std::uint32_t* id) {
  if (attr.data.size > VERBS_SOFT_CM_CONNECT_DATA) return EINVAL;
  if (attr.transport > VERBS_SOFT_CM_XRC || attr.transport == Req::kReserved) return EINVAL;
  Connection* connection = create(State::kReqSent, owner);
  if (!connection) return ENOMEM;
  connection->active = true;
  connection->port_num = attr.path.port_num;
  connection->path = path_of(attr.path);
  connection->service_id = attr.service_id;
  connection->ack_timeout = attr.ack_timeout & 0x1f;
  connection->path_mtu = attr.path_mtu;
  connection->transport = attr.transport;
  connection->transaction = new_transaction(connection->id);
  std::uint8_t data[Req::kData] = {};
  emit_ip_header(attr.ip, data);
  std::ranges::copy(data_of(attr.data), data + VERBS_SOFT_CM_IP_HEADER);
  // An XRC initiator takes no requests: nothing that a responder offers.
  const bool responds = attr.transport != VERBS_SOFT_CM_XRC;
  const Req req{.local_id = connection->id,
                .service_id = attr.service_id,
                .guid = config_.guid,
                .qpn = attr.end.qp_num,
                .responder_resources = responds ? attr.end.responder_resources : std::uint8_t{0},
                .initiator_depth = attr.end.initiator_depth,
                .remote_timeout = kResponseTimeout,
                .transport = attr.transport,
                .flow_control = attr.end.flow_control != 0,
                .psn = attr.end.psn,
                .local_timeout = kResponseTimeout,
                .retry_count = attr.retry_count,
                .path_mtu = attr.path_mtu,
                .rnr_retry_count = attr.end.rnr_retry_count,
                .max_cm_retries = kMaxRetries,
                .srq = responds && attr.end.srq != 0,
                .local_gid = connection->path.sgid,
                .remote_gid = connection->path.dgid,
                .flow_label = connection->path.flow_label,
                .traffic_class = connection->path.traffic_class,
                .hop_limit = connection->path.hop_limit,
                .ack_timeout = connection->ack_timeout,
                .ece = {attr.end.ece_vendor_id, attr.end.ece_options},
                .data = data};
  begin(*connection, make_mad(connection->transaction, Attribute::kReq, req), now, id);
  return 0;
}

void Manager::receive_rep(const Arrival& arrival) {
  const Rep rep = Rep::parse(arrival.mad);
  Connection* connection = find_for(rep.remote_id, rep.local_id, arrival.path);
  if (!connection || !connection->active || connection->state == State::kClosed) {
    // The request was withdrawn: the peer would repeat its reply.
    return respond(arrival.port_num, arrival.path, arrival.transaction, Attribute::kRej,
                   Rej{.local_id = rep.remote_id,
                       .remote_id = rep.local_id,
                       .about = About::kRep,
                       .reason = VERBS_SOFT_CM_INVALID_COMM_ID});
  }
  switch (connection->state) {
    case State::kReqSent:
      break;
    case State::kRepReceived:
      return send_mra(*connection, About::kRep);
    case State::kEstablished:
      return send(*connection, connection->sent);  // the RTU was lost
    default:
      return;
  }
  arm(*connection, kNever);
  connection->state = State::kRepReceived;
  connection->remote_id = rep.local_id;
  connection->remote_guid = rep.guid;
  connection->remote_qpn = connection->transport == VERBS_SOFT_CM_XRC ? rep.eecn : rep.qpn;
  peers_.emplace(Peer{connection->path.dgid, rep.guid, connection->remote_qpn}, connection->id);
  verbs_soft_cm_event event = event_of(*connection, VERBS_SOFT_CM_REPLY, rep.data);
  event.end = {.qp_num = connection->remote_qpn,
               .psn = rep.psn,
               .responder_resources = rep.responder_resources,
               .initiator_depth = rep.initiator_depth,
               .flow_control = rep.flow_control,
               .rnr_retry_count = rep.rnr_retry_count,
               .srq = rep.srq,
               .ece_vendor_id = rep.ece.vendor_id,
               .ece_options = rep.ece.options};
  report(*connection, event);
}

int Manager::ready(std::uint32_t id, Data data, Nanos now) {
  if (data.size() > Notice::kData) return EINVAL;
  Connection* connection = find(id, State::kRepReceived);
  if (!connection) return EINVAL;
  enter_established(*connection, now);
  connection->keep(make_mad(connection->transaction, Attribute::kRtu, Notice{id, connection->remote_id, data}));
  send(*connection, connection->sent);
  return 0;
}

void Manager::receive_mra(const Arrival& arrival) {
  const Mra mra = Mra::parse(arrival.mad);
  Connection* connection = find(mra.remote_id);
  if (!connection || connection->path.dgid != arrival.path.dgid) return;
  if (connection->remote_id != 0 && connection->remote_id != mra.local_id) return;
  const bool expected = (connection->state == State::kReqSent && mra.about == About::kReq) ||
                        (connection->state == State::kRepSent && mra.about == About::kRep);
  if (!expected) return;
  connection->sends_left = kMraSends;
  connection->interval = kMraInterval;
  arm(*connection, arrival.now + kMraInterval);
}

int Manager::lookup(const verbs_soft_cm_lookup_attr& attr, const Owner& owner, Nanos now, std::uint32_t* id) {
  if (attr.data.size > VERBS_SOFT_CM_LOOKUP_DATA) return EINVAL;
  Connection* connection = create(State::kLookupSent, owner);
  if (!connection) return ENOMEM;
  connection->active = true;
  connection->port_num = attr.path.port_num;
  connection->path = path_of(attr.path);
  connection->service_id = attr.service_id;
  connection->transaction = new_transaction(connection->id);
  std::uint8_t data[SidrReq::kData] = {};
  emit_ip_header(attr.ip, data);
  std::ranges::copy(data_of(attr.data), data + VERBS_SOFT_CM_IP_HEADER);
  const SidrReq req{.request_id = connection->id, .service_id = attr.service_id, .data = data};
  begin(*connection, make_mad(connection->transaction, Attribute::kSidrReq, req), now, id);
  return 0;
}

void Manager::receive_sidr_rep(const Arrival& arrival) {
  const SidrRep rep = SidrRep::parse(arrival.mad);
  Connection* connection = find(rep.request_id);
  if (!connection || connection->state != State::kLookupSent || connection->path.dgid != arrival.path.dgid) return;
  verbs_soft_cm_event event = event_of(*connection, VERBS_SOFT_CM_LOOKUP_REPLY, rep.data);
  event.status = rep.status;
  event.qp_num = rep.qpn;
  event.qkey = rep.qkey;
  report(*connection, event);
  close(*connection);
}

}  // namespace verbs::soft::cm
