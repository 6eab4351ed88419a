// A network interface of the kernel (TAP) as a port of the switch: frames that the kernel sends on it enter the switch,
// and the kernel receives the frames that the switch forwards to it. Used under the lock of its device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "link/ethernet/ethernet_switch.h"

namespace verbs::soft::link {

struct TapCounters {
  std::uint64_t sent = 0;      // frames that the kernel received
  std::uint64_t received = 0;  // frames that the kernel sent
  std::uint64_t dropped = 0;   // frames that the kernel rejected: the interface was down, or they were too long
};

class Tap {
 public:
  // Creates the interface in the network namespace of the calling thread and brings it up; it exists as long as this
  // object. `mtu` does not count the Ethernet header. 0 or errno: ENOENT or ENODEV without /dev/net/tun, EPERM without
  // CAP_NET_ADMIN, EBUSY if the name is taken.
  static int open(const std::string& name, std::uint32_t mtu, std::shared_ptr<EthernetSwitch> to,
                  std::function<void()> notify, std::unique_ptr<Tap>* tap);
  ~Tap();
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;

  int fd() const { return fd_; }  // readable when the kernel has sent a frame
  // Moves at most `budget` frames each way. Returns whether there may be more.
  bool relay(std::size_t budget);
  // Moves at most `budget` frames to the kernel. Returns their number.
  std::size_t write_frames(std::size_t budget);
  const TapCounters& counters() const { return counters_; }

  // In a forked child: closes the child's descriptor, so that the interface goes with the parent.
  void forget();

 private:
  Tap(int fd, std::shared_ptr<EthernetSwitch> to, std::function<void()> notify);
  bool read_frame();

  int fd_;
  SwitchLink link_;
  TapCounters counters_;
};

}  // namespace verbs::soft::link
