// Event channels and events.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "model/device/soft.h"
#include "model/id/library.h"
#include "model/id/queue_pair.h"
#include "model/id/service.h"
#include "model/id/shown.h"
#include "model/library/functions.h"

namespace verbs::rdmacm::model {
namespace {

// What a request's identifier still lacks. Its place has no device if the address is gone meanwhile.
void complete_requested(Id& id) {
  Gid gid;
  std::copy_n(id.path.sgid, gid.size(), gid.begin());
  Device& device = *id.device();
  id.cm.verbs = device.verbs;
  id.cm.pd = device.pd;
  find_address(device, gid, &id.place);
  if (!id.is_datagram() && set_route(id) != 0) throw std::bad_alloc();  // the event stays
}

// The peer has accepted: the library connects the queue pair and confirms. A program without one of the library's does
// both itself.
void receive_response(Event& event) {
  Id& id = *of(event.ibv.id);
  if (!id.cm.qp) return;
  int error = connect(id);
  if (error == 0) error = soft()->cm->ready(id.cm.verbs, id.connection, {});
  if (error != ENOMEM) event.ibv.event = RDMA_CM_EVENT_ESTABLISHED;
  if (error == 0) return;
  if (error == ENOMEM) throw std::bad_alloc();  // the event stays
  soft()->cm->reject(id.cm.verbs, id.connection, VERBS_SOFT_CM_CONSUMER, {});
  stop(id);
  event.ibv.event = RDMA_CM_EVENT_CONNECT_ERROR;
  event.ibv.status = -error;
}

void join(Event& event) {
  Id& id = *of(event.ibv.id);
  if (!id.cm.qp || event.group->sends_only) return;
  const ibv_gid& group = event.ibv.param.ud.ah_attr.grh.dgid;
  const int error = soft()->attach_mcast(id.cm.qp, &group, 0);
  if (error == ENOMEM) throw std::bad_alloc();  // the event stays
  if (error != 0) {
    event.ibv.event = RDMA_CM_EVENT_MULTICAST_ERROR;
    event.ibv.status = -1;  // as the real library, which does not tell the reason
    return;
  }
  const std::lock_guard guard(Library::get().mutex);
  event.group->attached = true;
}

// The work that the library does in the program's thread before the program sees the event. False and errno: the event
// stays.
bool prepare(Event& event) {
  switch (event.ibv.event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      complete_requested(*of(event.ibv.id));
      show(*of(event.ibv.id));
      // The identifier is synchronous, like the one that listens: that one's channel ends with it.
      if (event.id->is_sync()) return rdma_migrate_id(event.ibv.id, nullptr) == 0;
      break;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      receive_response(event);
      break;
    case RDMA_CM_EVENT_REJECTED:
      stop(*of(event.ibv.id));
      break;
    case RDMA_CM_EVENT_DISCONNECTED:
      show_disconnected(*of(event.ibv.id));
      break;
    case RDMA_CM_EVENT_MULTICAST_JOIN:
      join(event);
      break;
    default:
      break;
  }
  return true;
}

// Under the lock.
void count_reported(Event& event, int more) {
  event.id->reported += static_cast<unsigned>(more);
  if (event.group) event.group->reported += static_cast<unsigned>(more);
  if (more < 0) Library::get().acknowledged.notify_all();
}

// The request came before its service.
bool is_early(const Event& event) {
  constexpr int kNoSuchService = 1;  // of a SIDR_REP
  if (event.ibv.event == RDMA_CM_EVENT_REJECTED) return event.ibv.status == VERBS_SOFT_CM_INVALID_SERVICE_ID;
  return event.ibv.event == RDMA_CM_EVENT_UNREACHABLE && event.id->is_datagram() && event.ibv.status == kNoSuchService;
}

// The program may ask for it again, unless another thread destroys the identifier meanwhile.
void put_back(Channel& channel, std::unique_ptr<Event> event) {
  Library& library = Library::get();
  const bool requested = event->ibv.event == RDMA_CM_EVENT_CONNECT_REQUEST;
  rdma_cm_id* abandoned = nullptr;
  {
    const std::lock_guard guard(library.mutex);
    count_reported(*event, -1);
    if (library.has(event->id)) {
      if (requested) ++event->id->pending;
      channel.push_front(std::move(event));
    } else if (requested) {
      abandoned = event->ibv.id;
    }
  }
  if (abandoned) rdma_destroy_id(abandoned);
}

bool is_withdrawn(const Event& event) {
  const std::lock_guard guard(Library::get().mutex);
  return event.ibv.event == RDMA_CM_EVENT_CONNECT_REQUEST && of(event.ibv.id)->withdrawn;
}

int get_event(Channel& channel, rdma_cm_event** result) {
  Library& library = Library::get();
  for (;;) {
    if (const int error = channel.wait()) return fail(error);
    std::unique_ptr<Event> event;
    {
      const std::lock_guard guard(library.mutex);
      event = channel.pop();
      if (!event) continue;
      count_reported(*event, 1);
      if (event->ibv.event == RDMA_CM_EVENT_CONNECT_REQUEST) --event->id->pending;
    }
    if (is_withdrawn(*event)) {
      rdma_destroy_id(event->ibv.id);
      const std::lock_guard guard(library.mutex);
      count_reported(*event, -1);
      continue;
    }
    try {
      if (is_early(*event) && connect_again(*event->id)) {
        const std::lock_guard guard(library.mutex);
        count_reported(*event, -1);
        continue;
      }
      if (!prepare(*event)) {
        const int error = errno;
        put_back(channel, std::move(event));
        return fail(error);
      }
    } catch (...) {
      put_back(channel, std::move(event));
      throw;
    }
    {
      const std::lock_guard guard(library.mutex);
      library.report(*event);
    }
    *result = &event.release()->ibv;
    return 0;
  }
}

}  // namespace
}  // namespace verbs::rdmacm::model

