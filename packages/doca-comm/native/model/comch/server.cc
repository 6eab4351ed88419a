#include "model/comch/server.h"

#include <cstring>
#include <mutex>
#include <utility>

#include "model/base/boundary.h"
#include "model/base/error.h"
#include "model/base/last_error.h"
#include "model/engine/engine.h"
#include "model/nic/faults.h"

struct doca_comch_event_connection_status_changed {};

namespace verbs::doca_comm::model::comch {

namespace {

using ServerPool = HandlePool<doca_comch_server, Server>;

// Clients that are accepted by one call of progress().
constexpr int kMostAccepted = 16;

}  // namespace

bool is_name(const char* name) {
  const std::size_t length = strnlen(name, kMaxNameLength);
  return length > 0 && length < kMaxNameLength;
}

Server* find_server(const doca_comch_server* handle) { return ServerPool::get().find(handle); }

doca_error_t destroy_server(doca_comch_server* handle) {
  Server* server = find_server(handle);
  if (!server) return DOCA_ERROR_INVALID_VALUE;
  if (!server->idle()) return DOCA_ERROR_IN_USE;
  model::retire(*server);
  ServerPool::get().remove(handle);
  return DOCA_SUCCESS;
}

doca_error_t Server::create(doca_dev* dev, doca_dev_rep* rep, const char* name, doca_comch_server** server) {
  if (!Bluefield::get().is_open(dev) || !Bluefield::get().is_open(rep) || !is_name(name)) {
    return DOCA_ERROR_INVALID_VALUE;
  }
  if (!dev->info->options.dpu) return DOCA_ERROR_NOT_SUPPORTED;
  if (rep->info->parent != dev->info) return DOCA_ERROR_NOT_PERMITTED;
  if (const int error = Faults::get().next(Fault::kAllocate)) return error_of(error, DOCA_ERROR_NO_MEMORY);
  const auto created = std::make_shared<Server>(dev, rep, name);
  if (!created->hold()) return DOCA_ERROR_INVALID_VALUE;
  created->rep_held_ = Bluefield::get().hold(rep);
  if (!created->rep_held_) return DOCA_ERROR_INVALID_VALUE;
  created->server_ = publish_as<ServerPool>(created);
  *server = created->server_;
  return DOCA_SUCCESS;
}

Server::~Server() {
  if (rep_held_) Bluefield::get().release(rep_);
}

doca_error_t Server::on_connection(doca_comch_event_connection_status_changed_cb_t connected,
                                   doca_comch_event_connection_status_changed_cb_t disconnected) {
  if (!connected || !disconnected) return DOCA_ERROR_INVALID_VALUE;
  if (!idle()) return DOCA_ERROR_BAD_STATE;
  connected_ = connected;
  disconnected_ = disconnected;
  return DOCA_SUCCESS;
}

// Decided here: a name that another server has is ALREADY_EXIST; INITIALIZATION if the registry cannot be used.
doca_error_t Server::open() {
  if (const doca_error_t error = prepare()) return error;
  doca_error_t error = Service::listen(*device(), *rep_->info, sizes(), name_, &service_, engine()->fd());
  if (error == DOCA_ERROR_CONNECTION_ABORTED) {
    return last_error().empty() ? DOCA_ERROR_ALREADY_EXIST : DOCA_ERROR_INITIALIZATION;
  }
  if (error != DOCA_SUCCESS) return error;
  error = contained([this] { return opened(); });
  if (error != DOCA_SUCCESS) shut();
  return error;
}

void Server::shut() {
  service_->close();
  service_.reset();
}

bool Server::step() {
  bool some = false;
  for (int i = 0; i < kMostAccepted && running(); ++i) {
    std::shared_ptr<Link> link;
    {
      const std::lock_guard guard(service_->transport().mutex());
      if (!service_->has_requests()) break;
      link = make_link(service_);
      // Decided here: the program does not learn of a client that cannot be accepted. The client does: it is rejected.
      Peer* peer = nullptr;
      if (!service_->accept_next(&peer)) {
        comch::retire(*link);
        break;
      }
      add_link(link, *peer);
    }
    some = true;
    doca_comch_event_connection_status_changed event;
    if (connected_) connected_(&event, link->handle, 1);
  }
  return some;
}

bool Server::has_step() const { return state() == DOCA_CTX_STATE_STOPPING || service_->has_requests(); }

void Server::on_loss(const std::shared_ptr<Link>& link) {
  doca_comch_event_connection_status_changed event;
  if (disconnected_) disconnected_(&event, link->handle, 1);
  // The callback may have disconnected it, or stopped the server.
  if (!link->control || !running()) return;
  const std::lock_guard guard(service_->transport().mutex());
  Peer& peer = *link->peer;
  remove_link(*link);
  service_->transport().release(peer.number);
}

doca_error_t Server::disconnect(Link& link) {
  if (link.control != this) return DOCA_ERROR_INVALID_VALUE;
  if (!running()) return DOCA_ERROR_BAD_STATE;
  const std::lock_guard guard(service_->transport().mutex());
  if (link.has_active()) return DOCA_ERROR_IN_USE;
  fail(link, DOCA_ERROR_CONNECTION_ABORTED);
  Peer& peer = *link.peer;
  remove_link(link);
  service_->detach(peer);
  return DOCA_SUCCESS;
}

}  // namespace verbs::doca_comm::model::comch
