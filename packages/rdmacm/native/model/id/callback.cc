#include "model/id/callback.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "model/id/library.h"

namespace verbs::rdmacm::model {
namespace {

// Of the identifier's spare events if there is no memory.
std::unique_ptr<Event> event_of(Id& id, rdma_cm_event_type type, int status) {
  std::unique_ptr<Event> event;
  try {
    event = std::make_unique<Event>();
  } catch (const std::bad_alloc&) {
    event = id.spare.pop();
    if (!event) throw;
  }
  event->id = &id;
  event->ibv.id = &id.cm;
  event->ibv.event = type;
  event->ibv.status = status;
  return event;
}

// The private data is the whole field of the message, as with the kernel.
std::uint8_t copy_data(Event& event, const verbs_soft_cm_data& data) {
  const std::size_t size = std::min<std::size_t>(data.size, 255);
  if (size > 0) std::memcpy(event.data.data(), data.bytes, size);
  return static_cast<std::uint8_t>(size);
}

void fill_connection(Event& event, const verbs_soft_cm_event& from) {
  rdma_conn_param& to = event.ibv.param.conn;
  to.private_data_len = copy_data(event, from.data);
  if (to.private_data_len > 0) to.private_data = event.data.data();
  // What the peer offers is what this side may ask for.
  to.responder_resources = from.end.initiator_depth;
  to.initiator_depth = from.end.responder_resources;
  to.flow_control = from.end.flow_control;
  to.retry_count = from.retry_count;
  to.rnr_retry_count = from.end.rnr_retry_count;
  to.srq = from.end.srq;
  to.qp_num = from.end.qp_num;
}

void fill_datagram(Event& event, const Id& id, const verbs_soft_cm_event& from) {
  rdma_ud_param& to = event.ibv.param.ud;
  to.private_data_len = copy_data(event, from.data);
  if (to.private_data_len > 0) to.private_data = event.data.data();
  if (from.type != VERBS_SOFT_CM_LOOKUP_REPLY || from.status != 0) return;
  to.qp_num = from.qp_num;
  to.qkey = from.qkey;
  to.ah_attr.is_global = 1;
  to.ah_attr.port_num = id.cm.port_num;
  to.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(id.place.gid_index);
  to.ah_attr.grh.hop_limit = from.path.hop_limit;
  to.ah_attr.grh.traffic_class = from.path.traffic_class;
  to.ah_attr.grh.flow_label = from.path.flow_label;
  std::memcpy(to.ah_attr.grh.dgid.raw, from.path.dgid, 16);
}

Gid gid_from(const std::uint8_t* bytes) {
  Gid gid;
  std::copy_n(bytes, gid.size(), gid.begin());
  return gid;
}

// Under the device's lock, where its verbs cannot be called: rdma_get_cm_event() completes the identifier.
std::unique_ptr<Id> make_requested(const Listening& listening, const verbs_soft_cm_event& event) {
  Id& listener = *listening.id;
  std::unique_ptr<Id> id = make_id();
  id->place.device = listening.device;
  id->cm.context = id->listener_context = listener.cm.context;
  id->cm.ps = listener.cm.ps;
  id->cm.qp_type = listener.cm.qp_type;
  id->cm.channel = listener.cm.channel;
  id->channel = listener.channel;
  id->cm.port_num = event.path.port_num;
  to_sockaddr(gid_from(event.ip.destination), static_cast<std::uint16_t>(event.service_id),
              &id->cm.route.addr.src_storage);
  to_sockaddr(gid_from(event.ip.source), event.ip.source_port, &id->cm.route.addr.dst_storage);
  std::memcpy(id->cm.route.addr.addr.ibaddr.sgid.raw, event.path.sgid, 16);
  std::memcpy(id->cm.route.addr.addr.ibaddr.dgid.raw, event.path.dgid, 16);
  id->cm.route.addr.addr.ibaddr.pkey = 0xffff;
  id->state = State::kRequested;
  id->connection = event.connection;
  id->path = event.path;
  id->peer = event.end;
  id->psn = Library::get().random_psn();
  id->responder_resources = event.end.initiator_depth;
  id->initiator_depth = event.end.responder_resources;
  id->retry_count = event.retry_count;
  id->path_mtu = event.path_mtu;
  id->ack_timeout = event.ack_timeout;
  id->traffic_class = listener.traffic_class;
  return id;
}

// Whether a listener with that type of queue pairs takes the request, as the kernel decides it.
bool has_transport(const Id& listener, const verbs_soft_cm_event& from) {
  if (listener.is_datagram()) return true;
  switch (listener.connected_type()) {
    case IBV_QPT_RC:
      return from.transport == VERBS_SOFT_CM_RC;
    case IBV_QPT_UC:
      return from.transport == VERBS_SOFT_CM_UC;
    case IBV_QPT_XRC_RECV:
      return from.transport == VERBS_SOFT_CM_XRC;
    default:
      return false;
  }
}

Id* receive_request(const Listening& listening, const verbs_soft_cm_event& from) {
  Id& listener = *listening.id;
  if (!has_transport(listener, from)) return nullptr;
  if (listener.pending >= listener.backlog) return nullptr;
  std::unique_ptr<Id> id = make_requested(listening, from);
  std::unique_ptr<Event> event = make_event(listener);
  event->ibv.event = RDMA_CM_EVENT_CONNECT_REQUEST;
  event->ibv.id = &id->cm;
  event->ibv.listen_id = &listener.cm;
  if (id->is_datagram()) {
    fill_datagram(*event, *id, from);
  } else {
    fill_connection(*event, from);
  }
  Library::get().add(id.get());
  ++listener.pending;
  listener.channel->push(std::move(event));
  return id.release();
}

void receive(Id& id, const verbs_soft_cm_event& from) {
  // As the kernel: a program that has not made the identifier its own would take it for the listener. Accepting fails
  // later. A request that the program has not got yet it does not get any more.
  if (id.state == State::kRequested && !id.accepted && id.cm.context == id.listener_context) {
    id.withdrawn = true;
    return;
  }
  const auto push = [&](rdma_cm_event_type type, int status = 0) { id.channel->push(event_of(id, type, status)); };
  switch (from.type) {
    case VERBS_SOFT_CM_REPLY: {
      id.peer = from.end;
      id.path_mtu = from.path_mtu;
      id.responder_resources = std::min(id.device()->max_responder_resources, from.end.initiator_depth);
      id.initiator_depth = std::min(id.device()->max_initiator_depth, from.end.responder_resources);
      auto event = event_of(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
      fill_connection(*event, from);
      return id.channel->push(std::move(event));
    }
    case VERBS_SOFT_CM_REJECTED: {
      auto event = event_of(id, RDMA_CM_EVENT_REJECTED, from.status);
      event->ibv.param.conn.private_data_len = copy_data(*event, from.data);
      event->ibv.param.conn.private_data = event->data.data();
      return id.channel->push(std::move(event));
    }
    case VERBS_SOFT_CM_LOOKUP_REPLY: {
      auto event = event_of(id, from.status == 0 ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_UNREACHABLE, from.status);
      fill_datagram(*event, id, from);
      return id.channel->push(std::move(event));
    }
    case VERBS_SOFT_CM_READY:
      return push(RDMA_CM_EVENT_ESTABLISHED);
    case VERBS_SOFT_CM_UNREACHABLE:
      return push(RDMA_CM_EVENT_UNREACHABLE, -from.status);
    case VERBS_SOFT_CM_DISCONNECTED:
      id.disconnected = true;
      return push(RDMA_CM_EVENT_DISCONNECTED, -from.status);
    case VERBS_SOFT_CM_TIMEWAIT_EXIT:
      if (!id.disconnected) return;  // as the kernel: of a connection that never stood there is none
      return push(RDMA_CM_EVENT_TIMEWAIT_EXIT);
    case VERBS_SOFT_CM_REQUEST:
    case VERBS_SOFT_CM_LOOKUP:
      return;
  }
}

}  // namespace

void* on_cm_event(void* owner, const verbs_soft_cm_event* event) {
  const auto call = [&]() -> void* {
    const std::lock_guard guard(Library::get().mutex);
    if (event->type == VERBS_SOFT_CM_REQUEST || event->type == VERBS_SOFT_CM_LOOKUP) {
      return receive_request(*static_cast<Listening*>(owner), *event);
    }
    receive(*static_cast<Id*>(owner), *event);
    return nullptr;
  };
  return soft::contain_call(call, [](int) -> void* { return nullptr; });  // without memory a request is rejected
}

}  // namespace verbs::rdmacm::model
