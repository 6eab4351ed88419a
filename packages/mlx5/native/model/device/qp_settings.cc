// mlx5dv_modify_qp_udp_sport, mlx5dv_query_qp_lag_port and mlx5dv_modify_qp_lag_port.
#include "model/device/context.h"

using namespace verbs::mlx5::model;

namespace {

// The NIC keeps it with the queue pair: the port as a pointer, null without a choice of the program.
std::uint8_t chosen_port(ibv_qp* qp) {
  return static_cast<std::uint8_t>(reinterpret_cast<std::uintptr_t>(soft()->get_data(qp, VERBS_SOFT_QP)));
}

// How many ports the queue pair's device bonds, 0 if it bonds none.
std::uint32_t bonded_ports(const ibv_qp& qp) {
  const Context* context = context_of(qp.context);
  if (!context || context->device->capabilities.lag_ports < 2) return 0;
  return context->device->capabilities.lag_ports;
}

}  // namespace

namespace verbs::mlx5::model {

int mlx5dv_modify_qp_udp_sport(ibv_qp* qp, std::uint16_t udp_sport) {
  if (!qp) return EINVAL;
  const bool connected = qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_UC;
  if (!context_of(qp->context) || !connected || qp->state != IBV_QPS_RTS) return EOPNOTSUPP;
  return soft()->set_source_port(qp, udp_sport);
}

// All ports of the bond are up, so each queue pair uses its own. They lead to one network: the choice has no other
// effect.
int mlx5dv_query_qp_lag_port(ibv_qp* qp, std::uint8_t* port_num, std::uint8_t* active_port_num) {
  if (!qp || !port_num || !active_port_num) return EINVAL;
  const std::uint32_t ports = bonded_ports(*qp);
  if (ports == 0) return EOPNOTSUPP;
  const std::uint8_t chosen = chosen_port(qp);
  // As the kernel's driver does, queue pairs take the ports in turn.
  *port_num = chosen != 0 ? chosen : static_cast<std::uint8_t>(1 + qp->qp_num % ports);
  *active_port_num = *port_num;
  return 0;
}

int mlx5dv_modify_qp_lag_port(ibv_qp* qp, std::uint8_t port_num) {
  if (!qp) return EINVAL;
  const std::uint32_t ports = bonded_ports(*qp);
  if (ports == 0) return EOPNOTSUPP;
  if (port_num < 1 || port_num > ports) return EINVAL;
  soft()->set_data(qp, VERBS_SOFT_QP, reinterpret_cast<void*>(std::uintptr_t{port_num}), nullptr);
  return 0;
}

}  // namespace verbs::mlx5::model
