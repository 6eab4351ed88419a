#include "model/device/devices.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <new>

#include "model/device/soft.h"

namespace verbs::rdmacm::model {
namespace {

constinit soft::FairLock opening;
std::atomic<int> last_failure = ENODEV;

// Never freed.
std::vector<std::unique_ptr<Device>>& opened() {
  static auto* list = new std::vector<std::unique_ptr<Device>>;
  return *list;
}

std::unique_ptr<Device> open(ibv_device* listed) {
  auto device = std::make_unique<Device>();
  device->process = getpid();
  device->verbs = soft()->open_device(listed);
  if (!device->verbs) return nullptr;
  ibv_device_attr attr{};
  soft()->query_device(device->verbs, &attr);
  device->max_responder_resources = static_cast<std::uint8_t>(std::clamp(attr.max_qp_rd_atom, 0, 255));
  device->max_initiator_depth = static_cast<std::uint8_t>(std::clamp(attr.max_qp_init_rd_atom, 0, 255));
  device->pd = soft()->alloc_pd(device->verbs);
  if (!device->pd) {
    const int error = errno;
    soft()->close_device(device->verbs);
    errno = error;
    return nullptr;
  }
  return device;
}

}  // namespace

soft::FairLock& devices_mutex() { return opening; }

std::vector<Device*> devices() {
  std::vector<Device*> all;
  if (!soft() && why_not() == ENOMEM) throw std::bad_alloc();
  if (!soft()) return all;
  const std::lock_guard guard(opening);
  int count = 0;
  const std::unique_ptr<ibv_device*, void (*)(ibv_device**)> listed(soft()->get_device_list(&count),
                                                                    soft()->free_device_list);
  ibv_device** const list = listed.get();
  if (!list && errno == ENOMEM) throw std::bad_alloc();
  if (!list) return all;
  for (int i = 0; i < count; ++i) {
    auto known = std::ranges::find_if(
        opened(), [&](const auto& device) { return device->process == getpid() && device->verbs->device == list[i]; });
    if (known == opened().end()) {
      opened().reserve(opened().size() + 1);
      std::unique_ptr<Device> device = open(list[i]);
      if (!device && errno == ENOMEM) throw std::bad_alloc();
      if (!device) last_failure = errno;
      if (!device) continue;
      known = opened().insert(opened().end(), std::move(device));
    }
    all.push_back(known->get());
  }
  return all;
}

int why_no_device() { return last_failure == EADDRINUSE ? EADDRINUSE : ENODEV; }

ibv_xrcd* xrcd_of(Device& device) {
  const std::lock_guard guard(opening);
  if (device.xrcd) return device.xrcd;
  verbs_context* context = verbs_get_ctx_op(device.verbs, open_xrcd);
  if (!context) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  ibv_xrcd_init_attr attr{};
  attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  attr.fd = -1;
  attr.oflags = O_CREAT;
  device.xrcd = context->open_xrcd(device.verbs, &attr);
  return device.xrcd;
}

bool find_address(Device& device, const Gid& gid, Place* place) {
  const int error = soft()->cm->find_address(device.verbs, gid.data(), &place->port_num, &place->gid_index);
  if (error == ENOMEM) throw std::bad_alloc();
  if (error != 0) return false;
  place->device = &device;
  place->gid = gid;
  return true;
}

bool find_address(const Gid& gid, Place* place) {
  return std::ranges::any_of(devices(), [&](Device* device) { return find_address(*device, gid, place); });
}

bool find_route(const sockaddr* destination, Place* place) {
  const Gid to = gid_of(destination);
  if (!is_multicast(to) && find_address(to, place)) return true;  // an address of our own
  Gid source{};
  if (source_for(destination, &source) && find_address(source, place)) return true;
  if (is_link_local(to)) return false;  // without an interface it is nowhere
  // Loopback addresses all reach each other, and so may other addresses.
  return std::ranges::any_of(devices(), [&](Device* device) {
    Gid like{};
    if (soft()->cm->address_like(device->verbs, to.data(), like.data()) != 0) return false;
    return find_address(*device, like, place);
  });
}

}  // namespace verbs::rdmacm::model
