// Connections, messages and peers of an endpoint. JavaScript names a peer by its number.
#include "binding/background_call.h"
#include "binding/endpoint.h"

namespace verbs::doca_comm::binding {

namespace {

doca_comm_channel_addr_t* address(const Endpoint& ep, const Napi::Value& peer) {
  return ep.address_of(peer.As<Napi::Number>().Uint32Value());
}

struct Bytes {
  std::uint8_t* data;
  std::size_t size;
};

Bytes bytes_of(const Napi::CallbackInfo& info, std::size_t index) {
  auto view = view_of<Napi::Uint8Array>(info, index, napi_uint8_array);
  // An empty view may have no address; the C function wants one.
  static std::uint8_t nothing;
  return {view.ByteLength() == 0 ? &nothing : view.Data(), view.ByteLength()};
}

// connect(endpoint, name): the peer's number, or the error
Napi::Value connect(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  doca_comm_channel_addr_t* peer = nullptr;
  const std::string name = info[1].As<Napi::String>();
  const doca_error_t error = ep.functions().ep_connect(ep.get(), name.c_str(), &peer);
  return error ? failure(info, error) : number(info, ep.number_of(peer));
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
  const auto result = std::make_shared<Result>(Result{info[1].As<Napi::String>()});
  const auto work = [&f, handle, result] { return f.ep_connect(handle, result->name.c_str(), &result->peer); };
  const Napi::Value promise =
      BackgroundCall::start(info, ep, work, [&ep, handle, result](doca_error_t error) -> double {
        if (handle) ep.set_connecting(false);
        return error ? -static_cast<double>(error) : ep.number_of(result->peer);
      });
  if (handle) ep.set_connecting(true);
  return promise;
}

// disconnect(endpoint, peer)
Napi::Value disconnect(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  doca_comm_channel_addr_t* peer = address(ep, info[1]);
  if (!peer) return failure(info, DOCA_ERROR_NOT_CONNECTED);
  const doca_error_t error = ep.functions().ep_disconnect(ep.get(), peer);
  // Whatever it says, the address is not valid any more.
  ep.forget(info[1].As<Napi::Number>());
  return failure(info, error);
}

// disconnectInBackground(endpoint, peer): a promise of the same. DOCA's own library must not be called from two
// threads: there the call blocks.
Napi::Value disconnect_in_background(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const ChannelFunctions& f = ep.functions();
  doca_comm_channel_ep_t* handle = ep.get();
  doca_comm_channel_addr_t* peer = address(ep, info[1]);
  if (peer) ep.begin_forgetting(info[1].As<Napi::Number>());
  BackgroundCall::Work work = [&f, handle, peer] {
    return peer ? f.ep_disconnect(handle, peer) : DOCA_ERROR_NOT_CONNECTED;
  };
  if (!ep.library().soft()) {
    const doca_error_t error = work();
    work = [error] { return error; };
  }
  return BackgroundCall::start(info, ep, std::move(work), [&ep, peer](doca_error_t error) {
    ep.end_forgetting(peer);
    return -static_cast<double>(error);
  });
}

// sendTo(endpoint, message, peer)
Napi::Value send_to(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const Bytes message = bytes_of(info, 1);
  return failure(info, ep.functions().ep_sendto(ep.get(), message.data, message.size, DOCA_CC_MSG_FLAG_NONE,
                                                address(ep, info[2])));
}

// recvFrom(endpoint, buffer, from): the length, or the error; the peer's number in from[0], 0 if there is none
Napi::Value recv_from(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const Bytes buffer = bytes_of(info, 1);
  auto from = view_of<Napi::Uint32Array>(info, 2, napi_uint32_array);
  if (from.ElementLength() == 0) return failure(info, DOCA_ERROR_INVALID_VALUE);
  std::size_t length = buffer.size;
  doca_comm_channel_addr_t* peer = nullptr;
  const doca_error_t error = ep.functions().ep_recvfrom(ep.get(), buffer.data, &length, DOCA_CC_MSG_FLAG_NONE, &peer);
  if (error == DOCA_ERROR_AGAIN) return failure(info, error);
  from.Data()[0] = peer ? ep.number_of(peer) : 0;
  return error ? failure(info, error) : number(info, static_cast<double>(length));
}

// updateInfo(endpoint, peer)
Napi::Value update_info(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  return failure(info, ep.functions().peer_addr_update_info(address(ep, info[1])));
}

// statistics(endpoint, peer, out): five counters into a BigUint64Array
Napi::Value statistics(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const ChannelFunctions& f = ep.functions();
  auto out = view_of<Napi::BigUint64Array>(info, 2, napi_biguint64_array);
  const std::array getters{f.peer_addr_get_send_messages, f.peer_addr_get_send_bytes, f.peer_addr_get_recv_messages,
                           f.peer_addr_get_recv_bytes, f.peer_addr_get_send_in_flight_messages};
  if (out.ElementLength() < getters.size()) return failure(info, DOCA_ERROR_INVALID_VALUE);
  for (std::size_t i = 0; i < getters.size(); ++i) {
    std::uint64_t value = 0;
    if (const doca_error_t error = getters[i](address(ep, info[1]), &value)) return failure(info, error);
    out.Data()[i] = value;
  }
  return number(info, 0);
}

// getUserData(endpoint, peer): a bigint, or the error
Napi::Value get_user_data(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  std::uint64_t value = 0;
  const doca_error_t error = ep.functions().peer_addr_get_user_data(address(ep, info[1]), &value);
  if (error != DOCA_SUCCESS) return failure(info, error);
  return Napi::BigInt::New(info.Env(), value);
}

// setUserData(endpoint, peer, value)
Napi::Value set_user_data(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  bool lossless = false;
  const std::uint64_t value = info[2].As<Napi::BigInt>().Uint64Value(&lossless);
  return failure(info, ep.functions().peer_addr_set_user_data(address(ep, info[1]), value));
}

Napi::Value update_service(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const auto update = ep.functions().ep_update_service_state_info;
  return failure(info, update ? update(ep.get()) : DOCA_ERROR_NOT_SUPPORTED);
}

// peerList(endpoint): the peers' numbers as of the last update, or the error
Napi::Value peer_list(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  doca_comm_channel_addr_t** list = nullptr;
  std::uint32_t count = 0;
  const auto get = ep.functions().ep_get_peer_addr_list;
  const doca_error_t error = get ? get(ep.get(), &list, &count) : DOCA_ERROR_NOT_SUPPORTED;
  if (error != DOCA_SUCCESS) return failure(info, error);
  Napi::Array result = Napi::Array::New(info.Env(), count);
  for (std::uint32_t i = 0; i < count; ++i) result[i] = number(info, ep.number_of(list[i]));
  return result;
}

Napi::Value pending_connections(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  std::uint32_t count = 0;
  const auto get = ep.functions().ep_get_pending_connections;
  const doca_error_t error = get ? get(ep.get(), &count) : DOCA_ERROR_NOT_SUPPORTED;
  return error ? failure(info, error) : number(info, count);
}

}  // namespace

void Endpoint::init_peers(Napi::Object exports) {
  add_function<connect>(exports, "connect");
  add_function<disconnect>(exports, "disconnect");
  add_function<connect_in_background>(exports, "connectInBackground");
  add_function<disconnect_in_background>(exports, "disconnectInBackground");
  add_function<send_to>(exports, "sendTo");
  add_function<recv_from>(exports, "recvFrom");
  add_function<update_info>(exports, "updateInfo");
  add_function<statistics>(exports, "statistics");
  add_function<get_user_data>(exports, "getUserData");
  add_function<set_user_data>(exports, "setUserData");
  add_function<update_service>(exports, "updateService");
  add_function<peer_list>(exports, "peerList");
  add_function<pending_connections>(exports, "pendingConnections");
}

}  // namespace verbs::doca_comm::binding
