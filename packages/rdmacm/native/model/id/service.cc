#include "model/id/service.h"

#include <algorithm>

#include "model/device/soft.h"
#include "model/id/library.h"

namespace verbs::rdmacm::model {
namespace {

constexpr Gid kLoopback = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};

}  // namespace

verbs_soft_cm_listen_attr listen_attr_of(Id& id) {
  verbs_soft_cm_listen_attr attr{};
  attr.service_id = static_cast<std::uint64_t>(id.cm.ps) << 16 | port_of(id.source());
  attr.datagrams = id.is_datagram();
  // A loopback address that no device has stands for every address.
  const bool every = is_any(id.source()) || (!id.device() && is_loopback(gid_of(id.source())));
  if (!every) {
    std::ranges::copy(gid_of(id.source()), attr.address);
  } else if (id.source()->sa_family == AF_INET) {
    attr.families = 4;
  } else {
    attr.families = id.family_only ? 6 : 0;
  }
  return attr;
}

std::vector<Device*> devices_of(Id& id) { return id.device() ? std::vector<Device*>{id.device()} : devices(); }

std::unique_ptr<Announcement> announce(Id& id, Device& device, Service service) {
  const verbs_soft_cm_listen_attr attr = listen_attr_of(id);
  Gid bound{}, own{};
  std::copy_n(attr.address, bound.size(), bound.begin());
  if (attr.families == 6 || soft()->cm->address_like(device.verbs, kLoopback.data(), own.data()) != 0) return nullptr;
  return Announcement::make(attr.service_id, bound, own, service);
}

void announce_bound(Id& id) {
  for (Device* device : devices_of(id)) {
    if (auto announcement = announce(id, *device, Service::kBound)) id.announcements.push_back(std::move(announcement));
  }
}

}  // namespace verbs::rdmacm::model
