#include "model/dr/action.h"

#include <algorithm>
#include <span>

#include "model/devx/object.h"
#include "model/flow/action.h"
#include "steering/headers/bytes.h"

// Direct rules' drop, default miss, tag and counter actions, and the destruction of all actions.

namespace verbs::mlx5::model {

namespace {

Live<DrAction>& actions() { return live<DrAction>(); }

mlx5dv_dr_action* add(DrKind kind, steering::Action step) {
  auto action = std::make_unique<DrAction>(kind);
  action->steps.push_back(std::move(step));
  return add_dr_action(std::move(action));
}

}  // namespace

DrAction* find_dr_action(const mlx5dv_dr_action* handle) { return actions().find(handle); }

std::unique_ptr<DrAction> action_to(DrKind kind, DrTable& table) {
  auto action = std::make_unique<DrAction>(kind);
  action->owner = table.domain.owner;
  action->domain = &table.domain;
  if (!table.is_root()) action->next_level = table.level;
  action->used.emplace_back(table);
  return action;
}

mlx5dv_dr_action* add_dr_action(std::unique_ptr<DrAction> action) {
  const ModelLock guard(model_mutex());
  return actions().add(std::move(action));
}

// An action may be part of another one, which has to be destroyed first.
void forget_dr_actions(Context& context) {
  bool more = true;
  while (more) {
    more = false;
    actions().remove_if([&](const DrAction& action) {
      const bool removed = action.owner == &context && !action.in_use();
      more |= removed;
      return removed;
    });
  }
}

}  // namespace verbs::mlx5::model

using namespace verbs::mlx5::model;

mlx5dv_dr_action::~mlx5dv_dr_action() {
  if (flow_action) destroy_flow_action(flow_action);
  if (!meter) return;
  const DeviceLock lock(*owner);
  --owner->device->clocked;
}

namespace verbs::mlx5::model {

mlx5dv_dr_action* mlx5dv_dr_action_create_drop() { return add(DrKind::kDrop, steering::Destination{steering::Drop{}}); }

mlx5dv_dr_action* mlx5dv_dr_action_create_default_miss() {
  return add(DrKind::kDefaultMiss, steering::Destination{steering::DefaultMiss{}});
}

mlx5dv_dr_action* mlx5dv_dr_action_create_tag(std::uint32_t tag) {
  auto action = std::make_unique<DrAction>(DrKind::kTag);
  action->tag = tag & 0xffffff;
  action->steps.emplace_back(steering::SetTag{action->tag});
  return add_dr_action(std::move(action));
}

mlx5dv_dr_action* mlx5dv_dr_action_create_flow_counter(mlx5dv_devx_obj* handle, std::uint32_t offset) {
  const ModelLock guard(model_mutex());
  Context* context = nullptr;
  auto* counters = dynamic_cast<DevxCounters*>(find_devx_object(handle, &context));
  if (!counters || offset >= counters->count()) return null_with<mlx5dv_dr_action>(EINVAL);
  auto action = std::make_unique<DrAction>(DrKind::kCounter);
  action->owner = context;
  action->used.emplace_back(*counters);
  action->counter = counters;
  action->counter_offset = offset;
  action->steps.emplace_back(steering::CountAction{counters->at(offset)});
  return add_dr_action(std::move(action));
}

int mlx5dv_dr_action_destroy(mlx5dv_dr_action* handle) {
  const ModelLock guard(model_mutex());
  DrAction* action = actions().find(handle);
  if (!action) return EINVAL;
  if (action->in_use()) return EBUSY;
  actions().remove(action);
  return 0;
}

}  // namespace verbs::mlx5::model

// The header actions of direct rules: packet reformat, modify header, and VLAN push and pop.

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

// The destination actions of direct rules: queue pairs, TIRs, tables, and arrays of these.

