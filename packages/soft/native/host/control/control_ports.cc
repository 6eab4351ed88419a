// The functions of verbs_soft.h for ports.
#include <cerrno>

#include "host/configuration/address.h"
#include "host/configuration/option.h"
#include "host/control/with_device.h"
#include "host/devices/registry.h"
#include "host/error.h"
#include "verbs_soft.h"
#include "verbs_soft_boundary.h"

using namespace verbs::soft;
using namespace verbs::soft::host;

namespace {

// Calls `use(device, gid)` with the address `text`.
template <typename Use>
int with_address(const char* name, const char* text, Use&& use) {
  return with_device(name, [&](Device& device) {
    const auto gid = parse_address(text);
    if (gid && is_unicast(*gid)) return use(device, *gid);
    return fail(EINVAL, std::string("\"") + text + "\" is not an IPv4 or IPv6 address of an interface");
  });
}

}  // namespace

extern "C" {

int verbs_soft_set_link(const char* name, unsigned int port, int up) {
  return with_device(name, [&](Device& device) { return device.set_link(port, up != 0); });
}

int verbs_soft_set_mtu(const char* name, unsigned int port, unsigned int bytes) {
  return with_device(name, [&](Device& device) {
    const auto mtu = parse_mtu(std::to_string(bytes));
    if (mtu) return device.set_mtu(port, *mtu);
    return fail(EINVAL, "an MTU is 256, 512, 1024, 2048 or 4096, not " + std::to_string(bytes));
  });
}

int verbs_soft_add_gid(const char* name, unsigned int port, const char* address, unsigned int* index) {
  return with_address(name, address, [&](Device& device, const wire::Gid& gid) {
    std::uint32_t found = 0;
    const int error = device.add_gid(port, gid, &found);
    if (error == 0 && index) *index = found;
    return error;
  });
}

int verbs_soft_remove_gid(const char* name, unsigned int port, const char* address) {
  return with_address(name, address,
                      [&](Device& device, const wire::Gid& gid) { return device.remove_gid(port, gid); });
}

int verbs_soft_fail(const char* name) {
  return with_device(name, [](Device& device) { return device.fail_open(); });
}

}  // extern "C"
