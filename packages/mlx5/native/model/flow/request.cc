#include "model/flow/request.h"

#include <cstring>

#include "model/devx/flow_table.h"
#include "model/devx/object.h"
#include "steering/headers/bytes.h"
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
  if (auto* table = context == &owner_ ? dynamic_cast<DevxTable*>(object) : nullptr) {
    uses_.emplace_back(*table);
    table_ = table->direction;
    destination_ = steering::ToTable{table->table()};
    return 0;
  }
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
  if (table_ && *table_ != direction) return EINVAL;
  if (direction == Direction::kRdmaReceive) {
    // Only to a queue pair or a table, and nothing of what changes frames.
    if (!destination_ || drops_ || misses_) return EINVAL;
    return wrong_object_ || flow_actions_ != 0 || tag_ ? EINVAL : 0;
  }
  if (direction == Direction::kRdmaTransmit) {
    if (misses_) return EOPNOTSUPP;
    return wrong_object_ || flow_actions_ != 0 || tag_ || (destination_ && !drops_ && !table_) ? EINVAL : 0;
  }
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

namespace {

namespace header = steering::header;
namespace misc = steering::misc;

constexpr std::uint32_t kMiscAt = steering::kMatchSectionSize, kInnerAt = 2 * steering::kMatchSectionSize;
constexpr std::uint8_t kTcp = 6, kUdp = 17, kGre = 47;
constexpr std::uint8_t kCvlanTag = 0x80;

// Fills in mask and value together.
class Match {
 public:
  Match(std::span<std::uint8_t> mask, std::span<std::uint8_t> value) : mask_(mask), value_(value) {}

  void copy(std::uint32_t at, const void* mask, const void* value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      set(at + static_cast<std::uint32_t>(i), static_cast<const std::uint8_t*>(mask)[i],
          static_cast<const std::uint8_t*>(value)[i]);
    }
  }
  void set(std::uint32_t at, unsigned mask, unsigned value) {
    mask_[at] |= static_cast<std::uint8_t>(mask);
    value_[at] |= static_cast<std::uint8_t>(value & mask);
  }

 private:
  std::span<std::uint8_t> mask_, value_;
};

// ip_version is in bits 1 to 4 of its byte.
void add_version(Match& match, std::uint32_t at, unsigned version) {
  match.set(at + header::kFlags, 0xf << 1, version << 1);
}

void add(Match& match, std::uint32_t at, const ibv_flow_spec_eth& spec) {
  match.copy(at + header::kSmac, spec.mask.src_mac, spec.val.src_mac, 6);
  match.copy(at + header::kDmac, spec.mask.dst_mac, spec.val.dst_mac, 6);
  match.copy(at + header::kEthertype, &spec.mask.ether_type, &spec.val.ether_type, 2);
  if (spec.mask.vlan_tag == 0) return;
  match.set(at + header::kFlags, kCvlanTag, kCvlanTag);
  match.copy(at + header::kFirstVlan, &spec.mask.vlan_tag, &spec.val.vlan_tag, 2);
}

template <typename Filter>
void add_addresses(Match& match, std::uint32_t at, const Filter& mask, const Filter& value) {
  add_version(match, at, 4);
  match.copy(at + header::kSourceIp + 12, &mask.src_ip, &value.src_ip, 4);
  match.copy(at + header::kDestinationIp + 12, &mask.dst_ip, &value.dst_ip, 4);
}

void add(Match& match, std::uint32_t at, const ibv_flow_spec_ipv4_ext& spec) {
  add_addresses(match, at, spec.mask, spec.val);
  match.set(at + header::kIpProtocol, spec.mask.proto, spec.val.proto);
  match.set(at + header::kDscpEcn, spec.mask.tos, spec.val.tos);
  match.set(at + header::kTtl, spec.mask.ttl, spec.val.ttl);
}

void add(Match& match, std::uint32_t at, const ibv_flow_spec_ipv6& spec) {
  add_version(match, at, 6);
  match.copy(at + header::kSourceIp, spec.mask.src_ip, spec.val.src_ip, 16);
  match.copy(at + header::kDestinationIp, spec.mask.dst_ip, spec.val.dst_ip, 16);
  match.set(at + header::kIpProtocol, spec.mask.next_hdr, spec.val.next_hdr);
  match.set(at + header::kDscpEcn, spec.mask.traffic_class, spec.val.traffic_class);
  match.set(at + header::kTtl, spec.mask.hop_limit, spec.val.hop_limit);
  const std::uint32_t label = kMiscAt + (at == 0 ? misc::kOuterFlowLabel : misc::kInnerFlowLabel);
  match.copy(label, &spec.mask.flow_label, &spec.val.flow_label, 4);
}

void add_ports(Match& match, std::uint32_t at, const ibv_flow_spec_tcp_udp& spec, bool tcp) {
  match.set(at + header::kIpProtocol, 0xff, tcp ? kTcp : kUdp);
  match.copy(at + (tcp ? header::kTcpSport : header::kUdpSport), &spec.mask.src_port, &spec.val.src_port, 2);
  match.copy(at + (tcp ? header::kTcpDport : header::kUdpDport), &spec.mask.dst_port, &spec.val.dst_port, 2);
}

