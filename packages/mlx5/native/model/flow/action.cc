// mlx5dv_create_flow_action_packet_reformat, _modify_header and _esp. They check in the order of the hardware's stack:
// library, kernel, firmware.
#include "model/flow/action.h"

#include <span>

namespace verbs::mlx5::model {

namespace {

using FlowActions = Live<FlowAction, ibv_flow_action>;
FlowActions& actions() { return live<FlowAction, ibv_flow_action>(); }

std::span<const std::uint8_t> bytes(const void* data, std::size_t size) {
  return {static_cast<const std::uint8_t*>(data), size};
}

// Each reformat type is for one table type and needs a capability.
bool can_reformat(const Capabilities& capabilities, unsigned type, unsigned table) {
  switch (type) {
    case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2:
      return table == MLX5DV_FLOW_TABLE_TYPE_NIC_RX && capabilities.decap != 0;
    case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL:
      return table == MLX5DV_FLOW_TABLE_TYPE_NIC_TX && capabilities.encap_general_header != 0;
    case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2:
      return table == MLX5DV_FLOW_TABLE_TYPE_NIC_RX && capabilities.reformat_l3_tunnel_to_l2 != 0;
    case MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL:
      return table == MLX5DV_FLOW_TABLE_TYPE_NIC_TX && capabilities.reformat_l2_to_l3_tunnel != 0;
    default:
      return false;
  }
}

int check_reformat(const Device& device, std::size_t size, const void* data, unsigned type, unsigned table) {
  if ((data == nullptr) != (size == 0)) return EINVAL;
  if (size > UINT16_MAX) return EINVAL;  // the length of an attribute
  if (!can_reformat(device.capabilities, type, table)) return EOPNOTSUPP;
  if (type == MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2) return 0;
  if (!data) return ENOENT;
  if (size > device.capabilities.max_encap_header_size) return EINVAL;
  return device.quota.reformats >> device.capabilities.log_max_packet_reformat_context != 0 ? ENOMEM : 0;
}

// Checks the size and the table type of a modify-header list: 0 or errno.
int check_modify(const Device& device, std::size_t size, const void* data, unsigned table) {
  if (!data || size == 0 || size % 8 != 0 || size > UINT16_MAX) return EINVAL;
  if (table > MLX5DV_FLOW_TABLE_TYPE_RDMA_TX) return EINVAL;
  const bool modifies = table == MLX5DV_FLOW_TABLE_TYPE_NIC_RX || table == MLX5DV_FLOW_TABLE_TYPE_NIC_TX;
  if (!modifies || size / 8 > device.capabilities.max_modify_header_actions) return EOPNOTSUPP;
  return device.quota.modify_headers >> device.capabilities.log_max_modify_header_context != 0 ? ENOMEM : 0;
}

}  // namespace

FlowAction::~FlowAction() {
  Quota& quota = owner->device->quota;
  if (reformat && reformat->type() != steering::ReformatType::kL2TunnelToL2) --quota.reformats;
  if (modify) --quota.modify_headers;
}

FlowAction* find_flow_action(const ibv_flow_action* ibv) { return actions().find(ibv); }

int destroy_flow_action(ibv_flow_action* ibv) {
  const ModelLock guard(model_mutex());
  FlowAction* action = actions().find(ibv);
  if (!action) return EINVAL;
  if (action->in_use()) return EBUSY;
  actions().remove(action);
  return 0;
}

void forget_flow_actions(Context& context) {
  actions().remove_if([&](const FlowAction& action) { return action.owner == &context; });
}

std::shared_ptr<const steering::Reformat> make_reformat(const Device& device, unsigned type, const void* data,
                                                        std::size_t size, int* error) {
  const auto kind = static_cast<steering::ReformatType>(type);
  if (kind == steering::ReformatType::kL2TunnelToL2) size = 0;  // its data is ignored
  auto problem = steering::ReformatProblem::kNone;
  steering::ReformatOptions options;
  options.max_size = device.capabilities.max_encap_header_size;
  auto reformat = steering::Reformat::create(kind, bytes(data, size), options, &problem);
  *error = reformat ? 0 : EINVAL;
  return reformat;
}

ibv_flow_action* mlx5dv_create_flow_action_packet_reformat(ibv_context* verbs, std::size_t size, void* data,
                                                           mlx5dv_flow_action_packet_reformat_type type,
                                                           mlx5dv_flow_table_type table) {
  if (!verbs) return null_with<ibv_flow_action>(EINVAL);
  Context* context = context_of(verbs);
  if (!context) return null_with<ibv_flow_action>(EOPNOTSUPP);
  const ModelLock guard(model_mutex());
  Device& device = *context->device;
  int error = check_reformat(device, size, data, type, table);
  if (error != 0) return null_with<ibv_flow_action>(error);
  auto reformat = make_reformat(device, type, data, size, &error);
  if (!reformat) return null_with<ibv_flow_action>(error);
  auto action = std::make_unique<FlowAction>(*context, table);
  if (reformat->type() != steering::ReformatType::kL2TunnelToL2) ++device.quota.reformats;
  action->reformat = std::move(reformat);
  return actions().add(std::move(action));
}

ibv_flow_action* mlx5dv_create_flow_action_modify_header(ibv_context* verbs, std::size_t size, std::uint64_t entries[],
                                                         mlx5dv_flow_table_type table) {
  if (!verbs) return null_with<ibv_flow_action>(EINVAL);
  Context* context = context_of(verbs);
  if (!context) return null_with<ibv_flow_action>(EOPNOTSUPP);
  const ModelLock guard(model_mutex());
  Device& device = *context->device;
  if (const int error = check_modify(device, size, entries, table)) return null_with<ibv_flow_action>(error);
  auto problem = steering::ModifyProblem::kNone;
  auto modify = steering::ModifyHeader::create(bytes(entries, size), &problem);
  if (!modify) return null_with<ibv_flow_action>(EINVAL);
  auto action = std::make_unique<FlowAction>(*context, table);
  ++device.quota.modify_headers;
  action->modify = std::move(modify);
  return actions().add(std::move(action));
}

// The kernel has had no ESP actions since 5.18.
ibv_flow_action* mlx5dv_create_flow_action_esp(ibv_context* verbs, ibv_flow_action_esp_attr* attr,
                                               mlx5dv_flow_action_esp* mlx5_attr) {
  if (!verbs || !attr) return null_with<ibv_flow_action>(EINVAL);
  if (!context_of(verbs)) return null_with<ibv_flow_action>(EOPNOTSUPP);
  if (mlx5_attr) {
    if ((mlx5_attr->comp_mask & ~std::uint64_t{MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS}) != 0) {
      return null_with<ibv_flow_action>(EOPNOTSUPP);
    }
    const bool flags = (mlx5_attr->comp_mask & MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS) != 0;
    if (flags && (mlx5_attr->action_flags & ~std::uint32_t{MLX5DV_FLOW_ACTION_FLAGS_REQUIRE_METADATA}) != 0) {
      return null_with<ibv_flow_action>(EOPNOTSUPP);
    }
  }
  return null_with<ibv_flow_action>(EPROTONOSUPPORT);
}

}  // namespace verbs::mlx5::model
