#include "model/flow/request.h"

#include "model/devx/counters.h"
#include "model/devx/tir.h"
#include "verbs_soft_objects.h"

namespace verbs::mlx5::model {

namespace {

constexpr std::size_t kLibraryFlowActions = 8, kKernelFlowActions = 2;
constexpr std::uint32_t kTagLimit = 1 << 24;

}  // namespace

int FlowRequest::claim_destination() {
  if (claimed_) return EOPNOTSUPP;
  claimed_ = true;
  return 0;
}

int FlowRequest::set_destination(steering::Destination destination) {
  if (const int error = claim_destination()) return error;
  destination_ = std::move(destination);
  return 0;
}

int FlowRequest::add_qp(const ibv_qp* ibv) {
  if (const int error = claim_destination()) return error;
  RawQp* qp = find_qp(ibv);
  if (!qp || qp->owner != &owner_ || !soft::model::is_live(*soft(), ibv)) {
    wrong_object_ = true;
    return 0;
  }
  uses_.emplace_back(*qp);
  destination_ = steering::ToReceiver{qp};
  return 0;
}

int FlowRequest::add_devx_destination(const mlx5dv_devx_obj* handle) {
  if (const int error = claim_destination()) return error;
  Context* context = nullptr;
  DevxObject* object = find_devx_object(handle, &context);
  auto* tir = context == &owner_ ? dynamic_cast<DevxTir*>(object) : nullptr;
  if (!tir) {
    wrong_object_ = true;
    return 0;
  }
  uses_.emplace_back(*tir);
  destination_ = steering::ToReceiver{&tir->qp()};
  return 0;
}

int FlowRequest::add_steps(const std::vector<steering::Action>& steps) {
  for (const steering::Action& step : steps) {
    if (const auto* count = std::get_if<steering::CountAction>(&step)) counters_.push_back(count->counter);
    const auto* destination = std::get_if<steering::Destination>(&step);
    if (!destination) continue;
    if (const int error = set_destination(*destination)) return error;
  }
  return 0;
}

int FlowRequest::add_drop() {
  drops_ = true;
  return set_destination(steering::Drop{});
}

int FlowRequest::add_default_miss() {
  misses_ = true;
  return set_destination(steering::DefaultMiss{});
}

int FlowRequest::add_flow_action(const ibv_flow_action* ibv) {
  if (++flow_actions_ > kLibraryFlowActions) return EOPNOTSUPP;
  FlowAction* action = find_flow_action(ibv);
  if (!action || action->owner != &owner_) {
    wrong_object_ = true;
    return 0;
  }
  uses_.emplace_back(*action);
  foreign_table_[action->table == MLX5DV_FLOW_TABLE_TYPE_NIC_RX ? 0 : 1] = true;
  if (action->modify) {
    repeated_ |= modify_ != nullptr;
    modify_ = action->modify;
  } else if (action->reformat->type() == steering::ReformatType::kL2TunnelToL2) {
    repeated_ |= decap_ != nullptr || reformat_ != nullptr;
    decap_ = action->reformat;
  } else {
    repeated_ |= decap_ != nullptr || reformat_ != nullptr;
    reformat_ = action->reformat;
  }
  return 0;
}

int FlowRequest::add_tag(std::uint32_t tag) {
  if (tag_) return EINVAL;
  tag_ = tag;
  return 0;
}

int FlowRequest::add_counter(const mlx5dv_devx_obj* handle, std::uint32_t offset) {
  Context* context = nullptr;
  DevxObject* object = find_devx_object(handle, &context);
  return add_counter(context == &owner_ ? dynamic_cast<DevxCounters*>(object) : nullptr, offset);
}

int FlowRequest::add_counter(DevxCounters* counters, std::uint32_t offset) {
  if (!counters_.empty()) return EOPNOTSUPP;
  if (!counters || offset >= counters->count()) {
    wrong_object_ = true;
    return 0;
  }
  uses_.emplace_back(*counters);
  counters_.push_back(counters->at(offset));
  return 0;
}

bool FlowRequest::exceeds_kernel() const { return flow_actions_ > kKernelFlowActions; }

int FlowRequest::check(Direction direction) const {
  if (direction == Direction::kReceive) {
    if (!claimed_) return EINVAL;
    if (misses_ && owner_.device->capabilities.nic_rx_multi_path_tirs == 0) return EOPNOTSUPP;
  } else {
    if (misses_) return EOPNOTSUPP;
    if (destination_ && std::holds_alternative<steering::ToReceiver>(*destination_)) return EINVAL;
  }
  if (wrong_object_ || repeated_) return EINVAL;
  return tag_ && *tag_ >= kTagLimit ? EINVAL : 0;
}

int FlowRequest::check_firmware(Direction direction) const {
  return foreign_table_[direction == Direction::kReceive ? 1 : 0] ? EINVAL : 0;
}

bool FlowRequest::only_counts() const {
  return !counters_.empty() && !destination_ && !decap_ && !reformat_ && !modify_;
}

void FlowRequest::append_steps(std::vector<steering::Action>& actions) const {
  if (decap_) actions.emplace_back(steering::ReformatAction{decap_});
  if (reformat_) actions.emplace_back(steering::ReformatAction{reformat_});
  if (modify_) actions.emplace_back(steering::ModifyAction{modify_});
  if (tag_) actions.emplace_back(steering::SetTag{*tag_});
}

}  // namespace verbs::mlx5::model
