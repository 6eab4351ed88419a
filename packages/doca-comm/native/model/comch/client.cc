#include "model/comch/client.h"

#include <mutex>
#include <utility>

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
  if (!Bluefield::get().hold(dev)) return DOCA_ERROR_INVALID_VALUE;
  const auto created = std::make_shared<Client>(dev, name);
  model::publish(std::static_pointer_cast<Context>(created));
  created->handle_ = ClientPool::get().add(created);
  *client = created->handle_;
  return DOCA_SUCCESS;
}

doca_error_t Client::open() {
  if (const doca_error_t error = prepare()) return error;
  client_ = std::make_shared<model::Client>(*device(), sizes());
  doca_error_t error = client_->open();
  if (error == DOCA_SUCCESS) error = opened();
  if (error == DOCA_SUCCESS) {
    error = client_->request(client_, name_);
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
    if (Peer* peer = client_->established()) link_ = &add_link(*peer, client_);
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
