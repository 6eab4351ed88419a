#include "model/device/query.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>

#include "model/device/device.h"
#include "model/device/objects.h"
#include "verbs_soft_objects.h"

// mlx5dv_query_device, mlx5dv_query_port, mlx5dv_get_clock_info and mlx5dv_init_obj.

using namespace verbs::mlx5::model;

namespace {

std::uint64_t nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// Programs cannot access the queues of the software NIC. Only the numbers of a raw queue pair's objects are available,
// all equal to the queue pair's own; a query without them fails.
int init_qp(const ibv_qp& qp, mlx5dv_qp* out) {
  const std::uint64_t wanted = out->comp_mask;
  if ((wanted & MLX5DV_QP_MASK_RAW_QP_HANDLES) == 0 || qp.qp_type != IBV_QPT_RAW_PACKET) return EOPNOTSUPP;
  // Nothing else: the structure of a program that was built with older headers ends with what its mask can name.
  out->comp_mask = MLX5DV_QP_MASK_RAW_QP_HANDLES;
  out->tirn = out->tisn = out->rqn = out->sqn = qp.qp_num;
  return 0;
}

}  // namespace

namespace verbs::mlx5::model {

int mlx5dv_query_device(ibv_context* verbs, mlx5dv_context* attr) {
  if (!verbs || !attr) return EINVAL;
  const Context* context = context_of(verbs);
  if (!context) return EOPNOTSUPP;
  const std::uint64_t wanted = attr->comp_mask;
  attr->version = 0;
  attr->flags = 0;
  attr->comp_mask = 0;
  if ((wanted & MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS) != 0) {
    attr->tunnel_offloads_caps = MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN |
                                 MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE |
                                 MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE;
    attr->comp_mask |= MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS;
  }
  if ((wanted & MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE) != 0) {
    // Half of the range of clock differences; see mlx5dv_ts_to_ns().
    attr->max_clock_info_update_nsec = UINT64_MAX / 2;
    attr->comp_mask |= MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE;
  }
  if ((wanted & MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS) != 0) {
    attr->num_lag_ports = static_cast<std::uint8_t>(std::max(context->device->capabilities.lag_ports, 1u));
    attr->comp_mask |= MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS;
  }
  return 0;
}

int _mlx5dv_query_port(ibv_context* verbs, std::uint32_t port_num, mlx5dv_port* info, std::size_t info_len) {
  if (!verbs || !info) return EINVAL;
  Context* context = context_of(verbs);
  if (!context) return EOPNOTSUPP;
  ibv_device_attr device{};
  if (const int error = context->base.query_device(verbs, &device)) return error;
  if (port_num < 1 || port_num > device.phys_port_cnt) return EINVAL;
  // As for a port without an e-switch in switchdev mode, no field has a value.
  std::memset(info, 0, info_len);
  return 0;
}

int mlx5dv_get_clock_info(ibv_context* verbs, mlx5dv_clock_info* info) {
  if (!verbs || !info) return EINVAL;
  if (!context_of(verbs)) return EOPNOTSUPP;
  // A cycle is a nanosecond of CLOCK_MONOTONIC.
  *info = {.nsec = nanoseconds(CLOCK_REALTIME),
           .last_cycles = nanoseconds(CLOCK_MONOTONIC),
           .frac = 0,
           .mult = 1,
           .shift = 0,
           .mask = UINT64_MAX};
  return 0;
}

int mlx5dv_init_obj(mlx5dv_obj* obj, std::uint64_t type) {
  constexpr std::uint64_t kKnown = MLX5DV_OBJ_QP | MLX5DV_OBJ_PD;
  if (!obj) return EINVAL;
  if ((type & ~kKnown) != 0) return EOPNOTSUPP;
  const bool wants_qp = (type & MLX5DV_OBJ_QP) != 0, wants_pd = (type & MLX5DV_OBJ_PD) != 0;
  if (wants_qp && (!obj->qp.in || !obj->qp.out)) return EINVAL;
  if (wants_pd && (!obj->pd.in || !obj->pd.out)) return EINVAL;
  const auto call = [&] {
    if (wants_qp) {
      if (!context_of(obj->qp.in->context)) return EOPNOTSUPP;
      if (const int error = init_qp(*obj->qp.in, obj->qp.out)) return error;
    }
    if (wants_pd) {
      if (!context_of(obj->pd.in->context)) return EOPNOTSUPP;
      *obj->pd.out = {.pdn = obj->pd.in->handle, .comp_mask = 0};
      const ModelLock guard(model_mutex());
      context_of(obj->pd.in->context)->pds[obj->pd.in->handle] = obj->pd.in;
    }
    return 0;
  };
  return soft::model::verb(soft(), call, std::tuple(wants_qp ? obj->qp.in : nullptr, wants_pd ? obj->pd.in : nullptr));
}

ibv_pd* find_pd(const Context& context, std::uint32_t pdn) {
  const auto found = context.pds.find(pdn);
  if (found == context.pds.end() || !soft::model::is_live(*soft(), found->second)) return nullptr;
  return found->second->handle == pdn ? found->second : nullptr;
}

namespace {

struct Option {
  const char* name;
  std::uint32_t Capabilities::* member;
  std::uint32_t max;  // the largest value of the field of the capability block
};

constexpr Option kOptions[] = {
    {"max_encap_header_size", &Capabilities::max_encap_header_size, 1023},
    {"max_modify_header_actions", &Capabilities::max_modify_header_actions, 255},
    {"max_ft_level", &Capabilities::max_ft_level, 255},
    {"log_max_packet_reformat_context", &Capabilities::log_max_packet_reformat_context, 24},
    {"log_max_modify_header_context", &Capabilities::log_max_modify_header_context, 24},
    {"log_max_ft_size", &Capabilities::log_max_ft_size, 24},
    {"log_max_ft_num", &Capabilities::log_max_ft_num, 24},
    {"log_max_flow", &Capabilities::log_max_flow, 24},
    {"log_max_flow_counter", &Capabilities::log_max_flow_counter, 24},
    {"decap", &Capabilities::decap, 1},
    {"encap_general_header", &Capabilities::encap_general_header, 1},
    {"reformat_l3_tunnel_to_l2", &Capabilities::reformat_l3_tunnel_to_l2, 1},
    {"reformat_l2_to_l3_tunnel", &Capabilities::reformat_l2_to_l3_tunnel, 1},
    {"nic_rx_multi_path_tirs", &Capabilities::nic_rx_multi_path_tirs, 1},
    {"lag_ports", &Capabilities::lag_ports, 4},
    {"mtu_check", &Capabilities::mtu_check, 1},
    {"cap_net_raw", &Capabilities::cap_net_raw, 1},
};

}  // namespace

const char* const* capability_options() {
  static constexpr auto kNames = [] {
    std::array<const char*, std::size(kOptions) + 1> names{};
    for (std::size_t i = 0; i < std::size(kOptions); ++i) names[i] = kOptions[i].name;
    return names;
  }();
  return kNames.data();
}

int parse_capabilities(const verbs_soft_extension_table& soft, const ibv_device* device, Capabilities* capabilities) {
  for (const Option& option : kOptions) {
    const char* text = soft.device_option(device, option.name);
    if (!text) continue;
    std::uint32_t value = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error != std::errc{} || stop != end || value > option.max) return EINVAL;
    capabilities->*option.member = value;
  }
  return 0;
}

}  // namespace verbs::mlx5::model
