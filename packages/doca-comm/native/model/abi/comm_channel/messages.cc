// Connections, messages, and the counters of peer addresses.
#include "model/base/boundary.h"
#include "model/channel/endpoint.h"

using verbs::doca_comm::model::contained;
using verbs::doca_comm::model::Endpoint;
using verbs::doca_comm::model::Peer;
using verbs::doca_comm::model::Statistics;
using verbs::doca_comm::model::Transport;

namespace {

Endpoint* of(const doca_comm_channel_ep_t* ep) { return verbs::doca_comm::model::find_endpoint(ep); }
Peer* of(const doca_comm_channel_addr_t* addr) { return verbs::doca_comm::model::find_peer(addr); }

doca_error_t statistic(const doca_comm_channel_addr_t* peer_addr, std::uint64_t Statistics::* member,
                       std::uint64_t* value) {
  const Peer* peer = of(peer_addr);
  if (!peer || !value) return DOCA_ERROR_INVALID_VALUE;
  *value = peer->updated.*member;
  return DOCA_SUCCESS;
}

}  // namespace

extern "C" {

doca_error_t doca_comm_channel_ep_listen(doca_comm_channel_ep_t* local_ep, const char* name) {
  return contained(
      [&]() -> doca_error_t { return of(local_ep) && name ? of(local_ep)->listen(name) : DOCA_ERROR_INVALID_VALUE; });
}

doca_error_t doca_comm_channel_ep_connect(doca_comm_channel_ep_t* local_ep, const char* name,
                                          doca_comm_channel_addr_t** peer_addr) {
  return contained([&]() -> doca_error_t {
    return of(local_ep) && name && peer_addr ? of(local_ep)->connect(name, peer_addr) : DOCA_ERROR_INVALID_VALUE;
  });
}

doca_error_t doca_comm_channel_ep_disconnect(doca_comm_channel_ep_t* local_ep, doca_comm_channel_addr_t* peer_addr) {
  return contained([&]() -> doca_error_t {
    if (!of(local_ep)) return DOCA_ERROR_INVALID_VALUE;
    Peer* peer = of(peer_addr);
    return peer ? of(local_ep)->disconnect(*peer) : DOCA_ERROR_NOT_CONNECTED;
  });
}

// A message of no bytes is delivered like any other.
doca_error_t doca_comm_channel_ep_sendto(doca_comm_channel_ep_t* local_ep, const void* msg, std::size_t len, int flags,
                                         doca_comm_channel_addr_t* peer_addr) {
  return contained([&]() -> doca_error_t {
    if (!of(local_ep) || !msg || flags != DOCA_CC_MSG_FLAG_NONE) return DOCA_ERROR_INVALID_VALUE;
    Peer* peer = of(peer_addr);
    Transport* transport = of(local_ep)->transport();
    if (!peer || !transport || peer->transport != transport) return DOCA_ERROR_NOT_CONNECTED;
    const std::lock_guard guard(transport->mutex());
    return len > of(local_ep)->sizes().message ? DOCA_ERROR_INVALID_VALUE : transport->send(*peer, msg, len);
  });
}

// INVALID_VALUE for a buffer that is too small: *len is the size needed, and the message stays in the queue.
doca_error_t doca_comm_channel_ep_recvfrom(doca_comm_channel_ep_t* local_ep, void* msg, std::size_t* len, int flags,
                                           doca_comm_channel_addr_t** peer_addr) {
  return contained([&]() -> doca_error_t {
    if (!of(local_ep) || !msg || !len || !peer_addr || flags != DOCA_CC_MSG_FLAG_NONE) return DOCA_ERROR_INVALID_VALUE;
    return of(local_ep)->receive(msg, len, peer_addr);
  });
}

doca_error_t doca_comm_channel_peer_addr_get_user_data(doca_comm_channel_addr_t* peer_addr, std::uint64_t* user_data) {
  return contained([&]() -> doca_error_t {
    const Peer* peer = of(peer_addr);
    if (!peer || !user_data) return DOCA_ERROR_INVALID_VALUE;
    *user_data = peer->user_data;
    return DOCA_SUCCESS;
  });
}

doca_error_t doca_comm_channel_peer_addr_set_user_data(doca_comm_channel_addr_t* peer_addr,
                                                       std::uint64_t user_context) {
  return contained([&]() -> doca_error_t {
    Peer* peer = of(peer_addr);
    if (!peer) return DOCA_ERROR_INVALID_VALUE;
    peer->user_data = user_context;
    return DOCA_SUCCESS;
  });
}

doca_error_t doca_comm_channel_peer_addr_update_info(doca_comm_channel_addr_t* peer_addr) {
  return contained([&]() -> doca_error_t {
    Peer* peer = of(peer_addr);
    if (!peer) return DOCA_ERROR_INVALID_VALUE;
    const std::lock_guard guard(peer->transport->mutex());
    return peer->transport->update(*peer);
  });
}

doca_error_t doca_comm_channel_peer_addr_get_send_messages(const doca_comm_channel_addr_t* peer_addr,
                                                           std::uint64_t* send_messages) {
  return contained([&]() -> doca_error_t { return statistic(peer_addr, &Statistics::send_messages, send_messages); });
}
doca_error_t doca_comm_channel_peer_addr_get_send_bytes(const doca_comm_channel_addr_t* peer_addr,
                                                        std::uint64_t* send_bytes) {
  return contained([&]() -> doca_error_t { return statistic(peer_addr, &Statistics::send_bytes, send_bytes); });
}
doca_error_t doca_comm_channel_peer_addr_get_recv_messages(const doca_comm_channel_addr_t* peer_addr,
                                                           std::uint64_t* recv_messages) {
  return contained([&]() -> doca_error_t { return statistic(peer_addr, &Statistics::recv_messages, recv_messages); });
}
doca_error_t doca_comm_channel_peer_addr_get_recv_bytes(const doca_comm_channel_addr_t* peer_addr,
                                                        std::uint64_t* recv_bytes) {
  return contained([&]() -> doca_error_t { return statistic(peer_addr, &Statistics::recv_bytes, recv_bytes); });
}
doca_error_t doca_comm_channel_peer_addr_get_send_in_flight_messages(const doca_comm_channel_addr_t* peer_addr,
                                                                     std::uint64_t* send_in_flight_messages) {
  return contained(
      [&]() -> doca_error_t { return statistic(peer_addr, &Statistics::in_flight, send_in_flight_messages); });
}

}  // extern "C"
