// Endpoints: capabilities, properties, events, state of a service.
#include "model/channel/endpoint.h"

#include "model/base/boundary.h"

using verbs::doca_comm::model::Bluefield;
using verbs::doca_comm::model::contained;
using verbs::doca_comm::model::Endpoint;
using verbs::doca_comm::model::Fault;
using verbs::doca_comm::model::Faults;
using verbs::doca_comm::model::Service;
using verbs::doca_comm::model::Sizes;
using verbs::doca_comm::model::Transport;

namespace {

Endpoint* of(const doca_comm_channel_ep_t* ep) { return verbs::doca_comm::model::find_endpoint(ep); }

doca_error_t capability(doca_devinfo* devinfo, std::uint32_t value, std::uint32_t* result) {
  if (!devinfo || !result || !Bluefield::get().knows(devinfo)) return DOCA_ERROR_INVALID_VALUE;
  if (Faults::get().next(Fault::kQueryDevice) != 0) return DOCA_ERROR_UNEXPECTED;
  *result = value;
  return DOCA_SUCCESS;
}

doca_error_t size_of(doca_comm_channel_ep_t* ep, std::uint16_t Sizes::* member, std::uint16_t* size) {
  if (!of(ep) || !size) return DOCA_ERROR_INVALID_VALUE;
  *size = of(ep)->sizes().*member;
  return DOCA_SUCCESS;
}

// The service of an endpoint. NOT_SUPPORTED for a client, `idle` for an endpoint that neither listens nor is connected.
doca_error_t service_of(const doca_comm_channel_ep_t* ep, doca_error_t idle, Service** service) {
  if (!of(ep)) return DOCA_ERROR_INVALID_VALUE;
  *service = of(ep)->service();
  if (*service) return DOCA_SUCCESS;
  return of(ep)->client() ? DOCA_ERROR_NOT_SUPPORTED : idle;
}

}  // namespace