using namespace verbs::rdmacm::model;

rdma_event_channel* rdma_create_event_channel() {
  return guarded([]() -> rdma_event_channel* {
    if (!soft()) {
      errno = why_not();
      return nullptr;
    }
    devices();  // as the real one: a later call is not held up by it, and a server has its address before its clients
    std::unique_ptr<Channel> channel = Channel::open();
    if (!channel) return nullptr;
    const std::lock_guard guard(Library::get().mutex);
    Library::get().add(channel.get());
    return &channel.release()->ibv;
  });
}

void rdma_destroy_event_channel(rdma_event_channel* channel) {
  guarded([&] {
    Channel* found = nullptr;
    {
      const std::lock_guard guard(Library::get().mutex);
      found = Library::get().find(channel);
      if (!found) return;
      Library::get().remove(channel);
      // Identifiers may still refer to it: the last of them frees it.
      if (Library::get().is_used(found)) return found->close();
    }
    delete found;
  });
}

int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  return guarded([&] {
    Channel* found = nullptr;
    {
      const std::lock_guard guard(Library::get().mutex);
      found = Library::get().find(channel);
    }
    return found && event ? get_event(*found, event) : fail(EINVAL);
  });
}

int rdma_ack_cm_event(rdma_cm_event* event) {
  return guarded([&] {
    auto* acknowledged = reinterpret_cast<Event*>(event);
    Library& library = Library::get();
    {
      const std::lock_guard guard(library.mutex);
      if (!library.acknowledge(acknowledged)) return fail(EINVAL);
      ++acknowledged->id->acknowledged;
      if (acknowledged->group) --acknowledged->group->reported;
      library.acknowledged.notify_all();
    }
    delete acknowledged;
    return 0;
  });
}

int rdma_write_cm_event(rdma_cm_id* id, rdma_cm_event_type type, int status, uint64_t arg) {
  return with_id(id, [&](Id& found) {
    if (type != kUserEvent) return fail(EINVAL);
    std::unique_ptr<Event> event = make_event(found);
    std::memcpy(&event->ibv.param, &arg, sizeof arg);  // `arg` of the union, since release 60
    push_event(std::move(event), type, status);
    return 0;
  });
}
