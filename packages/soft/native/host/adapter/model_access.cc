#include "host/adapter/model_access.h"

#include <cerrno>
#include <mutex>
#include <string>

#include "host/error.h"

namespace verbs::soft::host {

namespace {

constexpr int kDrainRounds = 256;  // more than a frame queue holds

}  // namespace

int ModelAccess::open_tunnel(std::uint8_t port_num, const std::shared_ptr<wire::Tunnel>& tunnel) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  if (port_num < 1 || port_num > core_.engine.ports().size()) {
    return fail(EINVAL, "there is no port " + std::to_string(port_num));
  }
  if (const int error = core_.engine.port(port_num).addresses().listen(*tunnel)) return error;
  core_.nic().ports().open_tunnel(port_num, tunnel);
  return 0;
}

void ModelAccess::close_tunnel(std::uint8_t port_num, const std::shared_ptr<wire::Tunnel>& tunnel) {
  if (core_.inherited()) return;
  const std::lock_guard guard(core_.lock);
  core_.engine.transmit(now());  // an acknowledgement that is due leaves before the tunnel is closed
  tunnel->open = false;
  core_.nic().ports().close_tunnel(port_num, tunnel);
  core_.engine.port(port_num).addresses().unlisten(*tunnel);
}

int ModelAccess::lock() {
  if (const int error = core_.reject_inherited()) return error;
  core_.lock.lock();
  if (!core_.engine.raw()) return 0;
  // Frames that have arrived are steered by the tables as they are, before the model changes them or reads counters.
  const Nanos time = now();
  for (int round = 0; round < kDrainRounds && core_.engine.receive(time); ++round) continue;
  core_.transmit(time);
  return 0;
}

int ModelAccess::deliver_frame(nic::Qp* qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery) {
  return core_.engine.raw() ? core_.engine.raw()->deliver(qp, frame, delivery) : EINVAL;
}

}  // namespace verbs::soft::host
