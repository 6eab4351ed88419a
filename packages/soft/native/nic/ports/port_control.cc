#include "nic/ports/port_control.h"

#include <cerrno>

#include "nic/device/qp_error.h"

namespace verbs::soft::nic {
namespace {

void report(Core& core, ibv_event_type type, std::uint8_t port_num) {
  core.events.async({type, nullptr, nullptr, port_num});
}

}  // namespace

int set_link(Core& core, std::uint8_t port_num, bool up) {
  Port* port = core.port(port_num);
  if (port == nullptr) return EINVAL;
  if (port->is_up() == up) return 0;
  port->set_up(up);
  if (!up) ++core.counters.link_downed;
  report(core, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, port_num);
  return 0;
}

int add_gid(Core& core, std::uint8_t port_num, const wire::Gid& gid, std::uint32_t* index) {
  Port* port = core.port(port_num);
  if (port == nullptr) return EINVAL;
  if (const int error = port->add_gid(gid, index)) return error;
  report(core, IBV_EVENT_GID_CHANGE, port_num);
  return 0;
}

int remove_gid(Core& core, std::uint8_t port_num, const wire::Gid& gid) {
  Port* port = core.port(port_num);
  if (port == nullptr) return EINVAL;
  if (const int error = port->remove_gid(gid)) return error;
  report(core, IBV_EVENT_GID_CHANGE, port_num);
  return 0;
}

int set_mtu(Core& core, std::uint8_t port_num, ibv_mtu mtu) {
  Port* port = core.port(port_num);
  if (port == nullptr || mtu < IBV_MTU_256 || mtu > port->max_mtu()) return EINVAL;
  port->set_mtu(mtu);
  return 0;
}

void fail(Core& core) {
  core.qps.for_each([&core](Qp& qp) {
    if (qp.state != IBV_QPS_RESET && qp.state != IBV_QPS_ERR) enter_error(core, qp);
  });
  report(core, IBV_EVENT_DEVICE_FATAL, 0);
}

}  // namespace verbs::soft::nic
