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

int announce(Id& id, Device& device, Service service, std::unique_ptr<Announcement>* made) {
  const verbs_soft_cm_listen_attr attr = listen_attr_of(id);
  Gid bound{}, own = id.place.gid;
  std::copy_n(attr.address, bound.size(), bound.begin());
  const Gid& like = attr.families == 6 ? bound : kLoopback;
  if (!id.device() && soft()->cm->address_like(device.verbs, like.data(), own.data()) != 0) return 0;
  std::unique_ptr<Announcement> announcement = Announcement::make(attr.service_id, bound, own, service);
  if (const int error = announcement ? announcement->find_conflict() : 0) return error;
  *made = std::move(announcement);
  return 0;
}

int announce_bound(Id& id) {
  for (Device* device : devices_of(id)) {
    std::unique_ptr<Announcement> made;
    const Service service = id.reuse_address ? Service::kReusable : Service::kBound;
    if (const int error = announce(id, *device, service, &made)) return error;
    if (made) id.announcements.push_back(std::move(made));
  }
  return 0;
}

}  // namespace verbs::rdmacm::model
