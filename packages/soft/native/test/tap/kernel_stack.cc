#include "test/tap/kernel_stack.h"

#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

namespace verbs::soft::test {
namespace {

constexpr std::size_t kEthernet = 14, kIp = 20;
constexpr std::uint8_t kEchoRequest = 8, kEchoAnswer = 0;

struct Request {
  explicit Request(const std::string& interface) { interface.copy(ifr.ifr_name, sizeof ifr.ifr_name - 1); }
  bool run(unsigned long what) {
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool done = ioctl(fd, what, &ifr) == 0;
    close(fd);
    return done;
  }
  void address(std::array<std::uint8_t, 4> ip) {
    auto* to = reinterpret_cast<sockaddr_in*>(&ifr.ifr_addr);
    to->sin_family = AF_INET;
    std::memcpy(&to->sin_addr, ip.data(), ip.size());
  }
  ifreq ifr{};
};

std::uint16_t checksum(const std::uint8_t* at, std::size_t size) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < size; i += 2) {
    sum += static_cast<std::uint32_t>(at[i] << 8 | (i + 1 < size ? at[i + 1] : 0));
  }
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void put_checksum(Bytes& frame, std::size_t from, std::size_t size, std::size_t at) {
  frame[at] = frame[at + 1] = 0;
  const std::uint16_t sum = checksum(frame.data() + from, size);
  frame[at] = static_cast<std::uint8_t>(sum >> 8);
  frame[at + 1] = static_cast<std::uint8_t>(sum);
}

Bytes ethernet(const Address& to, const Address& from, std::uint16_t type) {
  Bytes frame(to.begin(), to.end());
  frame.insert(frame.end(), from.begin(), from.end());
  frame.insert(frame.end(), {static_cast<std::uint8_t>(type >> 8), static_cast<std::uint8_t>(type)});
  return frame;
}

Address source_of(const Bytes& frame) {
  Address source{};
  std::copy_n(frame.begin() + 6, source.size(), source.begin());
  return source;
}

Bytes arp(const Address& to, const Address& ours, std::uint8_t operation, const Address& target) {
  Bytes frame = ethernet(to, ours, 0x0806);
  frame.insert(frame.end(), {0, 1, 8, 0, 6, 4, 0, operation});
  frame.insert(frame.end(), ours.begin(), ours.end());
  frame.insert(frame.end(), kOurIp.begin(), kOurIp.end());
  frame.insert(frame.end(), target.begin(), target.end());
  frame.insert(frame.end(), kKernelIp.begin(), kKernelIp.end());
  return frame;
}

bool is_arp(const Bytes& frame, std::uint8_t operation) {
  return frame.size() >= 42 && frame[12] == 8 && frame[13] == 6 && frame[21] == operation &&
         std::equal(kOurIp.begin(), kOurIp.end(), frame.begin() + 38);
}

}  // namespace

void set_address(const std::string& interface) {
  Request address(interface), mask(interface);
  address.address(kKernelIp);
  REQUIRE(address.run(SIOCSIFADDR));
  mask.address({255, 255, 255, 0});
  REQUIRE(mask.run(SIOCSIFNETMASK));
}

Address link_address(const std::string& interface) {
  Request request(interface);
  Address address{};
  if (request.run(SIOCGIFHWADDR)) std::memcpy(address.data(), request.ifr.ifr_hwaddr.sa_data, address.size());
  return address;
}

int link_mtu(const std::string& interface) {
  Request request(interface);
  return request.run(SIOCGIFMTU) ? request.ifr.ifr_mtu : 0;
}

bool asks_for_us(const Bytes& frame) { return is_arp(frame, 1); }
Bytes arp_answer(const Bytes& request, const Address& ours) {
  return arp(source_of(request), ours, 2, source_of(request));
}
Bytes arp_request(const Address& ours) { return arp({0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, ours, 1, {}); }
bool answers_us(const Bytes& frame) { return is_arp(frame, 2); }

Bytes echo_request(const Address& kernel, const Address& ours, std::uint16_t number) {
  constexpr std::size_t kIcmp = 64;
  Bytes frame = ethernet(kernel, ours, 0x0800);
  frame.insert(frame.end(), {0x45, 0, 0, kIp + kIcmp, 0, 0, 0, 0, 64, IPPROTO_ICMP, 0, 0});
  frame.insert(frame.end(), kOurIp.begin(), kOurIp.end());
  frame.insert(frame.end(), kKernelIp.begin(), kKernelIp.end());
  frame.insert(frame.end(), {kEchoRequest, 0, 0, 0, 0x12, 0x34, static_cast<std::uint8_t>(number >> 8),
                             static_cast<std::uint8_t>(number)});
  frame.resize(kEthernet + kIp + kIcmp, 0x5a);
  put_checksum(frame, kEthernet, kIp, kEthernet + 10);
  put_checksum(frame, kEthernet + kIp, kIcmp, kEthernet + kIp + 2);
  return frame;
}

bool is_echo(const Bytes& frame, std::uint8_t type) {
  return frame.size() > kEthernet + kIp + 8 && frame[12] == 8 && frame[13] == 0 && frame[23] == IPPROTO_ICMP &&
         frame[kEthernet + kIp] == type;
}

Bytes echo_answer(const Bytes& request) {
  Bytes frame = request;
  std::swap_ranges(frame.begin(), frame.begin() + 6, frame.begin() + 6);
  std::swap_ranges(frame.begin() + 26, frame.begin() + 30, frame.begin() + 30);
  frame[kEthernet + kIp] = kEchoAnswer;
  put_checksum(frame, kEthernet + kIp, frame.size() - kEthernet - kIp, kEthernet + kIp + 2);
  return frame;
}

Ping::Ping() : socket_(socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_ICMP)) {
  REQUIRE(socket_ >= 0);
}
Ping::~Ping() { close(socket_); }

void Ping::send(std::uint16_t number) const {
  Bytes packet{
      kEchoRequest, 0, 0, 0, 0x43, 0x21, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
  packet.resize(56, 0xa5);
  put_checksum(packet, 0, packet.size(), 2);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  std::memcpy(&to.sin_addr, kOurIp.data(), kOurIp.size());
  const auto* address = reinterpret_cast<const sockaddr*>(&to);
  REQUIRE(sendto(socket_, packet.data(), packet.size(), 0, address, sizeof to) == static_cast<ssize_t>(packet.size()));
}

std::optional<std::uint16_t> Ping::answered() const {
  std::uint8_t packet[256];
  const ssize_t size = recv(socket_, packet, sizeof packet, 0);
  if (size < static_cast<ssize_t>(kIp + 8) || packet[kIp] != kEchoAnswer || packet[kIp + 4] != 0x43) return {};
  return static_cast<std::uint16_t>(packet[kIp + 6] << 8 | packet[kIp + 7]);
}

}  // namespace verbs::soft::test
