// The active side: connecting, confirming, and both sides' ends of a connection.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>

#include "model/device/soft.h"
#include "model/id/callback.h"
#include "model/id/library.h"
#include "model/id/ports.h"
#include "model/id/queue_pair.h"
#include "model/id/service.h"
#include "model/id/shown.h"
#include "model/library/functions.h"

namespace verbs::rdmacm::model {
namespace {

constexpr std::uint8_t kPacketLifeTime = 16;  // as the kernel's for RoCE

verbs_soft_cm_data data_of(const void* bytes, std::uint8_t size) { return {bytes, bytes ? size : 0u}; }

std::uint64_t service_of(Id& id, sockaddr* address) {
  return static_cast<std::uint64_t>(id.cm.ps) << 16 | port_of(address);
}

verbs_soft_cm_path path_of(const Id& id) {
  verbs_soft_cm_path path{};
  path.port_num = id.cm.port_num;
  path.traffic_class = id.traffic_class;
  path.hop_limit = 64;
  std::memcpy(path.sgid, id.cm.route.addr.addr.ibaddr.sgid.raw, 16);
  std::memcpy(path.dgid, id.cm.route.addr.addr.ibaddr.dgid.raw, 16);
  return path;
}

verbs_soft_cm_ip ip_of(Id& id) {
  verbs_soft_cm_ip ip{};
  ip.source_port = port_of(id.source());
  std::ranges::copy(gid_of(id.source()), ip.source);
  std::ranges::copy(gid_of(id.destination()), ip.destination);
  return ip;
}

std::uint8_t ack_timeout_of(const Id& id) {
  return static_cast<std::uint8_t>(id.chosen_ack_timeout >= 0 ? id.chosen_ack_timeout & 0x1f : kPacketLifeTime + 1);
}

struct Depths {
  std::uint8_t responder_resources, initiator_depth;
};

// `most` is what RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH stand for. EINVAL if a value is above what the device has.
int take_depths(Id& id, const rdma_conn_param* param, const Depths& most) {
  const Device& device = *id.device();
  const std::uint8_t resources = param ? param->responder_resources : std::uint8_t{RDMA_MAX_RESP_RES};
  const std::uint8_t depth = param ? param->initiator_depth : std::uint8_t{RDMA_MAX_INIT_DEPTH};
  if (resources != RDMA_MAX_RESP_RES && resources > device.max_responder_resources) return EINVAL;
  if (depth != RDMA_MAX_INIT_DEPTH && depth > device.max_initiator_depth) return EINVAL;
  id.responder_resources =
      std::min(resources == RDMA_MAX_RESP_RES ? most.responder_resources : resources, device.max_responder_resources);
  id.initiator_depth =
      std::min(depth == RDMA_MAX_INIT_DEPTH ? most.initiator_depth : depth, device.max_initiator_depth);
  return 0;
}

void take_qp_num(Id& id, const rdma_conn_param* param) {
  id.qp_num = (id.cm.qp ? id.cm.qp->qp_num : param ? param->qp_num : 0) & 0xffffff;
}

verbs_soft_cm_end end_of(const Id& id, const rdma_conn_param* param) {
  verbs_soft_cm_end end{};
  end.qp_num = id.qp_num;
  end.psn = id.psn;
  end.responder_resources = id.responder_resources;
  end.initiator_depth = id.initiator_depth;
  end.flow_control = param ? param->flow_control : 1;
  end.rnr_retry_count = param ? std::min<std::uint8_t>(param->rnr_retry_count, 7) : 7;
  end.srq = id.cm.qp ? id.cm.qp->srq != nullptr : param && param->srq;
  // A reply names the vendor of the request.
  end.ece_vendor_id = id.state == State::kRequested ? id.peer.ece_vendor_id : id.ece.vendor_id;
  end.ece_options = id.ece.options;
  return end;
}

std::uint8_t transport_of(const Id& id) {
  switch (id.connected_type()) {
    case IBV_QPT_UC:
      return VERBS_SOFT_CM_UC;
    case IBV_QPT_XRC_SEND:
      return VERBS_SOFT_CM_XRC;
    default:
      return VERBS_SOFT_CM_RC;
  }
}

int connect_datagram(Id& id, const rdma_conn_param* param) {
  verbs_soft_cm_lookup_attr attr{};
  attr.path = path_of(id);
  attr.ip = ip_of(id);
  attr.service_id = service_of(id, id.destination());
  if (param) attr.data = data_of(param->private_data, param->private_data_len);
  return soft()->cm->lookup(id.cm.verbs, &attr, on_cm_event, &id, &id.connection);
}

int connect_reliable(Id& id, const rdma_conn_param* param) {
  if (!id.cm.qp && !param) return EINVAL;
  if (const int error = take_depths(id, param, {RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH})) return error;
  id.retry_count = param ? std::min<std::uint8_t>(param->retry_count, 7) : 7;
  id.ack_timeout = ack_timeout_of(id);
  id.path = path_of(id);
  verbs_soft_cm_connect_attr attr{};
  attr.path = id.path;
  attr.ip = ip_of(id);
  attr.service_id = service_of(id, id.destination());
  attr.end = end_of(id, param);
  attr.retry_count = id.retry_count;
  attr.path_mtu = id.path_mtu;
  attr.ack_timeout = id.ack_timeout;
  attr.transport = transport_of(id);
  if (param) attr.data = data_of(param->private_data, param->private_data_len);
  return soft()->cm->connect(id.cm.verbs, &attr, on_cm_event, &id, &id.connection);
}

void remember(Id& id, const rdma_conn_param* param) {
  id.request = {};
  if (!param) return;
  id.request.param = *param;
  if (!param->private_data) return;
  const auto* bytes = static_cast<const std::uint8_t*>(param->private_data);
  id.request.data.assign(bytes, bytes + param->private_data_len);
  id.request.param->private_data = id.request.data.data();
}

int send_request(Id& id) {
  const rdma_conn_param* param = id.request.param ? &*id.request.param : nullptr;
  return id.is_datagram() ? connect_datagram(id, param) : connect_reliable(id, param);
}

std::optional<Gid> find_service(Id& id) {
  return find_neighbour(service_of(id, id.destination()), gid_of(id.destination()));
}

int connect(Id& id, const rdma_conn_param* param) {
  if (id.state != State::kRouteResolved) return EINVAL;
  remember(id, param);
  // Now rather than when the address was resolved: the service may have come since. If there is none yet, this device
  // holds the request for a while, and rejects it.
  const Gid destination = gid_of(id.destination());
  const Gid peer = find_service(id).value_or(is_loopback(destination) ? id.place.gid : destination);
  std::ranges::copy(peer, id.cm.route.addr.addr.ibaddr.dgid.raw);
  take_qp_num(id, param);
  id.state = State::kConnecting;
  show(id);
  const int error = send_request(id);
  if (error == 0) return 0;
  id.state = State::kRouteResolved;
  show(id);
  return error;
}

// 0, EINVAL, or the errno of a state change; then the request is still there.
int prepare_accept(Id& id, const rdma_conn_param* param) {
  if (const int error = take_depths(id, param, {id.responder_resources, id.initiator_depth})) return error;
  if (id.chosen_ack_timeout >= 0) id.ack_timeout = ack_timeout_of(id);
  return id.cm.qp ? connect(id) : 0;
}

int send_reply(Id& id, const rdma_conn_param* param, const verbs_soft_cm_data& data) {
  if (!id.is_datagram()) {
    const verbs_soft_cm_end end = end_of(id, param);
    return soft()->cm->accept(id.cm.verbs, id.connection, &end, data);
  }
  return soft()->cm->answer(id.cm.verbs, id.connection, 0, id.qp_num, id.qkey, data);
}

int accept(Id& id, const rdma_conn_param* param) {
  if (id.state != State::kRequested || !id.cm.verbs || (!id.cm.qp && !param)) return EINVAL;
  if (!id.is_datagram()) {
    if (const int error = prepare_accept(id, param)) return error;
  }
  take_qp_num(id, param);
  show(id);
  {
    const std::lock_guard guard(Library::get().mutex);
    id.accepted = true;
  }
  const int error =
      send_reply(id, param, param ? data_of(param->private_data, param->private_data_len) : verbs_soft_cm_data{});
  if (error == 0) {
    id.state = State::kConnecting;
    return 0;
  }
  if (error == ENOMEM) return error;  // the program may try again
  // As with the kernel: a request whose reply cannot be sent is rejected.
  stop(id);
  soft()->cm->reject(id.cm.verbs, id.connection, VERBS_SOFT_CM_CONSUMER, {});
  return error;
}

int reject(Id& id, const void* data, std::uint8_t size, verbs_soft_cm_reason reason) {
  if (id.connection == 0 || !id.cm.verbs) return EINVAL;
  return soft()->cm->reject(id.cm.verbs, id.connection, reason, data_of(data, size));
}

// The queue pair fails first, so that its requests are flushed. Without a connection to end there is nothing to tell.
int disconnect(Id& id) {
  const bool listens = id.state == State::kListening && id.device();
  if ((id.connection == 0 && !listens) || !id.cm.verbs) return EINVAL;
  if (const int error = stop(id)) return error;
  if (id.connection == 0 || id.is_datagram()) return 0;
  const int error = soft()->cm->disconnect(id.cm.verbs, id.connection, {});
  return error == ENOMEM ? error : 0;
}

}  // namespace
}  // namespace verbs::rdmacm::model

