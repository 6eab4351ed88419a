// Identifiers: making, migrating and destroying them.
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "model/device/soft.h"
#include "model/id/library.h"
#include "model/id/ports.h"
#include "model/id/shown.h"
#include "model/library/functions.h"

namespace verbs::rdmacm::model {
namespace {

bool is_known(rdma_port_space ps) {
  return ps == RDMA_PS_TCP || ps == RDMA_PS_UDP || ps == RDMA_PS_IB || ps == RDMA_PS_IPOIB;
}

int create(rdma_event_channel* channel, rdma_cm_id** result, void* context, rdma_port_space ps) {
  if (!result || !is_known(ps)) return fail(EINVAL);
  if (!soft()) return fail(why_not());
  std::unique_ptr<Id> id = make_id();
  if (!channel) {
    devices();
    id->own_channel = Channel::open();
    if (!id->own_channel) return -1;
    channel = &id->own_channel->ibv;
  }
  Library& library = Library::get();
  const std::lock_guard guard(library.mutex);
  id->channel = id->is_sync() ? id->own_channel.get() : library.find(channel);
  if (!id->channel) return fail(EINVAL);
  id->cm.channel = channel;
  id->cm.context = context;
  id->cm.ps = ps;
  id->cm.qp_type = ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
  id->psn = library.random_psn();
  library.add(id.get());
  if (id->is_sync()) {
    try {
      library.add(id->own_channel.get());
    } catch (...) {
      library.remove(id.get());
      throw;
    }
  }
  *result = &id.release()->cm;
  return 0;
}

void wait_for_acknowledgements(Id& id, std::unique_lock<std::mutex>& lock) {
  Library::get().wait(lock, [&] { return id.reported == id.acknowledged; });
}

// From here on the connection manager does not know the identifier, unless another thread repeats its request.
void withdraw(Id& id) {
  for (const auto& listening : id.listeners) soft()->cm->unlisten(listening->device->verbs, listening->number);
  id.listeners.clear();
  if (const std::uint32_t connection = take_connection(id)) soft()->cm->release(id.device()->verbs, connection);
}

void leave_groups(Id& id) {
  for (const Group& group : id.groups) {
    ibv_gid gid;
    std::copy(group.gid.begin(), group.gid.end(), gid.raw);
    if (group.attached && id.cm.qp) soft()->detach_mcast(id.cm.qp, &gid, 0);
  }
}

int destroy(Id& id);

// `dropped`: its events that the program never got.
void release(Id& id, EventQueue dropped) {
  Library& library = Library::get();
  while (const std::unique_ptr<Event> event = dropped.pop()) {
    if (event->ibv.event == RDMA_CM_EVENT_CONNECT_REQUEST) destroy(*of(event->ibv.id));
  }
  withdraw(id);  // now that no thread has an event of it
  leave_groups(id);
  free_port(id);
  hide(id);
  std::unique_ptr<Channel> abandoned;
  {
    const std::lock_guard guard(library.mutex);
    if (id.is_sync()) library.remove(&id.own_channel->ibv);
    abandoned = library.release(id.channel);
  }
  std::free(id.cm.route.path_rec);
  delete &id;
}

int destroy(Id& id) {
  Library& library = Library::get();
  {
    const std::lock_guard guard(library.mutex);
    if (!library.has(&id)) return fail(EINVAL);
    library.remove(&id);
  }
  withdraw(id);
  acknowledge_last(id);
  EventQueue dropped;
  const auto wait = [&] {
    std::unique_lock lock(library.mutex);
    dropped = id.channel->remove(&id);
    wait_for_acknowledgements(id, lock);
  };
  soft::wait_and_finish(wait, [&] { release(id, std::move(dropped)); });
  return 0;
}

// With its events, and with the requests among them that the program has not got yet. Under the lock.
void move(Id& id, Channel& next) {
  EventQueue moved = id.channel->remove(&id);
  id.channel = &next;
  id.cm.channel = &next.ibv;
  while (std::unique_ptr<Event> event = moved.pop()) {
    Id* const requested = event->ibv.event == RDMA_CM_EVENT_CONNECT_REQUEST ? of(event->ibv.id) : nullptr;
    next.push(std::move(event));
    if (requested) move(*requested, next);
  }
}

int migrate(Id& id, rdma_event_channel* channel) {
  Library& library = Library::get();
  std::unique_ptr<Channel> own;
  if (!channel) {
    if (id.is_sync()) return fail(EINVAL);
    own = Channel::open();
    if (!own) return -1;
  }
  acknowledge_last(id);
  std::unique_ptr<Channel> old;
  std::unique_lock lock(library.mutex);
  if (own) {
    library.add(own.get());
    channel = &own->ibv;
  }
  Channel* next = library.find(channel);
  if (!next) return fail(EINVAL);
  if (id.is_sync()) library.remove(&id.own_channel->ibv);
  Channel* const left = id.channel;
  move(id, *next);
  old = std::move(id.own_channel);
  id.own_channel = std::move(own);
  const std::unique_ptr<Channel> abandoned = library.release(left);
  wait_for_acknowledgements(id, lock);
  return 0;
}

}  // namespace
}  // namespace verbs::rdmacm::model

