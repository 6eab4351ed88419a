// A socket that sends packets of other programs' connections, with a right ICRC.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "wire/frame.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/opcode.h"

namespace verbs::soft::test {

inline sockaddr_in ipv4_address(const std::string& text, std::uint16_t port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(port);
  REQUIRE(inet_pton(AF_INET, text.c_str(), &made.sin_addr) == 1);
  return made;
}

class Impostor {
 public:
  // Sends as `from` and that port (0: any) to a device at `to`.
  Impostor(const std::string& from, const std::string& to, std::uint16_t port = 0)
      : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in own = ipv4_address(from, port);
    socklen_t length = sizeof own_;
    const int discover = IP_PMTUDISC_DO;  // identification 0
    REQUIRE(setsockopt(fd_, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover) == 0);
    REQUIRE(bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0);
    REQUIRE(getsockname(fd_, reinterpret_cast<sockaddr*>(&own_), &length) == 0);
    to_ = ipv4_address(to, wire::kRocePort);
  }
  ~Impostor() { close(fd_); }
  Impostor(const Impostor&) = delete;
  Impostor& operator=(const Impostor&) = delete;

  // A packet without payload of the connection of that queue pair.
  void send(std::uint32_t qpn, wire::Operation operation, std::uint32_t psn) const {
    const std::size_t size = wire::opcode_info(operation)->header_size + wire::kIcrcSize;
    std::vector<std::uint8_t> frame(wire::kMaxNetworkSize + size);
    wire::Path path;
    path.sgid = wire::Gid::from_ipv4(reinterpret_cast<const std::uint8_t*>(&own_.sin_addr));
    path.dgid = wire::Gid::from_ipv4(reinterpret_cast<const std::uint8_t*>(&to_.sin_addr));
    path.source_port = ntohs(own_.sin_port);
    const std::size_t network = wire::write_network(frame.data(), path, size);
    frame.resize(network + size);
    wire::Bth bth;
    bth.opcode = operation;
    bth.dest_qpn = qpn;
    bth.psn = psn;
    bth.emit(&frame[network]);
    wire::seal_icrc(frame);
    REQUIRE(sendto(fd_, &frame[network], size, 0, reinterpret_cast<const sockaddr*>(&to_), sizeof to_) ==
            static_cast<ssize_t>(size));
  }

 private:
  int fd_;
  sockaddr_in own_{}, to_{};
};

}  // namespace verbs::soft::test
