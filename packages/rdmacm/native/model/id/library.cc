#include "model/id/library.h"

#include <cerrno>
#include <cstdlib>
#include <new>
#include <utility>

#include "model/device/soft.h"
#include "model/id/ports.h"
#include "model/library/functions.h"
#include "verbs_soft_fork.h"

namespace verbs::rdmacm::model {

namespace {

std::mutex& library_mutex() { return Library::get().mutex; }

}  // namespace

Library& Library::get() {
  static auto* library = new Library;  // threads may still use it when the process exits
  if (soft()) {
    [[maybe_unused]] static const int kOnce =
        soft::model::take_at_fork<library_mutex, ports_mutex, Announcement::mutex>(*soft()->table,
                                                                                   VERBS_SOFT_LOCK_INNER, [] {
                                                                                     Library::get().leave_to_parent();
                                                                                     leave_ports_to_parent();
                                                                                     Announcement::leave_to_parent();
                                                                                   });
  }
  return *library;
}

Id* find(rdma_cm_id* id) {
  Library& library = Library::get();
  const std::lock_guard guard(library.mutex);
  if (library.has(of(id))) return of(id);
  errno = library.is_of_parent(of(id)) ? EIO : EINVAL;
  return nullptr;
}

int fail(int error) {
  errno = error;
  return -1;
}

int result(int error) { return error == 0 ? 0 : fail(error); }

std::unique_ptr<Id> make_id() {
  auto id = std::make_unique<Id>();
  for (int i = 0; i < kSpareEvents; ++i) id->spare.push(std::make_unique<Event>());
  return id;
}

int set_route(Id& id) {
  auto* record = static_cast<ibv_sa_path_rec*>(std::calloc(1, sizeof(ibv_sa_path_rec)));
  if (!record) return ENOMEM;
  const rdma_ib_addr& address = id.cm.route.addr.addr.ibaddr;
  record->sgid = address.sgid;
  record->dgid = address.dgid;
  record->hop_limit = 64;
  record->traffic_class = id.traffic_class;
  record->reversible = 1;
  record->numb_path = 1;
  record->pkey = 0xffff;
  record->mtu_selector = record->rate_selector = record->packet_life_time_selector = 2;  // exactly
  record->mtu = id.path_mtu;
  record->rate = IBV_RATE_100_GBPS;
  record->packet_life_time = 16;
  std::free(id.cm.route.path_rec);
  id.cm.route.path_rec = record;
  id.cm.route.num_paths = 1;
  return 0;
}

std::unique_ptr<Event> make_event(Id& id) {
  auto event = std::make_unique<Event>();
  event->id = &id;
  event->ibv.id = &id.cm;
  return event;
}

void push_event(std::unique_ptr<Event> event, rdma_cm_event_type type, int status) noexcept {
  event->ibv.event = type;
  event->ibv.status = status;
  const std::lock_guard guard(Library::get().mutex);
  Channel& channel = *event->id->channel;
  channel.push(std::move(event));
}

std::uint32_t take_connection(Id& id) {
  const std::lock_guard guard(Library::get().mutex);
  return std::exchange(id.connection, 0);
}

void acknowledge_last(Id& id) {
  if (id.cm.event) rdma_ack_cm_event(id.cm.event);
  id.cm.event = nullptr;
}

int complete(Id& id) {
  if (!id.is_sync()) return 0;
  acknowledge_last(id);
  if (rdma_get_cm_event(id.cm.channel, &id.cm.event) != 0) return -1;
  const int status = id.cm.event->status;
  if (status == 0) return 0;
  if (id.cm.event->event == RDMA_CM_EVENT_REJECTED) return fail(ECONNREFUSED);
  return fail(status < 0 ? -status : status);
}

}  // namespace verbs::rdmacm::model
