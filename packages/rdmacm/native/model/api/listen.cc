// The passive side: listening, and requests of synchronous identifiers.
#include <cerrno>
#include <new>

#include "model/device/soft.h"
#include "model/id/callback.h"
#include "model/id/library.h"
#include "model/id/ports.h"
#include "model/id/service.h"
#include "model/library/functions.h"

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
    listening->announcement = announce(id, device, Service::kListening);
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
  if (where.empty()) return ENODEV;
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
  return 0;
}

// The new identifier is synchronous, like the one that listens.
int get_request(Id& listener, rdma_cm_id** result) {
  if (!listener.is_sync() || !result) return fail(EINVAL);
  if (listener.cm.event) {
    rdma_ack_cm_event(listener.cm.event);
    listener.cm.event = nullptr;
  }
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(listener.cm.channel, &event) != 0) return -1;
  if (event->status != 0 || event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
    const int error = event->status != 0 ? std::abs(event->status) : EINVAL;
    rdma_ack_cm_event(event);
    return fail(error);
  }
  rdma_cm_id* id = event->id;
  int error = rdma_migrate_id(id, nullptr) == 0 ? 0 : errno;
  if (error == 0 && listener.qp_attr) {
    ibv_qp_init_attr attr = *listener.qp_attr;
    if (rdma_create_qp(id, listener.qp_pd, &attr) != 0) error = errno;
  }
  if (error != 0) {
    rdma_ack_cm_event(event);
    rdma_reject(id, nullptr, 0);
    rdma_destroy_id(id);
    return fail(error);
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