using namespace verbs::rdmacm::model;

int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context, rdma_port_space ps) {
  return guarded([&] { return create(channel, id, context, ps); });
}

int rdma_destroy_id(rdma_cm_id* id) { return with_id(id, destroy); }

int rdma_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) {
  return with_id(id, [&](Id& found) { return migrate(found, channel); });
}

// Options, and the devices.

namespace verbs::rdmacm::model {
namespace {

template <typename Value>
int read(const void* from, std::size_t size, Value* value) {
  if (size != sizeof *value) return EINVAL;
  std::memcpy(value, from, sizeof *value);
  return 0;
}

int set_id_option(Id& id, int name, const void* value, std::size_t size) {
  if (!value && size > 0) return EFAULT;
  std::uint8_t byte = 0;
  int number = 0;
  switch (name) {
    case RDMA_OPTION_ID_TOS:
      if (const int error = read(value, size, &byte)) return error;
      id.traffic_class = byte;
      return 0;
    case RDMA_OPTION_ID_REUSEADDR:
      if (const int error = read(value, size, &number)) return error;
      if (id.state != State::kIdle && (number == 0 || id.state == State::kListening)) return EINVAL;
      id.reuse_address = number != 0;
      return 0;
    case RDMA_OPTION_ID_AFONLY:
      if (const int error = read(value, size, &number)) return error;
      if (id.state != State::kIdle && id.state != State::kBound) return EINVAL;
      id.family_only = number != 0;
      return 0;
    case RDMA_OPTION_ID_ACK_TIMEOUT:
      if (const int error = read(value, size, &byte)) return error;
      if (id.is_datagram()) return EINVAL;
      id.chosen_ack_timeout = byte;
      return 0;
    default:
      return ENOSYS;
  }
}

// The path is the one that RoCE has, whatever the program gives.
int set_path(Id& id, std::size_t size) {
  if (size % sizeof(ibv_path_data) != 0 || size == 0 || id.state != State::kAddressResolved) return EINVAL;
  return rdma_resolve_route(&id.cm, -1) == 0 ? 0 : errno;
}

}  // namespace
}  // namespace verbs::rdmacm::model

using namespace verbs::rdmacm::model;

int rdma_set_option(rdma_cm_id* id, int level, int name, void* value, size_t size) {
  return with_id(id, [&](Id& found) {
    if (level == RDMA_OPTION_ID) return result(set_id_option(found, name, value, size));
    return result(level == RDMA_OPTION_IB && name == RDMA_OPTION_IB_PATH ? set_path(found, size) : ENOSYS);
  });
}

