// The devices that are open for this library. As with the real one they stay open: programs destroy what they have made
// on them after their last identifier.
#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>

#include <vector>

#include "model/device/address.h"
#include "verbs_soft_fair_lock.h"

namespace verbs::rdmacm::model {

struct Device {
  pid_t process = 0;  // that opened it: the device of a parent process is not usable in its child
  ibv_context* verbs = nullptr;
  ibv_pd* pd = nullptr;      // for queue pairs without one of their own
  ibv_xrcd* xrcd = nullptr;  // for XRC targets and their SRQs, from the first on
  std::uint8_t max_responder_resources = 0;
  std::uint8_t max_initiator_depth = 0;
};

// Held while devices are opened.
soft::FairLock& devices_mutex();

// Every device of the software NIC, opened now if need be. A device that cannot be opened is left out.
std::vector<Device*> devices();

// Why no device has an address of this system: ENODEV, or EADDRINUSE if one could not be opened because another user
// has its address.
int why_no_device();

// The XRC domain of a device, opened now if need be; nullptr and errno.
ibv_xrcd* xrcd_of(Device& device);

// Where an address is.
struct Place {
  Device* device = nullptr;
  std::uint8_t port_num = 0;
  std::uint32_t gid_index = 0;
  Gid gid{};
};

bool find_address(const Gid& gid, Place* place);
bool find_address(Device& device, const Gid& gid, Place* place);
// The address from which to reach another one.
bool find_route(const sockaddr* destination, Place* place);

}  // namespace verbs::rdmacm::model