namespace verbs::mlx5::model {

namespace {

mlx5dv_dr_action* add_receiver(RawQp& qp, Counted& used, Context& owner) {
  auto action = std::make_unique<DrAction>(DrKind::kQp);
  action->owner = &owner;
  action->used.emplace_back(used);
  action->steps.emplace_back(steering::Destination{steering::ToReceiver{&qp}});
  return add_dr_action(std::move(action));
}

mlx5dv_dr_action* add_table(DrTable& table, std::shared_ptr<steering::FlowTable> destination) {
  auto action = action_to(DrKind::kTable, table);
  action->steps.emplace_back(steering::Destination{steering::ToTable{std::move(destination)}});
  return add_dr_action(std::move(action));
}

// Adds one element of a destination array: 0 or errno.
int add_element(const DrDomain& domain, const mlx5dv_dr_action_dest_attr* attr, DrAction& action,
                steering::DestinationArray& array) {
  if (!attr) return EINVAL;
  // Only an FDB domain can encapsulate for one destination.
  if (attr->type == MLX5DV_DR_ACTION_DEST_REFORMAT) return EOPNOTSUPP;
  if (attr->type != MLX5DV_DR_ACTION_DEST) return EINVAL;
  DrAction* element = find_dr_action(attr->dest);
  if (!element || (element->owner && element->owner != domain.owner)) return EINVAL;
  if (element->domain && element->domain != &domain) return EINVAL;
  switch (element->kind) {
    case DrKind::kQp:
    case DrKind::kTable:
      array.entries.push_back({nullptr, std::get<steering::Destination>(element->steps.front())});
      break;
    case DrKind::kCounter:
      action.steps.push_back(element->steps.front());
      break;
    default:
      return EOPNOTSUPP;
  }
  action.used.emplace_back(*element);
  const std::optional<std::uint32_t>& level = element->next_level;
  if (level) action.next_level = std::min(action.next_level.value_or(*level), *level);
  return 0;
}

}  // namespace

mlx5dv_dr_action* mlx5dv_dr_action_create_dest_ibv_qp(ibv_qp* ibv) {
  const ModelLock guard(model_mutex());
  RawQp* qp = find_qp(ibv);
  return qp ? add_receiver(*qp, *qp, *qp->owner) : null_with<mlx5dv_dr_action>(EINVAL);
}

mlx5dv_dr_action* mlx5dv_dr_action_create_dest_devx_tir(mlx5dv_devx_obj* handle) {
  const ModelLock guard(model_mutex());
  Context* context = nullptr;
  auto* tir = dynamic_cast<DevxTir*>(find_devx_object(handle, &context));
  return tir ? add_receiver(tir->qp(), *tir, *context) : null_with<mlx5dv_dr_action>(EINVAL);
}

mlx5dv_dr_action* mlx5dv_dr_action_create_dest_table(mlx5dv_dr_table* handle) {
  const ModelLock guard(model_mutex());
  DrTable* table = find_dr_table(handle);
  return table && !table->is_root() ? add_table(*table, table->table) : null_with<mlx5dv_dr_action>(EINVAL);
}

mlx5dv_dr_action* mlx5dv_dr_action_create_dest_root_table(mlx5dv_dr_table* handle, std::uint16_t priority) {
  const ModelLock guard(model_mutex());
  DrTable* table = find_dr_table(handle);
  if (!table || !table->is_root() || priority >= kPriorities) return null_with<mlx5dv_dr_action>(EINVAL);
  const Context& context = *table->domain.owner;
  const DeviceLock lock(context);
  if (lock.error() != 0) return null_with<mlx5dv_dr_action>(lock.error());
  return add_table(*table, context.device->root(table->domain.direction()).table(priority));
}

// Virtual ports are destinations of FDB domains, which the model does not have.
mlx5dv_dr_action* mlx5dv_dr_action_create_dest_vport(mlx5dv_dr_domain*, std::uint32_t) {
  return null_with<mlx5dv_dr_action>(EOPNOTSUPP);
}

mlx5dv_dr_action* mlx5dv_dr_action_create_dest_ib_port(mlx5dv_dr_domain*, std::uint32_t) {
  return null_with<mlx5dv_dr_action>(EOPNOTSUPP);
}

mlx5dv_dr_action* mlx5dv_dr_action_create_dest_array(mlx5dv_dr_domain* handle, std::size_t count,
                                                     mlx5dv_dr_action_dest_attr* attrs[]) {
  const ModelLock guard(model_mutex());
  DrDomain* domain = find_dr_domain(handle);
  if (!domain || !attrs || count <= 1) return null_with<mlx5dv_dr_action>(EINVAL);
  if (domain->type != MLX5DV_DR_DOMAIN_TYPE_NIC_RX) return null_with<mlx5dv_dr_action>(EOPNOTSUPP);
  auto action = std::make_unique<DrAction>(DrKind::kArray);
  action->owner = domain->owner;
  action->domain = domain;
  auto array = std::make_shared<steering::DestinationArray>();
  for (std::size_t i = 0; i < count; ++i) {
    if (const int error = add_element(*domain, attrs[i], *action, *array)) return null_with<mlx5dv_dr_action>(error);
  }
  action->used.emplace_back(*domain);
  action->steps.emplace_back(steering::Destination{steering::ToArray{std::move(array)}});
  return add_dr_action(std::move(action));
}

}  // namespace verbs::mlx5::model
