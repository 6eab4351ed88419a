// Connections, messages and peers of an endpoint. JavaScript names a peer by its number.
#include <utility>

#include "binding/background_call.h"
#include "binding/endpoint.h"

namespace verbs::doca_comm::binding {

namespace {

doca_comm_channel_addr_t* address(const Endpoint& ep, const Napi::Value& peer) {
  return ep.address_of(number_of<std::uint32_t>(peer));
}

// An empty view may have no address; the C function wants one.
Bytes message_of(Napi::Value view) {
  static std::uint8_t nothing;
  const Bytes bytes = bytes_of(view);
  return bytes.size == 0 ? Bytes{&nothing, 0} : bytes;
}

// connect(endpoint, name): the peer's number, or the error
Napi::Value connect(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  doca_comm_channel_addr_t* peer = nullptr;
  const std::string name = string_of(info[1]);
  const doca_error_t error = ep.functions().ep_connect(ep.get(), name.c_str(), &peer);
  return error ? failure(info.Env(), error) : number(info.Env(), ep.number_of(peer));
}

// connectInBackground(endpoint, name): a promise of the same. Until it is settled, every other call is INVALID_VALUE.
Napi::Value connect_in_background(const Napi::CallbackInfo& info) {
  struct Result {
    std::string name;
    doca_comm_channel_addr_t* peer = nullptr;
  };
  Endpoint& ep = endpoint_of(info);
  const ChannelFunctions& f = ep.functions();
  doca_comm_channel_ep_t* handle = ep.get();
  const auto result = std::make_shared<Result>(Result{string_of(info[1])});
  const auto work = [&f, handle, result] { return f.ep_connect(handle, result->name.c_str(), &result->peer); };
  const Napi::Value promise =
      BackgroundCall::start(info, ep, work, [&ep, handle, result](doca_error_t error) -> double {
        if (handle) ep.set_connecting(false);
        return error ? result_of(error) : ep.number_of(result->peer);
      });
  if (handle) ep.set_connecting(true);
  return promise;
}

// disconnect(endpoint, peer)
Napi::Value disconnect(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  doca_comm_channel_addr_t* peer = address(ep, info[1]);
  if (!peer) return failure(info.Env(), DOCA_ERROR_NOT_CONNECTED);
  const doca_error_t error = ep.functions().ep_disconnect(ep.get(), peer);
  // Whatever it says, the address is not valid any more.
  ep.forget(number_of<std::uint32_t>(info[1]));
  return failure(info.Env(), error);
}

// disconnectInBackground(endpoint, peer): a promise of the same. DOCA's own library must not be called from two
// threads: there the call blocks.
Napi::Value disconnect_in_background(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const ChannelFunctions& f = ep.functions();
  doca_comm_channel_ep_t* handle = ep.get();
  doca_comm_channel_addr_t* peer = address(ep, info[1]);
  if (peer) ep.begin_forgetting(number_of<std::uint32_t>(info[1]));
  BackgroundCall::Work work = [&f, handle, peer] {
    return peer ? f.ep_disconnect(handle, peer) : DOCA_ERROR_NOT_CONNECTED;
  };
  if (!ep.library().soft()) {
    const doca_error_t error = work();
    work = [error] { return error; };
    // From now on it may be another peer's.
    if (peer) ep.end_forgetting(std::exchange(peer, nullptr));
  }
  return BackgroundCall::start(info, ep, std::move(work), [&ep, peer](doca_error_t error) {
    if (peer) ep.end_forgetting(peer);
    return result_of(error);
  });
}

// sendTo(endpoint, message, peer)
Napi::Value send_to(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const Bytes message = message_of(info[1]);
  return failure(info.Env(), ep.functions().ep_sendto(ep.get(), message.data, message.size, DOCA_CC_MSG_FLAG_NONE,
                                                      address(ep, info[2])));
}

// recvFrom(endpoint, buffer, from): the length, or the error; the peer's number in from[0], 0 if there is none
Napi::Value recv_from(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const Bytes buffer = message_of(info[1]);
  const auto from = words_of<std::uint32_t>(info[2]);
  if (from.size == 0) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  std::size_t length = buffer.size;
  doca_comm_channel_addr_t* peer = nullptr;
  const doca_error_t error = ep.functions().ep_recvfrom(ep.get(), buffer.data, &length, DOCA_CC_MSG_FLAG_NONE, &peer);
  if (error == DOCA_ERROR_AGAIN) return failure(info.Env(), error);
  from.data[0] = peer ? ep.number_of(peer) : 0;
  return error ? failure(info.Env(), error) : number(info.Env(), static_cast<double>(length));
}

// updateInfo(endpoint, peer)
Napi::Value update_info(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  return failure(info.Env(), ep.functions().peer_addr_update_info(address(ep, info[1])));
}

// statistics(endpoint, peer, out): five counters into a BigUint64Array
Napi::Value statistics(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const ChannelFunctions& f = ep.functions();
  const auto out = words_of<std::uint64_t>(info[2]);
  const std::array getters{f.peer_addr_get_send_messages, f.peer_addr_get_send_bytes, f.peer_addr_get_recv_messages,
                           f.peer_addr_get_recv_bytes, f.peer_addr_get_send_in_flight_messages};
  if (out.size < getters.size()) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  for (std::size_t i = 0; i < getters.size(); ++i) {
    std::uint64_t value = 0;
    if (const doca_error_t error = getters[i](address(ep, info[1]), &value)) return failure(info.Env(), error);
    out.data[i] = value;
  }
  return number(info.Env(), 0);
}

// getUserData(endpoint, peer): a bigint, or the error
Napi::Value get_user_data(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  std::uint64_t value = 0;
  const doca_error_t error = ep.functions().peer_addr_get_user_data(address(ep, info[1]), &value);
  if (error != DOCA_SUCCESS) return failure(info.Env(), error);
  return big(info.Env(), value);
}

// setUserData(endpoint, peer, value)
Napi::Value set_user_data(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  return failure(info.Env(), ep.functions().peer_addr_set_user_data(address(ep, info[1]), u64_of(info[2])));
}

Napi::Value update_service(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const auto update = ep.functions().ep_update_service_state_info;
  return failure(info.Env(), update ? update(ep.get()) : DOCA_ERROR_NOT_SUPPORTED);
}

// peerList(endpoint): the peers' numbers as of the last update, or the error
Napi::Value peer_list(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  doca_comm_channel_addr_t** list = nullptr;
  std::uint32_t count = 0;
  const auto get = ep.functions().ep_get_peer_addr_list;
  const doca_error_t error = get ? get(ep.get(), &list, &count) : DOCA_ERROR_NOT_SUPPORTED;
  if (error != DOCA_SUCCESS) return failure(info.Env(), error);
  Napi::Array result = Napi::Array::New(info.Env(), count);
  for (std::uint32_t i = 0; i < count; ++i) result[i] = number(info.Env(), ep.number_of(list[i]));
  return result;
}

Napi::Value pending_connections(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  std::uint32_t count = 0;
  const auto get = ep.functions().ep_get_pending_connections;
  const doca_error_t error = get ? get(ep.get(), &count) : DOCA_ERROR_NOT_SUPPORTED;
  return error ? failure(info.Env(), error) : number(info.Env(), count);
}

}  // namespace

void Endpoint::init_peers(Napi::Object exports) {
  export_function<connect>(exports, "connect");
  export_function<disconnect>(exports, "disconnect");
  export_function<connect_in_background>(exports, "connectInBackground");
  export_function<disconnect_in_background>(exports, "disconnectInBackground");
  export_function<send_to>(exports, "sendTo");
  export_function<recv_from>(exports, "recvFrom");
  export_function<update_info>(exports, "updateInfo");
  export_function<statistics>(exports, "statistics");
  export_function<get_user_data>(exports, "getUserData");
  export_function<set_user_data>(exports, "setUserData");
  export_function<update_service>(exports, "updateService");
  export_function<peer_list>(exports, "peerList");
  export_function<pending_connections>(exports, "pendingConnections");
}

}  // namespace verbs::doca_comm::binding
