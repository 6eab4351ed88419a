#include "binding/device/route.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

namespace verbs::core {
namespace {

using AddressInfo = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// An address as text, of a link-local one with its interface: "fe80::1%eth0".
AddressInfo parse_address(const std::string& text, const char* port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(text.c_str(), port, &hints, &found);
  return {error == 0 ? found : nullptr, freeaddrinfo};
}

// The longest IP packet, that of the interface or what ICMP has told of the way; or -errno. connect() of a datagram
// socket looks the route up and sends nothing.
int mtu_of_way(const addrinfo& from, const addrinfo& to) {
  const int fd = socket(from.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  const bool ipv4 = from.ai_family == AF_INET;
  int mtu = 0;
  socklen_t size = sizeof mtu;
  const bool known = bind(fd, from.ai_addr, from.ai_addrlen) == 0 && connect(fd, to.ai_addr, to.ai_addrlen) == 0 &&
                     getsockopt(fd, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_MTU : IPV6_MTU, &mtu, &size) == 0;
  const int result = known ? mtu : -errno;
  close(fd);
  return result;
}

// routeMtu(source, destination): bytes of the longest IP packet | -errno
Napi::Value route_mtu(const Napi::CallbackInfo& info) {
  constexpr const char* kRocePort = "4791";
  const AddressInfo from = parse_address(string_of(info[0]), "0");
  const AddressInfo to = parse_address(string_of(info[1]), kRocePort);
  if (!from || !to || from->ai_family != to->ai_family) return failure(info.Env(), EAFNOSUPPORT);
  return Napi::Number::New(info.Env(), mtu_of_way(*from, *to));
}

}  // namespace

void init_route(Napi::Object exports) { export_function<route_mtu>(exports, "routeMtu"); }

}  // namespace verbs::core
