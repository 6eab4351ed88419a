#include "binding/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace verbs::rdmacm::binding {

SocketAddress::SocketAddress(napi_env env, napi_value value) {
  if (is_undefined(env, value)) return;
  const std::string address = to_string(env, provider::get(env, value, "address"));
  const in_port_t port = htons(static_cast<std::uint16_t>(to_u32(env, provider::get(env, value, "port"))));
  if (to_integer(env, provider::get(env, value, "family")) == 4) {
    auto* in = reinterpret_cast<sockaddr_in*>(&storage_);
    in->sin_family = AF_INET;
    in->sin_port = port;
    inet_pton(AF_INET, address.c_str(), &in->sin_addr);
    length_ = sizeof *in;
  } else {
    auto* in6 = reinterpret_cast<sockaddr_in6*>(&storage_);
    in6->sin6_family = AF_INET6;
    in6->sin6_port = port;
    in6->sin6_flowinfo = htonl(to_u32(env, provider::get(env, value, "flowInfo")));
    in6->sin6_scope_id = to_u32(env, provider::get(env, value, "scopeId"));
    inet_pton(AF_INET6, address.c_str(), &in6->sin6_addr);
    length_ = sizeof *in6;
  }
}

napi_value write_address(napi_env env, const sockaddr* address) {
  if (!address || (address->sa_family != AF_INET && address->sa_family != AF_INET6)) return undefined(env);
  char name[INET6_ADDRSTRLEN] = "";
  napi_value result = object(env);
  if (address->sa_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(address);
    inet_ntop(AF_INET, &in->sin_addr, name, sizeof name);
    set(env, result, "family", number(env, 4));
    set(env, result, "port", number(env, ntohs(in->sin_port)));
  } else {
    const auto* in6 = reinterpret_cast<const sockaddr_in6*>(address);
    inet_ntop(AF_INET6, &in6->sin6_addr, name, sizeof name);
    set(env, result, "family", number(env, 6));
    set(env, result, "port", number(env, ntohs(in6->sin6_port)));
    set(env, result, "flowInfo", number(env, ntohl(in6->sin6_flowinfo)));
    set(env, result, "scopeId", number(env, in6->sin6_scope_id));
  }
  set(env, result, "address", text(env, name));
  return result;
}

}  // namespace verbs::rdmacm::binding
