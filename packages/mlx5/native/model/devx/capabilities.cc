#include "model/devx/capabilities.h"

#include <algorithm>
#include <array>

#include "steering/headers/bytes.h"

namespace verbs::mlx5::model {

namespace {

// The number of a capability block: the command's modifier without its lowest bit, which selects the current or the
// maximum values (here the same). Blocks of features that the device lacks are all zero.
enum class Block : std::uint16_t { kGeneral = 0, kNicFlowTable = 7, kQos = 0xc, kLast = 0x1b };

constexpr std::size_t kBlockSize = 0x1000;
using Bytes = std::array<std::uint8_t, kBlockSize>;

// Sets a field, which may cross bytes. As in the PRM, bit 0 is the most significant bit of the first byte.
void set(Bytes& block, std::uint32_t bit, std::uint32_t width, std::uint32_t value) {
  for (std::uint32_t i = 0; i < width; ++i) {
    const std::uint32_t at = bit + i;
    if ((value >> (width - 1 - i) & 1) != 0) block[at / 8] |= static_cast<std::uint8_t>(0x80 >> at % 8);
  }
}

// Sizes of flow counter bulks: bit k stands for 128 << k counters.
constexpr std::uint32_t kCounterBulks = 0xff, kLogCounterBulk = 15;

void fill_general(const Context& context, Bytes& block) {
  const Capabilities& capabilities = context.device->capabilities;
  ibv_device_attr device{};
  context.base.query_device(context.ibv, &device);
  set(block, 0x1a6, 1, 1);  // nic_flow_table
  set(block, 0x1b6, 2, 1);  // port_type: Ethernet
  set(block, 0x1b8, 8, device.phys_port_cnt);
  set(block, 0x21d, 1, 1);  // roce
  set(block, 0x2c0, 16, (1u << capabilities.log_max_flow_counter) >> 16);
  set(block, 0x310, 8, kCounterBulks);
  set(block, 0x348, 8, std::min(kLogCounterBulk, capabilities.log_max_flow_counter));
  set(block, 0x350, 16, (1u << capabilities.log_max_flow_counter) & 0xffff);
  set(block, 0x373, 5, 18);  // log_max_tir
  set(block, 0x608, 8, 1);   // native_port_num
}

// The properties that each table type has: 64 bytes from `at`.
void fill_properties(const Capabilities& capabilities, std::uint32_t max_level, std::uint32_t at, Bytes& block) {
  const std::uint32_t bit = at * 8;
  set(block, bit + 0, 1, 1);  // ft_support
  set(block, bit + 2, 1, 1);  // flow_counter
  set(block, bit + 3, 1, 1);  // flow_modify_en
  block[at + 4] = static_cast<std::uint8_t>(capabilities.log_max_ft_size);
  block[at + 7] = static_cast<std::uint8_t>(max_level);
  block[at + 15] = static_cast<std::uint8_t>(capabilities.log_max_ft_num);
  block[at + 18] = static_cast<std::uint8_t>(capabilities.log_max_flow_counter);
  block[at + 19] = 6;  // log_max_destination
  block[at + 23] = static_cast<std::uint8_t>(capabilities.log_max_flow);
  // The fields that a match can compare, whole (from byte 24) or by a mask (from 40): of the outer headers all but the
  // e-switch's port, of the inner ones all of layers 2 to 4.
  for (const std::uint32_t fields : {bit + 24 * 8, bit + 40 * 8}) {
    for (std::uint32_t i = 0; i <= 30; ++i) set(block, fields + i, 1, 1);
    for (std::uint32_t i = 32; i <= 54; ++i) set(block, fields + i, 1, 1);
  }
}

// The same for tables of Ethernet frames, which they can also mark and change.
void fill_frame_properties(const Capabilities& capabilities, bool receive, std::uint32_t at, Bytes& block) {
  const std::uint32_t bit = at * 8;
  const bool encap = capabilities.encap_general_header != 0;
  const bool decap = capabilities.decap != 0;
  fill_properties(capabilities, capabilities.max_ft_level, at, block);
  set(block, bit + 1, 1, receive);                      // flow_tag
  set(block, bit + 7, 1, encap || (receive && decap));  // reformat
  set(block, bit + 8, 1, receive && decap);             // decap
  set(block, bit + 10, 1, 1);                           // pop_vlan
  set(block, bit + 11, 1, 1);                           // push_vlan
  set(block, bit + 15, 1, 1);                           // reformat_and_vlan_action
  set(block, bit + 17, 1, 1);                           // sw_owner
  set(block, bit + 18, 1, receive && capabilities.reformat_l3_tunnel_to_l2 != 0);
  set(block, bit + 19, 1, !receive && capabilities.reformat_l2_to_l3_tunnel != 0);
  set(block, bit + 20, 1, 1);  // reformat_and_modify_action
  set(block, bit + 30, 1, 1);  // sw_owner_v2
  block[at + 5] = static_cast<std::uint8_t>(capabilities.log_max_modify_header_context);
  block[at + 6] = static_cast<std::uint8_t>(capabilities.max_modify_header_actions);
}

void fill_flow_tables(const Capabilities& capabilities, Bytes& block) {
  set(block, 0, 1, capabilities.nic_rx_multi_path_tirs);
  block[3] = 64;  // the number of tables that a frame may pass
  set(block, 32, 1, capabilities.encap_general_header);
  block[5] = static_cast<std::uint8_t>(capabilities.log_max_packet_reformat_context);
  steering::store16(block.data() + 6, capabilities.max_encap_header_size);
  fill_frame_properties(capabilities, true, 0x40, block);
  fill_frame_properties(capabilities, false, 0x100, block);
  // RDMA_RX and RDMA_TX, of which every level can be had.
  for (const std::uint32_t at : {0x80u, 0x140u}) fill_properties(capabilities, UINT8_MAX, at, block);
}

void fill_qos(Bytes& block) {
  set(block, 7, 1, 1);      // flow_meter_old
  set(block, 16, 8, 16);    // log_max_flow_meter
  set(block, 24, 8, 0x3f);  // flow_meter_reg_id: the color may go to each of the registers C 0 to 5
  set(block, 40, 1, 1);     // flow_meter
}

}  // namespace

DevxStatus query_capabilities(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out) {
  Bytes block{};
  const auto wanted = static_cast<Block>(steering::load16(in.data() + 6) >> 1);
  if (wanted > Block::kLast) return DevxStatus::kBadParam;
  switch (wanted) {
    case Block::kGeneral:
      fill_general(context, block);
      break;
    case Block::kNicFlowTable:
      fill_flow_tables(context.device->capabilities, block);
      break;
    case Block::kQos:
      fill_qos(block);
      break;
    default:
      break;
  }
  // A shorter output gets the first part.
  std::copy_n(block.begin(), std::min(kBlockSize, out.size() - kDevxHeader), out.begin() + kDevxHeader);
  return DevxStatus::kOk;
}

}  // namespace verbs::mlx5::model