// A service that listens anew, as perftest's does between two connections, is announced by nobody for a moment. The
// request was held and rejected then.
bool verbs::rdmacm::model::connect_again(Id& id) {
  constexpr int kTries = 3;
  if (id.state != State::kConnecting || id.request.tries >= kTries) return false;
  const auto peer = find_service(id);
  if (!peer) return false;
  // Another thread may be destroying the identifier: what this one makes meanwhile it releases, when this event is
  // over.
  const std::uint32_t rejected = take_connection(id);
  if (rejected == 0) return false;
  ++id.request.tries;
  soft()->cm->release(id.cm.verbs, rejected);
  std::ranges::copy(*peer, id.cm.route.addr.addr.ibaddr.dgid.raw);
  return send_request(id) == 0;
}

using namespace verbs::rdmacm::model;

int rdma_connect(rdma_cm_id* id, rdma_conn_param* param) {
  return with_id(id, [&](Id& found) {
    const int error = connect(found, param);
    return error == 0 ? complete(found) : fail(error);
  });
}

int rdma_establish(rdma_cm_id* id) {
  return with_id(id, [](Id& found) {
    if (found.cm.qp || found.connection == 0) return fail(EINVAL);
    return result(soft()->cm->ready(found.cm.verbs, found.connection, {}));
  });
}

