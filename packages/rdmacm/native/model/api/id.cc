// Identifiers: making, migrating and destroying them.
#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "model/device/soft.h"
#include "model/id/library.h"
#include "model/id/ports.h"
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

void acknowledge_last(Id& id) {
  if (id.cm.event) rdma_ack_cm_event(id.cm.event);
  id.cm.event = nullptr;
}

void wait_for_acknowledgements(Id& id, std::unique_lock<std::mutex>& lock) {
  const soft::Cancellable asleep;
  // In slices: condition_variable::wait without a time needs a libstdc++ that older distributions lack.
  while (!Library::get().acknowledged.wait_for(lock, std::chrono::hours(1),
                                               [&] { return id.reported == id.acknowledged; })) {
  }
}

// From here on the connection manager does not know the identifier.
void withdraw(Id& id) {
  for (const auto& listening : id.listeners) soft()->cm->unlisten(listening->device->verbs, listening->number);
  if (id.connection != 0) soft()->cm->release(id.device()->verbs, id.connection);
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
  leave_groups(id);
  free_port(id);
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

int migrate(Id& id, rdma_event_channel* channel) {
  Library& library = Library::get();
  std::unique_ptr<Channel> own;
  if (!channel) {
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
  EventQueue moved = id.channel->remove(&id);
  while (std::unique_ptr<Event> event = moved.pop()) next->push(std::move(event));
  if (id.is_sync()) library.remove(&id.own_channel->ibv);
  Channel* const left = id.channel;
  old = std::move(id.own_channel);
  id.own_channel = std::move(own);
  id.channel = next;
  const std::unique_ptr<Channel> abandoned = library.release(left);
  id.cm.channel = channel;
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
