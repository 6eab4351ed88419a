// The header actions of direct rules: packet reformat, modify header, and VLAN push and pop.
#include <span>

#include "model/dr/action.h"
#include "model/flow/action.h"
#include "steering/headers/bytes.h"

namespace verbs::mlx5::model {

namespace {

mlx5dv_flow_table_type table_of(const DrDomain& domain) {
  return domain.direction() == Direction::kReceive ? MLX5DV_FLOW_TABLE_TYPE_NIC_RX : MLX5DV_FLOW_TABLE_TYPE_NIC_TX;
}

// The library's checks: data and size are both given or neither, and each direction has two of the types.
int check_reformat(const DrDomain& domain, unsigned type, std::size_t size, const void* data) {
  if ((data == nullptr) != (size == 0)) return EINVAL;
  if (type > MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL) return EINVAL;
  const bool decap = type == MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2 ||
                     type == MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2;
  return decap == (domain.direction() == Direction::kReceive) ? 0 : EINVAL;
}

constexpr DrKind kReformatKinds[] = {DrKind::kL2Decap, DrKind::kL2Encap, DrKind::kL3Decap, DrKind::kL3Encap};

// Checks an entry's fields: few of them can be added to, and some registers exist in one direction only.
int check_entry(const DrDomain& domain, std::uint64_t entry) {
  constexpr unsigned kSet = 1, kAdd = 2, kCopy = 3;
  constexpr unsigned kTtl = 0x0a, kHopLimit = 0x47, kTcpSequence = 0x59, kTcpAcknowledgement = 0x5b;
  constexpr unsigned kRegisterA = 0x49, kRegisterB = 0x50;
  const unsigned type = entry >> 60;
  const unsigned field = entry >> 48 & 0xfff;
  const unsigned target = entry >> 16 & 0xfff;
  const bool receive = domain.direction() == Direction::kReceive;
  const auto exists = [&](unsigned number) { return number != (receive ? kRegisterA : kRegisterB); };
  switch (type) {
    case kSet:
      return exists(field) ? 0 : EINVAL;
    case kAdd:
      return field == kTtl || field == kHopLimit || field == kTcpSequence || field == kTcpAcknowledgement ? 0 : EINVAL;
    case kCopy:
      return exists(field) && exists(target) ? 0 : EINVAL;
    default:
      return EOPNOTSUPP;
  }
}

int check_entries(const DrDomain& domain, const std::uint8_t* data, std::size_t size) {
  for (std::size_t i = 0; i < size; i += 8) {
    const std::uint64_t entry = std::uint64_t{steering::load32(data + i)} << 32 | steering::load32(data + i + 4);
    if (const int error = check_entry(domain, entry)) return error;
  }
  return 0;
}

std::unique_ptr<DrAction> make(DrKind kind, DrDomain& domain) {
  auto action = std::make_unique<DrAction>(kind);
  action->owner = domain.owner;
  action->domain = &domain;
  action->used.emplace_back(domain);
  return action;
}

mlx5dv_dr_action* add(std::unique_ptr<DrAction> action, ibv_flow_action* flow_action) {
  if (!flow_action) return nullptr;
  action->flow_action = flow_action;
  return add_dr_action(std::move(action));
}

}  // namespace

mlx5dv_dr_action* mlx5dv_dr_action_create_packet_reformat(mlx5dv_dr_domain* handle, std::uint32_t flags,
                                                          mlx5dv_flow_action_packet_reformat_type type,
                                                          std::size_t size, void* data) {
  const ModelLock guard(model_mutex());
  DrDomain* domain = find_dr_domain(handle);
  if (!domain || (flags & ~std::uint32_t{MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL}) != 0) {
    return null_with<mlx5dv_dr_action>(EINVAL);
  }
  if (const int error = check_reformat(*domain, type, size, data)) return null_with<mlx5dv_dr_action>(error);
  auto action = make(kReformatKinds[type], *domain);
  if (flags != 0) {
    return add(std::move(action),
               mlx5dv_create_flow_action_packet_reformat(domain->owner->ibv, size, data, type, table_of(*domain)));
  }
  int error = 0;
  auto reformat = make_reformat(*domain->owner->device, type, data, size, &error);
  if (!reformat) return null_with<mlx5dv_dr_action>(error);
  action->steps.emplace_back(steering::ReformatAction{std::move(reformat)});
  return add_dr_action(std::move(action));
}

mlx5dv_dr_action* mlx5dv_dr_action_create_modify_header(mlx5dv_dr_domain* handle, std::uint32_t flags, std::size_t size,
                                                        __be64 entries[]) {
  const ModelLock guard(model_mutex());
  DrDomain* domain = find_dr_domain(handle);
  if (!domain || (flags & ~std::uint32_t{MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL}) != 0 || size % 8 != 0) {
    return null_with<mlx5dv_dr_action>(EINVAL);
  }
  auto action = make(DrKind::kModify, *domain);
  if (flags != 0) {
    auto* values = reinterpret_cast<std::uint64_t*>(entries);
    return add(std::move(action),
               mlx5dv_create_flow_action_modify_header(domain->owner->ibv, size, values, table_of(*domain)));
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(entries);
  if (!bytes || size == 0) return null_with<mlx5dv_dr_action>(EINVAL);
  if (const int error = check_entries(*domain, bytes, size)) return null_with<mlx5dv_dr_action>(error);
  auto problem = steering::ModifyProblem::kNone;
  auto modify = steering::ModifyHeader::create({bytes, size}, &problem);
  if (!modify) return null_with<mlx5dv_dr_action>(EINVAL);
  action->steps.emplace_back(steering::ModifyAction{std::move(modify)});
  return add_dr_action(std::move(action));
}

mlx5dv_dr_action* mlx5dv_dr_action_create_pop_vlan() {
  auto action = std::make_unique<DrAction>(DrKind::kPopVlan);
  action->steps.emplace_back(steering::PopVlan{});
  return add_dr_action(std::move(action));
}

mlx5dv_dr_action* mlx5dv_dr_action_create_push_vlan(mlx5dv_dr_domain* handle, __be32 header) {
  const ModelLock guard(model_mutex());
  if (!find_dr_domain(handle)) return null_with<mlx5dv_dr_action>(EINVAL);
  const std::uint32_t value = be32toh(header);
  const std::uint32_t ethertype = value >> 16;
  if (ethertype != 0x8100 && ethertype != 0x88a8) return null_with<mlx5dv_dr_action>(EINVAL);
  auto action = std::make_unique<DrAction>(DrKind::kPushVlan);
  action->steps.emplace_back(steering::PushVlan{value});
  return add_dr_action(std::move(action));
}

}  // namespace verbs::mlx5::model
