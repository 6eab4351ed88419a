#include "model/channel/endpoint.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "model/base/error.h"
#include "model/bluefield/model.h"
#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

namespace {

// One for the process, whichever library the user calls.
using EndpointPool = HandlePool<doca_comm_channel_ep_t, Endpoint>;

bool is_name(const char* name) {
  const std::size_t length = strnlen(name, kMaxNameLength);
  return length > 0 && length < kMaxNameLength;
}

}  // namespace

doca_comm_channel_ep_t* publish(std::shared_ptr<Endpoint> endpoint) {
  return EndpointPool::get().add(std::move(endpoint));
}

Endpoint* find_endpoint(const doca_comm_channel_ep_t* handle) { return EndpointPool::get().find(handle); }

bool destroy_endpoint(doca_comm_channel_ep_t* handle) {
  return find_endpoint(handle) && EndpointPool::get().remove(handle);
}

doca_error_t Endpoint::create(std::shared_ptr<Endpoint>* endpoint) {
  // The fault plan simulates a system without memory, descriptors or driver.
  if (const int error = Faults::get().next(Fault::kAllocate)) return error_of(error, DOCA_ERROR_NO_MEMORY);
  if (const int error = Faults::get().next(Fault::kDescriptor)) return error_of(error, DOCA_ERROR_INITIALIZATION);
  if (!attached_verbs() || Faults::get().next(Fault::kQueryDevice) != 0) return DOCA_ERROR_DRIVER;
  endpoint->reset(new Endpoint);
  return DOCA_SUCCESS;
}

Endpoint::~Endpoint() {
  if (service_) service_->close();
  if (client_) client_->close();
  if (rep_) Bluefield::get().release(rep_);
  if (dev_) Bluefield::get().release(dev_);
}

Transport* Endpoint::transport() const {
  if (service_) return &service_->transport();
  return client_ ? &client_->transport() : nullptr;
}

doca_error_t Endpoint::set_device(doca_dev* dev) {
  if (active()) return DOCA_ERROR_BAD_STATE;
  if (!Bluefield::get().hold(dev)) return DOCA_ERROR_INVALID_VALUE;
  if (dev_) Bluefield::get().release(dev_);
  dev_ = dev;
  return DOCA_SUCCESS;
}

doca_error_t Endpoint::set_representor(doca_dev_rep* rep) {
  if (active()) return DOCA_ERROR_BAD_STATE;
  if (!Bluefield::get().hold(rep)) return DOCA_ERROR_INVALID_VALUE;
  if (rep_) Bluefield::get().release(rep_);
  rep_ = rep;
  return DOCA_SUCCESS;
}

doca_error_t Endpoint::set_message_size(std::uint16_t size) {
  if (active()) return DOCA_ERROR_BAD_STATE;
  if (size > kMaxMessage) return DOCA_ERROR_INVALID_VALUE;
  sizes_.message = std::max(size, kMinMessage);
  return DOCA_SUCCESS;
}

doca_error_t Endpoint::set_queue_size(std::uint16_t Sizes::* queue, std::uint16_t size) {
  if (active()) return DOCA_ERROR_BAD_STATE;
  if (size > kMaxQueue) return DOCA_ERROR_INVALID_VALUE;
  sizes_.*queue = std::bit_ceil(std::max(size, kMinQueue));
  return DOCA_SUCCESS;
}

doca_error_t Endpoint::listen(const char* name) {
  if (active()) return DOCA_ERROR_NOT_PERMITTED;
  if (!dev_) return DOCA_ERROR_BAD_STATE;
  if (!dev_->info->options.dpu) return DOCA_ERROR_NOT_SUPPORTED;
  if (!rep_ || rep_->info->parent != dev_->info) return DOCA_ERROR_BAD_STATE;
  if (!is_name(name)) return DOCA_ERROR_CONNECTION_ABORTED;
  return Service::listen(*dev_, *rep_->info, sizes_, name, &service_);
}

doca_error_t Endpoint::connect(const char* name, doca_comm_channel_addr_t** address) {
  if (service_ || connected()) return DOCA_ERROR_NOT_PERMITTED;
  if (!dev_) return DOCA_ERROR_BAD_STATE;
  if (dev_->info->options.dpu) return DOCA_ERROR_NOT_SUPPORTED;
  if (!is_name(name)) return DOCA_ERROR_CONNECTION_ABORTED;
  if (client_) return client_->connect(client_, name, address);
  auto client = std::make_shared<Client>(*dev_, sizes_);
  if (const doca_error_t error = client->open()) return error;
  const doca_error_t error = client->connect(client, name, address);
  // A failed connect() leaves the endpoint as it was.
  if (error == DOCA_SUCCESS) client_ = std::move(client);
  return error;
}

bool Endpoint::connected() const {
  if (!client_) return false;
  const std::lock_guard guard(client_->transport().mutex());
  return client_->connected();
}

doca_error_t Endpoint::disconnect(Peer& peer) {
  if (!transport() || peer.transport != transport()) return DOCA_ERROR_NOT_CONNECTED;
  return client_ ? client_->disconnect() : service_->disconnect(peer.number);
}

doca_error_t Endpoint::receive(void* message, std::size_t* size, doca_comm_channel_addr_t** from) {
  if (!transport()) return DOCA_ERROR_NOT_CONNECTED;
  const std::lock_guard guard(transport()->mutex());
  return service_ ? service_->receive(message, size, from) : client_->receive(message, size, from);
}

void Endpoint::arm_recv() {
  if (!transport()) return;
  const std::lock_guard guard(transport()->mutex());
  if (service_) {
    service_->arm_recv();
  } else {
    client_->arm_recv();
  }
}

}  // namespace verbs::doca_comm::model
