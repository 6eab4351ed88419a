#include "binding/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace verbs::rdmacm::binding {

SocketAddress::SocketAddress(Napi::Value value) {
  if (value.IsUndefined()) return;
  const Fields given(value);
  const std::string address = given.string("address");
  const in_port_t port = htons(given.number<std::uint16_t>("port"));
  if (given.number<int>("family") == 4) {
    auto* in = reinterpret_cast<sockaddr_in*>(&storage_);
    in->sin_family = AF_INET;
    in->sin_port = port;
    inet_pton(AF_INET, address.c_str(), &in->sin_addr);
    length_ = sizeof *in;
  } else {
    auto* in6 = reinterpret_cast<sockaddr_in6*>(&storage_);
    in6->sin6_family = AF_INET6;
    in6->sin6_port = port;
    in6->sin6_flowinfo = htonl(given.u32("flowInfo"));
    in6->sin6_scope_id = given.u32("scopeId");
    inet_pton(AF_INET6, address.c_str(), &in6->sin6_addr);
    length_ = sizeof *in6;
  }
}

Napi::Value write_address(Napi::Env env, const sockaddr* address) {
  if (!address || (address->sa_family != AF_INET && address->sa_family != AF_INET6)) return env.Undefined();
  char name[INET6_ADDRSTRLEN] = "";
  Napi::Object result = Napi::Object::New(env);
  if (address->sa_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(address);
    inet_ntop(AF_INET, &in->sin_addr, name, sizeof name);
    result.Set("family", 4);
    result.Set("port", ntohs(in->sin_port));
  } else {
    const auto* in6 = reinterpret_cast<const sockaddr_in6*>(address);
    inet_ntop(AF_INET6, &in6->sin6_addr, name, sizeof name);
    result.Set("family", 6);
    result.Set("port", ntohs(in6->sin6_port));
    result.Set("flowInfo", ntohl(in6->sin6_flowinfo));
    result.Set("scopeId", in6->sin6_scope_id);
  }
  result.Set("address", name);
  return result;
}

}  // namespace verbs::rdmacm::binding
