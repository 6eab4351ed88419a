#include "model/device/capabilities.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace verbs::mlx5::model {

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
