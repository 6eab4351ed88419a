#include "abi/model/raw_packet.h"

#include <algorithm>
#include <cerrno>

#include "abi/objects/objects.h"
#include "host/devices/registry.h"
#include "host/models/verbs_device.h"

namespace verbs::soft::abi {

int transmit_frame(ibv_device* device, std::uint8_t port_num, const verbs_soft_frame* frame) {
  host::RawPackets* raw = host::verbs_device(device).raw;
  return raw ? raw->transmit(port_num, *frame) : EPERM;
}

int deliver_frame(ibv_qp* qp, const verbs_soft_frame* frame, const verbs_soft_delivery* delivery) {
  return of(qp->context)->adapter->model_access.deliver_frame(of(qp)->nic, *frame, *delivery);
}

std::uint32_t frame_limit(ibv_device* device, std::uint8_t port_num) {
  const host::RawPackets* raw = host::verbs_device(device).raw;
  return raw ? raw->frame_limit(port_num) : 0;
}

int lock_device(ibv_context* context) { return of(context)->adapter->model_access.lock(); }
void unlock_device(ibv_context* context) { of(context)->adapter->model_access.unlock(); }

int port_mac(const ibv_device* device, std::uint8_t port_num, std::uint8_t* mac) {
  const host::VerbsDevice& ibv = host::verbs_device(device);
  if (port_num < 1 || port_num > ibv.ports) return EINVAL;
  std::ranges::copy(ibv.mac, mac);
  mac[5] = static_cast<std::uint8_t>(mac[5] + port_num - 1);
  return 0;
}

int set_self_loopback(ibv_qp* qp, int allowed) {
  return control(qp->context,
                 [&](nic::Nic& nic, link::Nanos) { return nic.qps().set_self_loopback(of(qp)->nic, allowed != 0); });
}

std::uint64_t* model_counter(ibv_device* device, const char* name) {
  host::Device* known = host::Registry::get().find(device);
  return known ? known->model_counter(name) : nullptr;
}

}  // namespace verbs::soft::abi