void add(Match& match, std::uint32_t at, const ibv_flow_spec_gre& spec) {
  match.set(at + header::kIpProtocol, 0xff, kGre);
  // Checksum, key and sequence number present: bits 0, 2 and 3 of the header and of the match parameters' byte.
  const auto flags = [](std::uint16_t bits) {
    return unsigned{reinterpret_cast<const std::uint8_t*>(&bits)[0]} & 0xb0;
  };
  match.set(kMiscAt + misc::kFlags, flags(spec.mask.c_ks_res0_ver), flags(spec.val.c_ks_res0_ver));
  match.copy(kMiscAt + misc::kGreProtocol, &spec.mask.protocol, &spec.val.protocol, 2);
  match.copy(kMiscAt + misc::kGreKey, &spec.mask.key, &spec.val.key, 4);
}

// Reads one specification. EINVAL if its size is not that of its type.
template <typename Spec>
int read(const std::uint8_t* from, std::size_t size, Spec* spec) {
  if (size != sizeof *spec) return EINVAL;
  std::memcpy(static_cast<void*>(spec), from, sizeof *spec);
  return 0;
}

int add_spec(Match& match, const std::uint8_t* from, std::size_t size, unsigned type) {
  const std::uint32_t at = (type & IBV_FLOW_SPEC_INNER) != 0 ? kInnerAt : 0;
  switch (type & ~unsigned{IBV_FLOW_SPEC_INNER}) {
    case IBV_FLOW_SPEC_ETH: {
      ibv_flow_spec_eth spec;
      if (const int error = read(from, size, &spec)) return error;
      add(match, at, spec);
      return 0;
    }
    case IBV_FLOW_SPEC_IPV4: {
      ibv_flow_spec_ipv4 spec;
      if (const int error = read(from, size, &spec)) return error;
      add_addresses(match, at, spec.mask, spec.val);
      return 0;
    }
    case IBV_FLOW_SPEC_IPV4_EXT: {
      ibv_flow_spec_ipv4_ext spec;
      if (const int error = read(from, size, &spec)) return error;
      if (spec.mask.flags != 0) return EOPNOTSUPP;
      add(match, at, spec);
      return 0;
    }
    case IBV_FLOW_SPEC_IPV6: {
      ibv_flow_spec_ipv6 spec;
      if (const int error = read(from, size, &spec)) return error;
      add(match, at, spec);
      return 0;
    }
    case IBV_FLOW_SPEC_TCP:
    case IBV_FLOW_SPEC_UDP: {
      ibv_flow_spec_tcp_udp spec;
      if (const int error = read(from, size, &spec)) return error;
      add_ports(match, at, spec, (type & ~unsigned{IBV_FLOW_SPEC_INNER}) == IBV_FLOW_SPEC_TCP);
      return 0;
    }
    case IBV_FLOW_SPEC_VXLAN_TUNNEL: {
      ibv_flow_spec_tunnel spec;
      if (const int error = read(from, size, &spec)) return error;
      // The low 24 of 32 bits.
      const auto* mask = reinterpret_cast<const std::uint8_t*>(&spec.mask.tunnel_id);
      const auto* value = reinterpret_cast<const std::uint8_t*>(&spec.val.tunnel_id);
      match.copy(kMiscAt + misc::kVxlanVni, mask + 1, value + 1, 3);
      return 0;
    }
    case IBV_FLOW_SPEC_GRE: {
      ibv_flow_spec_gre spec;
      if (const int error = read(from, size, &spec)) return error;
      add(match, at, spec);
      return 0;
    }
    default:
      return EOPNOTSUPP;
  }
}

int add_action(FlowRequest& request, const std::uint8_t* from, std::size_t size, unsigned type, bool* drops) {
  switch (type) {
    case IBV_FLOW_SPEC_ACTION_TAG: {
      ibv_flow_spec_action_tag spec;
      if (const int error = read(from, size, &spec)) return error;
      return request.add_tag(spec.tag_id);
    }
    case IBV_FLOW_SPEC_ACTION_DROP:
      if (size != sizeof(ibv_flow_spec_action_drop)) return EINVAL;
      *drops = true;
      return request.add_drop();
    case IBV_FLOW_SPEC_ACTION_HANDLE: {
      ibv_flow_spec_action_handle spec;
      if (const int error = read(from, size, &spec)) return error;
      return request.add_flow_action(spec.action);
    }
    default:
      return EOPNOTSUPP;
  }
}

}  // namespace

int read_specs(const ibv_flow_attr& attr, std::span<std::uint8_t, steering::kMatchSize> mask,
               std::span<std::uint8_t, steering::kMatchSize> value, FlowRequest& request, bool* drops) {
  Match match(mask, value);
  const auto* at = reinterpret_cast<const std::uint8_t*>(&attr + 1);
  for (unsigned i = 0; i < attr.num_of_specs; ++i) {
    ibv_flow_spec_action_drop head;  // the fields that all specifications begin with
    std::memcpy(static_cast<void*>(&head), at, sizeof head);
    const unsigned type = head.type;
    const int error = type >= IBV_FLOW_SPEC_ACTION_TAG ? add_action(request, at, head.size, type, drops)
                                                       : add_spec(match, at, head.size, type);
    if (error != 0) return error;
    at += head.size;
  }
  return 0;
}

}  // namespace verbs::mlx5::model