int rdma_accept(rdma_cm_id* id, rdma_conn_param* param) {
  return with_id(id, [&](Id& found) {
    if (const int error = accept(found, param)) return fail(error);
    if (!found.is_datagram()) return complete(found);
    acknowledge_last(found);
    return 0;
  });
}

int rdma_reject(rdma_cm_id* id, const void* data, uint8_t size) {
  return with_id(id, [&](Id& found) { return result(reject(found, data, size, VERBS_SOFT_CM_CONSUMER)); });
}

int rdma_reject_ece(rdma_cm_id* id, const void* data, uint8_t size) {
  return with_id(id, [&](Id& found) { return result(reject(found, data, size, VERBS_SOFT_CM_VENDOR_OPTION)); });
}

int rdma_disconnect(rdma_cm_id* id) {
  return with_id(id, [](Id& found) {
    if (const int error = disconnect(found)) return fail(error);
    return found.connection == 0 || found.is_datagram() ? 0 : complete(found);
  });
}

int rdma_notify(rdma_cm_id* id, ibv_event_type event) {
  return with_id(id, [&](Id& found) {
    if (found.connection == 0 || event != IBV_EVENT_COMM_EST) return fail(EINVAL);
    return result(soft()->cm->establish(found.cm.verbs, found.connection));
  });
}

// The passive side: listening, and requests of synchronous identifiers.

namespace verbs::rdmacm::model {
namespace {

constexpr int kMaxBacklog = 1024;  // as the kernel's default

// 0 or errno; without memory nothing listens.
int listen_on(Id& id, Device& device) try {
  auto listening = std::make_unique<Listening>(Listening{&id, &device, 0, nullptr});
  const verbs_soft_cm_listen_attr attr = listen_attr_of(id);
  if (const int error = soft()->cm->listen(device.verbs, &attr, on_cm_event, listening.get(), &listening->number)) {
    return error;
  }
  try {
    const int error = announce(id, device, Service::kListening, &listening->announcement);
    if (error != 0) {
      soft()->cm->unlisten(device.verbs, listening->number);
      return error;
    }
  } catch (...) {  // before it is freed
    soft()->cm->unlisten(device.verbs, listening->number);
    throw;
  }
  id.listeners.push_back(std::move(listening));  // there is room for it
  return 0;
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int listen(Id& id, int backlog) {
  if (id.state == State::kIdle) {  // as the kernel: any address, and a free port
    sockaddr_in any{};
    any.sin_family = AF_INET;
    if (rdma_bind_addr(&id.cm, reinterpret_cast<sockaddr*>(&any)) != 0) return errno;
  }
  if (id.state != State::kBound) return EINVAL;
  if (const int error = check_listen(id)) return error;
  id.backlog = backlog > 0 && backlog < kMaxBacklog ? backlog : kMaxBacklog;
  const std::vector<Device*> where = devices_of(id);
  if (where.empty()) return why_no_device();
  id.listeners.reserve(where.size());
  id.state = State::kListening;
  for (Device* device : where) {
    const int error = listen_on(id, *device);
    if (error == 0) continue;
    for (const auto& listening : id.listeners) soft()->cm->unlisten(listening->device->verbs, listening->number);
    id.listeners.clear();
    id.state = State::kBound;
    return error;
  }
  show(id);
  return 0;
}

int get_request(Id& listener, rdma_cm_id** result) {
  if (!listener.is_sync() || !result) return fail(EINVAL);
  acknowledge_last(listener);
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(listener.cm.channel, &event) != 0) return -1;
  if (event->status != 0 || event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
    const int error = event->status != 0 ? std::abs(event->status) : EINVAL;
    rdma_ack_cm_event(event);
    return fail(error);
  }
  rdma_cm_id* id = event->id;
  if (listener.qp_attr) {
    ibv_qp_init_attr attr = *listener.qp_attr;
    if (rdma_create_qp(id, listener.cm.pd, &attr) != 0) {
      const int error = errno;
      rdma_ack_cm_event(event);
      rdma_reject(id, nullptr, 0);
      rdma_destroy_id(id);
      return fail(error);
    }
  }
  id->event = event;
  *result = id;
  return 0;
}

}  // namespace
}  // namespace verbs::rdmacm::model

using namespace verbs::rdmacm::model;

int rdma_listen(rdma_cm_id* id, int backlog) {
  return with_id(id, [&](Id& found) { return result(listen(found, backlog)); });
}

int rdma_get_request(rdma_cm_id* listener, rdma_cm_id** id) {
  return with_id(listener, [&](Id& found) { return get_request(found, id); });
}
