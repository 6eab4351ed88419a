// The capabilities of a device, which its options set.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs_soft_extension.h"

namespace verbs::mlx5::model {

struct Capabilities {
  // Names and units of the device's capability block: sizes in bytes, counts as binary logarithms.
  std::uint32_t max_encap_header_size = 128;
  std::uint32_t max_modify_header_actions = 16;
  std::uint32_t max_ft_level = 64;
  std::uint32_t log_max_packet_reformat_context = 18;
  std::uint32_t log_max_modify_header_context = 18;
  std::uint32_t log_max_ft_size = 16;
  std::uint32_t log_max_ft_num = 16;
  std::uint32_t log_max_flow = 16;
  std::uint32_t log_max_flow_counter = 16;
  // Ports that are bonded to the device's one; below 2: none are.
  std::uint32_t lag_ports = 1;
  // 0 or 1 each.
  std::uint32_t decap = 1;
  std::uint32_t encap_general_header = 1;
  std::uint32_t reformat_l3_tunnel_to_l2 = 1;
  std::uint32_t reformat_l2_to_l3_tunnel = 1;
  std::uint32_t nic_rx_multi_path_tirs = 1;
  // Drop a frame that an encapsulation or a VLAN tag makes longer than the port allows.
  std::uint32_t mtu_check = 1;
  // Check privileges as the kernel does. Off by default: frames that stay in the process need none.
  std::uint32_t cap_net_raw = 0;
};

// The names of all options, NULL-terminated.
const char* const* capability_options();

// Reads the device's options: 0, or EINVAL if one is not a number or out of range.
int parse_capabilities(const verbs_soft_extension_table& soft, const ibv_device* device, Capabilities* capabilities);

}  // namespace verbs::mlx5::model
