// The kernel's side of a TAP interface, and the few packets that a queue pair needs to talk to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "test/abi/support/frame_model.h"

namespace verbs::soft::test {

inline constexpr std::array<std::uint8_t, 4> kKernelIp{10, 9, 0, 1}, kOurIp{10, 9, 0, 2};

// Gives the interface the kernel's address of the two, in a network of 24 bits.
void set_address(const std::string& interface);
// The link address of an interface; zeros if there is none of that name.
Address link_address(const std::string& interface);
int link_mtu(const std::string& interface);

// Whether it is an ARP request for our address, and the answer to it.
bool asks_for_us(const Bytes& frame);
Bytes arp_answer(const Bytes& request, const Address& ours);
Bytes arp_request(const Address& ours);
// Whether it is an answer to arp_request().
bool answers_us(const Bytes& frame);

// An ICMP echo request to the kernel, or its answer to one of the kernel's.
Bytes echo_request(const Address& kernel, const Address& ours, std::uint16_t number);
bool is_echo(const Bytes& frame, std::uint8_t type);
Bytes echo_answer(const Bytes& request);

// The kernel's own ping, sent without waiting.
class Ping {
 public:
  Ping();
  ~Ping();
  Ping(const Ping&) = delete;
  Ping& operator=(const Ping&) = delete;
  void send(std::uint16_t number) const;
  // The number of an answer that has come.
  std::optional<std::uint16_t> answered() const;

 private:
  int socket_;
};

}  // namespace verbs::soft::test