int rdma_set_local_ece(rdma_cm_id* id, ibv_ece* ece) {
  return with_id(id, [&](Id& found) {
    if (found.cm.qp || !ece || ece->vendor_id == 0 || ece->comp_mask != 0) return fail(EINVAL);
    found.ece = *ece;
    return 0;
  });
}

// For programs that agree on the options of their providers themselves: no queue pair of the software NIC has any.
int rdma_get_remote_ece(rdma_cm_id* id, ibv_ece* ece) {
  return with_id(id, [&](Id& found) {
    if (found.cm.qp || !ece) return fail(EINVAL);
    *ece = {.vendor_id = found.peer.ece_vendor_id, .options = found.peer.ece_options, .comp_mask = 0};
    return 0;
  });
}

ibv_context** rdma_get_devices(int* count) {
  if (count) *count = 0;
  return guarded([&]() -> ibv_context** {
    const std::vector<Device*> all = devices();
    if (all.empty()) {
      errno = ENODEV;
      return nullptr;
    }
    auto** list = static_cast<ibv_context**>(std::calloc(all.size() + 1, sizeof(ibv_context*)));
    if (!list) return nullptr;
    for (std::size_t i = 0; i < all.size(); ++i) list[i] = all[i]->verbs;
    if (count) *count = static_cast<int>(all.size());
    return list;
  });
}

void rdma_free_devices(ibv_context** list) { std::free(list); }

// Endpoints: a synchronous identifier with a queue pair, from the result of rdma_getaddrinfo().

namespace verbs::rdmacm::model {
namespace {

constexpr int kResolveTimeout = 2000;  // ms

// 0 or -1 and errno.
int prepare(Id& id, const rdma_addrinfo& info, ibv_pd* pd, ibv_qp_init_attr* attr) {
  id.cm.qp_type = static_cast<ibv_qp_type>(info.ai_qp_type);
  if ((info.ai_flags & RAI_PASSIVE) != 0) {
    if (rdma_bind_addr(&id.cm, info.ai_src_addr) != 0) return -1;
    if (pd) id.cm.pd = pd;
    if (!attr) return 0;
    id.qp_attr = std::make_unique<ibv_qp_init_attr>(*attr);
    id.qp_attr->qp_type = id.cm.qp_type;
    return 0;
  }
  if (rdma_resolve_addr(&id.cm, info.ai_src_addr, info.ai_dst_addr, kResolveTimeout) != 0) return -1;
  if (rdma_resolve_route(&id.cm, kResolveTimeout) != 0) return -1;
  if (!attr) return 0;
  attr->qp_type = id.cm.qp_type;
  return rdma_create_qp(&id.cm, pd, attr);
}

}  // namespace
}  // namespace verbs::rdmacm::model

using namespace verbs::rdmacm::model;

int rdma_create_ep(rdma_cm_id** id, rdma_addrinfo* info, ibv_pd* pd, ibv_qp_init_attr* attr) {
  return guarded([&] {
    if (!id || !info) return fail(EINVAL);
    rdma_cm_id* created = nullptr;
    if (rdma_create_id(nullptr, &created, nullptr, static_cast<rdma_port_space>(info->ai_port_space)) != 0) return -1;
    int prepared = -1;
    const auto finish = [&] {
      const int error = errno;
      if (prepared != 0) rdma_destroy_ep(created);
      errno = error;
    };
    const auto wait = [&] { prepared = guarded([&] { return prepare(*of(created), *info, pd, attr); }); };
    verbs::soft::wait_and_finish(wait, finish);
    if (prepared == 0) *id = created;
    return prepared;
  });
}

void rdma_destroy_ep(rdma_cm_id* id) {
  guarded([&] {
    if (!find(id)) return;
    rdma_destroy_qp(id);
    rdma_destroy_srq(id);
    rdma_destroy_id(id);
  });
}