extern "C" {

doca_error_t doca_comm_channel_get_max_service_name_len(std::uint32_t* max_service_name_len) {
  return contained([&]() -> doca_error_t {
    if (!max_service_name_len) return DOCA_ERROR_INVALID_VALUE;
    *max_service_name_len = verbs::doca_comm::model::kMaxNameLength;
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_comm_channel_get_max_message_size(doca_devinfo* devinfo, std::uint32_t* max_message_size) {
  return contained(
      [&]() -> doca_error_t { return capability(devinfo, verbs::doca_comm::model::kMaxMessage, max_message_size); });
}
doca_error_t doca_comm_channel_get_max_send_queue_size(doca_devinfo* devinfo, std::uint32_t* max_send_queue_size) {
  return contained(
      [&]() -> doca_error_t { return capability(devinfo, verbs::doca_comm::model::kMaxQueue, max_send_queue_size); });
}
doca_error_t doca_comm_channel_get_max_recv_queue_size(doca_devinfo* devinfo, std::uint32_t* max_recv_queue_size) {
  return contained(
      [&]() -> doca_error_t { return capability(devinfo, verbs::doca_comm::model::kMaxQueue, max_recv_queue_size); });
}
doca_error_t doca_comm_channel_get_service_max_num_connections(doca_devinfo* devinfo,
                                                               std::uint32_t* max_num_connections) {
  return contained([&]() -> doca_error_t {
    if (!devinfo || !max_num_connections || !Bluefield::get().knows(devinfo)) return DOCA_ERROR_INVALID_VALUE;
    if (!devinfo->options.dpu) return DOCA_ERROR_NOT_SUPPORTED;
    return capability(devinfo, devinfo->options.max_connections, max_num_connections);
  });
}

doca_error_t doca_comm_channel_ep_create(doca_comm_channel_ep_t** ep) {
  return contained([&]() -> doca_error_t {
    if (!ep) return DOCA_ERROR_INVALID_VALUE;
    std::shared_ptr<Endpoint> created;
    if (const doca_error_t error = Endpoint::create(&created)) return error;
    *ep = verbs::doca_comm::model::publish(std::move(created));
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_comm_channel_ep_destroy(doca_comm_channel_ep_t* local_ep) {
  return contained([&]() -> doca_error_t {
    return verbs::doca_comm::model::destroy_endpoint(local_ep) ? DOCA_SUCCESS : DOCA_ERROR_NOT_CONNECTED;
  });
}

doca_error_t doca_comm_channel_ep_get_device(doca_comm_channel_ep_t* ep, doca_dev** device) {
  return contained([&]() -> doca_error_t {
    if (!of(ep) || !device) return DOCA_ERROR_INVALID_VALUE;
    *device = of(ep)->device();
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_comm_channel_ep_get_device_rep(doca_comm_channel_ep_t* ep, doca_dev_rep** device_rep) {
  return contained([&]() -> doca_error_t {
    if (!of(ep) || !device_rep) return DOCA_ERROR_INVALID_VALUE;
    *device_rep = of(ep)->representor();
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_comm_channel_ep_get_max_msg_size(doca_comm_channel_ep_t* ep, std::uint16_t* max_msg_size) {
  return contained([&]() -> doca_error_t { return size_of(ep, &Sizes::message, max_msg_size); });
}
doca_error_t doca_comm_channel_ep_get_send_queue_size(doca_comm_channel_ep_t* ep, std::uint16_t* send_queue_size) {
  return contained([&]() -> doca_error_t { return size_of(ep, &Sizes::send_queue, send_queue_size); });
}
doca_error_t doca_comm_channel_ep_get_recv_queue_size(doca_comm_channel_ep_t* ep, std::uint16_t* recv_queue_size) {
  return contained([&]() -> doca_error_t { return size_of(ep, &Sizes::recv_queue, recv_queue_size); });
}

doca_error_t doca_comm_channel_ep_set_device(doca_comm_channel_ep_t* ep, doca_dev* device) {
  return contained(
      [&]() -> doca_error_t { return of(ep) && device ? of(ep)->set_device(device) : DOCA_ERROR_INVALID_VALUE; });
}
doca_error_t doca_comm_channel_ep_set_device_rep(doca_comm_channel_ep_t* ep, doca_dev_rep* device_rep) {
  return contained([&]() -> doca_error_t {
    return of(ep) && device_rep ? of(ep)->set_representor(device_rep) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_comm_channel_ep_set_max_msg_size(doca_comm_channel_ep_t* ep, std::uint16_t max_msg_size) {
  return contained(
      [&]() -> doca_error_t { return of(ep) ? of(ep)->set_message_size(max_msg_size) : DOCA_ERROR_INVALID_VALUE; });
}
doca_error_t doca_comm_channel_ep_set_send_queue_size(doca_comm_channel_ep_t* ep, std::uint16_t send_queue_size) {
  return contained([&]() -> doca_error_t {
    return of(ep) ? of(ep)->set_queue_size(&Sizes::send_queue, send_queue_size) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_comm_channel_ep_set_recv_queue_size(doca_comm_channel_ep_t* ep, std::uint16_t recv_queue_size) {
  return contained([&]() -> doca_error_t {
    return of(ep) ? of(ep)->set_queue_size(&Sizes::recv_queue, recv_queue_size) : DOCA_ERROR_INVALID_VALUE;
  });
}

doca_error_t doca_comm_channel_ep_get_event_channel(doca_comm_channel_ep_t* local_ep,
                                                    doca_event_channel_t* send_event_channel,
                                                    doca_event_channel_t* recv_event_channel) {
  return contained([&]() -> doca_error_t {
    if (!of(local_ep) || (!send_event_channel && !recv_event_channel)) return DOCA_ERROR_INVALID_VALUE;
    const Transport* transport = of(local_ep)->transport();
    if (!transport) return DOCA_ERROR_BAD_STATE;
    if (Faults::get().next(Fault::kDescriptor) != 0) return DOCA_ERROR_NOT_FOUND;
    if (send_event_channel) *send_event_channel = transport->send_fd();
    if (recv_event_channel) *recv_event_channel = transport->recv_fd();
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_comm_channel_ep_get_service_event_channel(doca_comm_channel_ep_t* local_ep,
                                                            doca_event_channel_t* service_event_channel) {
  return contained([&]() -> doca_error_t {
    if (!service_event_channel) return DOCA_ERROR_INVALID_VALUE;
    Service* service = nullptr;
    if (const doca_error_t error = service_of(local_ep, DOCA_ERROR_BAD_STATE, &service)) return error;
    *service_event_channel = service->fd();
    return DOCA_SUCCESS;
  });
}
// Before listen or connect there is nothing to arm, and the result is SUCCESS.
doca_error_t doca_comm_channel_ep_event_handle_arm_send(doca_comm_channel_ep_t* local_ep) {
  return contained([&]() -> doca_error_t {
    if (!of(local_ep)) return DOCA_ERROR_INVALID_VALUE;
    if (Transport* transport = of(local_ep)->transport()) {
      const std::lock_guard guard(transport->mutex());
      transport->arm_send();
    }
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_comm_channel_ep_event_handle_arm_recv(doca_comm_channel_ep_t* local_ep) {
  return contained([&]() -> doca_error_t {
    if (!of(local_ep)) return DOCA_ERROR_INVALID_VALUE;
    of(local_ep)->arm_recv();
    return DOCA_SUCCESS;
  });
}

doca_error_t doca_comm_channel_ep_update_service_state_info(doca_comm_channel_ep_t* local_ep) {
  return contained([&]() -> doca_error_t {
    Service* service = nullptr;
    if (const doca_error_t error = service_of(local_ep, DOCA_ERROR_INVALID_VALUE, &service)) return error;
    const std::lock_guard guard(service->transport().mutex());
    return service->update_state();
  });
}
doca_error_t doca_comm_channel_ep_get_peer_addr_list(const doca_comm_channel_ep_t* local_ep,
                                                     doca_comm_channel_addr_t*** peer_addr_array,
                                                     std::uint32_t* peer_addr_array_len) {
  return contained([&]() -> doca_error_t {
    if (!peer_addr_array || !peer_addr_array_len) return DOCA_ERROR_INVALID_VALUE;
    Service* service = nullptr;
    if (const doca_error_t error = service_of(local_ep, DOCA_ERROR_INVALID_VALUE, &service)) return error;
    const auto& peers = service->peers();
    *peer_addr_array = const_cast<doca_comm_channel_addr_t**>(peers.data());
    *peer_addr_array_len = static_cast<std::uint32_t>(peers.size());
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_comm_channel_ep_get_pending_connections(const doca_comm_channel_ep_t* local_ep,
                                                          std::uint32_t* pending_connections) {
  return contained([&]() -> doca_error_t {
    if (!pending_connections) return DOCA_ERROR_INVALID_VALUE;
    Service* service = nullptr;
    if (const doca_error_t error = service_of(local_ep, DOCA_ERROR_INVALID_VALUE, &service)) return error;
    *pending_connections = service->pending();
    return DOCA_SUCCESS;
  });
}

}  // extern "C"
