#include "nic/flow_table.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "nic/core/explanation.h"

namespace verbs::soft::nic {
namespace {

constexpr std::uint32_t kMulticastRank = UINT16_MAX + 1, kAllRank = UINT16_MAX + 2;  // a priority has 16 bits

std::uint32_t rank_of(const ibv_flow_attr& attr) {
  if (attr.type == IBV_FLOW_ATTR_NORMAL) return attr.priority;
  return attr.type == IBV_FLOW_ATTR_MC_DEFAULT ? kMulticastRank : kAllRank;
}

}  // namespace

// In the order of the kernel's checks.
int FlowTable::check(const Qp& qp, const ibv_flow_attr& attr, Why* why) const {
  constexpr std::uint32_t kKnownFlags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP | IBV_FLOW_ATTR_FLAGS_EGRESS;
  constexpr unsigned kMaxSpecs = 10;
  const bool defaults = attr.type == IBV_FLOW_ATTR_ALL_DEFAULT || attr.type == IBV_FLOW_ATTR_MC_DEFAULT;
  const bool goes_on = (attr.flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) != 0;
  if (attr.comp_mask != 0 || (attr.flags & ~kKnownFlags) != 0 || (goes_on && defaults) ||
      attr.num_of_specs > kMaxSpecs || (defaults && attr.num_of_specs != 0) ||
      static_cast<std::uint32_t>(attr.type) > IBV_FLOW_ATTR_SNIFFER) {
    *why = {Reason::kFlowAttributes,
            {attr.comp_mask, static_cast<std::uint32_t>(attr.type), attr.flags, attr.num_of_specs}};
    return EINVAL;
  }
  if (qp.type != IBV_QPT_RAW_PACKET) {
    *why = {Reason::kFlowQueuePair, {static_cast<std::uint64_t>(qp.type)}};
    return EINVAL;
  }
  if (core_.ports.find(attr.port) == nullptr) {
    *why = {Reason::kFlowPort, {attr.port, core_.ports.size()}};
    return EINVAL;
  }
  if ((attr.flags & IBV_FLOW_ATTR_FLAGS_EGRESS) != 0 || attr.type == IBV_FLOW_ATTR_SNIFFER) {
    *why = {Reason::kFlowForm, {static_cast<std::uint32_t>(attr.type), attr.flags}};
    return EOPNOTSUPP;
  }
  return 0;
}

int FlowTable::create(Qp* qp, const ibv_flow_attr& attr, Flow** flow) {
  Why why;
  const auto refuse = [&](int error) {
    explain_call(core_, Place::kCreateFlow, error, why, qp);
    return error;
  };
  if (const int error = check(*qp, attr, &why)) return refuse(error);
  if (count_ >= kMaxFlows) return ENOMEM;
  auto entry = std::make_unique<FlowEntry>();
  entry->port_num = attr.port;
  entry->rank = rank_of(attr);
  entry->goes_on = (attr.flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) != 0;
  if (const int error = read_specs(attr, &entry->match, &entry->action, &why)) return refuse(error);
  if (attr.type == IBV_FLOW_ATTR_MC_DEFAULT) match_multicast(&entry->match);

  auto made = std::make_unique<Flow>(Flow{.entry = entry.get(), .qp = qp});
  *flow = made.get();
  const auto shared = std::ranges::find_if(entries_, [&](const auto& known) { return known->same_frames(*entry); });
  if (shared != entries_.end()) {
    if ((*shared)->action != entry->action) {
      why = {Reason::kFlowConflict, {attr.priority}};
      return refuse(EEXIST);
    }
    made->entry = shared->get();
    (*shared)->flows.push_back(std::move(made));
  } else {
    entry->flows.push_back(std::move(made));
    const auto behind =
        std::ranges::upper_bound(entries_, entry->rank, {}, [](const auto& known) { return known->rank; });
    entries_.insert(behind, std::move(entry));
  }
  ++count_;
  ++qp->holders;
  return 0;
}

void FlowTable::destroy(Flow* flow) {
  FlowEntry* entry = flow->entry;
  --flow->qp->holders;
  --count_;
  std::erase_if(entry->flows, [flow](const auto& each) { return each.get() == flow; });
  if (!entry->flows.empty()) return;
  std::erase_if(entries_, [entry](const auto& each) { return each.get() == entry; });
}

void FlowTable::receive(std::uint8_t port_num, const verbs_soft_frame& frame) {
  if (entries_.empty()) return;
  // Who has a flow for them receives the frames of the own port, too: the device is all the network that many tests
  // have.
  core_.frame.looped = false;
  const FrameFields fields = fields_of({frame.data, frame.size});
  for (const auto& entry : entries_) {
    if (entry->port_num != port_num || !entry->match.matches(fields)) continue;
    if (!entry->action.drops) deliver(*entry, frame);
    if (!entry->goes_on) return;
  }
}

void FlowTable::deliver(const FlowEntry& entry, const verbs_soft_frame& frame) {
  const verbs_soft_delivery delivery{.flow_tag = entry.action.tag, .wc_flags = 0, .cvlan = 0};
  for (auto flow = entry.flows.begin(); flow != entry.flows.end(); ++flow) {
    Qp* qp = (*flow)->qp;
    if (qp->spread == nullptr && qp->attr.port_num != entry.port_num) continue;
    // One copy, of a queue pair that has the same flow several times.
    const bool again = std::any_of(entry.flows.begin(), flow, [qp](const auto& before) { return before->qp == qp; });
    if (!again) frames_.deliver(qp, frame, delivery);
  }
}

}  // namespace verbs::soft::nic
