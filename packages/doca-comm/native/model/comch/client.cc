#include "model/comch/client.h"

#include <mutex>
#include <utility>

#include "model/base/boundary.h"
#include "model/base/error.h"
#include "model/comch/server.h"
#include "model/engine/engine.h"
#include "model/nic/faults.h"

namespace verbs::doca_comm::model::comch {

namespace {

using ClientPool = HandlePool<doca_comch_client, Client>;

}  // namespace

Client* find_client(const doca_comch_client* handle) { return ClientPool::get().find(handle); }

doca_error_t destroy_client(doca_comch_client* handle) {
  Client* client = find_client(handle);
  if (!client) return DOCA_ERROR_INVALID_VALUE;
  if (!client->idle()) return DOCA_ERROR_IN_USE;
  model::retire(*client);
  ClientPool::get().remove(handle);
  return DOCA_SUCCESS;
}

doca_error_t Client::create(doca_dev* dev, const char* name, doca_comch_client** client) {
  if (!Bluefield::get().is_open(dev) || !is_name(name)) return DOCA_ERROR_INVALID_VALUE;
  if (dev->info->options.dpu) return DOCA_ERROR_NOT_SUPPORTED;
  if (const int error = Faults::get().next(Fault::kAllocate)) return error_of(error, DOCA_ERROR_NO_MEMORY);
  const auto created = std::make_shared<Client>(dev, name);
  if (!created->hold()) return DOCA_ERROR_INVALID_VALUE;
  created->handle_ = publish_as<ClientPool>(created);
  *client = created->handle_;
  return DOCA_SUCCESS;
}

doca_error_t Client::open() {
  if (const doca_error_t error = prepare()) return error;
  client_ = std::make_shared<model::Client>(*device(), sizes());
  doca_error_t error = contained([this] { return client_->open(engine()->fd()); });
  if (error == DOCA_SUCCESS) error = contained([this] { return opened(); });
  if (error == DOCA_SUCCESS) {
    error = contained([this] { return client_->request(client_, name_); });
    // Without a server the context starts all the same, and then ends by itself.
    if (error == DOCA_ERROR_CONNECTION_ABORTED) error = DOCA_SUCCESS;
    if (error == DOCA_SUCCESS) return DOCA_ERROR_IN_PROGRESS;
    finish_close();
    return error;
  }
  shut();
  return error;
}

void Client::shut() {
  client_->close();
  client_.reset();
  link_ = nullptr;
}

bool Client::step() {
  if (state() != DOCA_CTX_STATE_STARTING) return false;
  {
    const std::lock_guard guard(client_->transport().mutex());
    if (client_->handshaking()) return false;
    if (Peer* peer = client_->established()) {
      const std::shared_ptr<Link> link = make_link(client_);
      add_link(link, *peer);
      link_ = link.get();
    }
  }
  if (link_) {
    enter(DOCA_CTX_STATE_RUNNING);
  } else {
    begin_stop();
  }
  return true;
}

bool Client::has_step() const {
  return state() == DOCA_CTX_STATE_STOPPING || (state() == DOCA_CTX_STATE_STARTING && !client_->handshaking());
}

// The program learns of the end of its only peer by the state.
void Client::on_loss(const std::shared_ptr<Link>&) { begin_stop(); }

}  // namespace verbs::doca_comm::model::comch
