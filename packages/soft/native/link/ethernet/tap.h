// A network interface of the kernel (TAP) at the switch: what the kernel sends on it enters the switch, what the switch
// has for it is received by the kernel. Used under the lock of the device that has it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "link/ethernet/switch_link.h"

namespace verbs::soft::link {

struct TapCounters {
  std::uint64_t sent = 0;      // frames that the kernel took
  std::uint64_t received = 0;  // frames that the kernel sent
  std::uint64_t dropped = 0;   // frames that the kernel did not take: its interface was down, or they were too long
};

class Tap {
 public:
  // Makes the interface, in the network namespace of the calling thread, and brings it up. It goes with this object.
  // `mtu` is its own, without the Ethernet header. 0 or errno: ENOENT or ENODEV without /dev/net/tun, EPERM without
  // CAP_NET_ADMIN, EBUSY if there is such an interface.
  static int open(const std::string& name, std::uint32_t mtu, std::shared_ptr<EthernetSwitch> to,
                  std::function<void()> notify, std::unique_ptr<Tap>* tap);
  ~Tap();
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;

  int fd() const { return fd_; }  // readable when the kernel has sent something
  // Moves at most `budget` frames each way. Returns whether there may be more.
  bool relay(std::size_t budget);
  // One way only: to the kernel. Returns how many.
  std::size_t write_frames(std::size_t budget);
  const TapCounters& counters() const { return counters_; }

  // In a forked child: the interface is the parent's, and stays only as long as the parent has it.
  void forget();

 private:
  Tap(int fd, std::shared_ptr<EthernetSwitch> to, std::function<void()> notify);
  bool read_frame();

  int fd_;
  SwitchLink link_;
  TapCounters counters_;
};

}  // namespace verbs::soft::link
