#include "model/flow/entry.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <tuple>

namespace verbs::mlx5::model {
namespace {

constexpr std::uint32_t kLargestTable = 65536;  // entries of a table that was created for flows

// Whether this match selects a multicast destination, by its MAC or IPv4 address.
bool is_multicast(std::span<const std::uint8_t> mask, std::span<const std::uint8_t> value) {
  const auto bits = [&](std::uint32_t at, std::uint8_t wanted, std::uint8_t is) {
    return at < value.size() && (mask[at] & wanted) == wanted && (value[at] & wanted) == is;
  };
  return bits(steering::header::kDmac, 0x01, 0x01) || bits(steering::header::kDestinationIp + 12, 0xf0, 0xe0);
}

bool same(const steering::Destination& a, const steering::Destination& b) {
  if (a.index() != b.index()) return false;
  if (const auto* to = std::get_if<steering::ToReceiver>(&a)) {
    return to->receiver == std::get<steering::ToReceiver>(b).receiver;
  }
  if (const auto* to = std::get_if<steering::ToTable>(&a)) return to->table == std::get<steering::ToTable>(b).table;
  if (const auto* to = std::get_if<steering::ToArray>(&a)) return to->array == std::get<steering::ToArray>(b).array;
  return true;
}

// The value padded to the whole of the match parameters.
std::array<std::uint8_t, steering::kMatchSize> padded(std::span<const std::uint8_t> value) {
  std::array<std::uint8_t, steering::kMatchSize> whole{};
  std::copy(value.begin(), value.end(), whole.begin());
  return whole;
}

}  // namespace

FlowEntry* FlowEntry::insert(const FlowMatcher& matcher, std::span<const std::uint8_t> value,
                             std::unique_ptr<FlowRequest> request, FlowRequest** inserted) {
  if (matcher.priority >= kPriorities) return null_with<FlowEntry>(ENOMEM);
  for (std::size_t i = 0; i < value.size(); ++i) {
    if ((value[i] & ~matcher.given[i]) != 0) return null_with<FlowEntry>(EINVAL);
  }
  const Context& context = *matcher.owner;
  Device& device = *context.device;
  // The mask is zero where the criteria are not enabled, and the value's bits there are ignored.
  const auto whole = padded(value);
  const std::uint32_t priority =
      is_multicast(matcher.mask, value) ? steering::RootTables::kMulticastPriority : matcher.priority;

  const DeviceLock lock(context);
  if (lock.error() != 0) return null_with<FlowEntry>(lock.error());
  const std::shared_ptr<steering::FlowTable> table = device.root(matcher.direction).table(priority);
  steering::Matcher* group = table->find_matcher(0, matcher.mask);
  steering::Rule* rule = group ? group->find(whole) : nullptr;
  FlowEntry* entry = nullptr;
  if (rule) {
    entry = device.entries.at(rule).get();
    if (entry->conflicts(*request)) return null_with<FlowEntry>(EEXIST);
  } else if (table->rules() >= std::min(std::uint32_t{1} << device.capabilities.log_max_ft_size, kLargestTable)) {
    return null_with<FlowEntry>(ENOSPC);
  }
  if (const int error = request->check_firmware(matcher.direction)) return null_with<FlowEntry>(error);
  *inserted = request.get();
  if (entry) {
    entry->share(std::move(request));
    return entry;
  }
  return create(device, table, group, {matcher.mask, whole}, std::move(request));
}

// One more flow in this entry, or none if memory is short.
void FlowEntry::share(std::unique_ptr<FlowRequest> request) {
  requests_.push_back(std::move(request));
  try {
    rule_->set_actions(actions());
  } catch (const std::bad_alloc&) {
    requests_.pop_back();
    throw;
  }
}

// A new entry in `group`, or in a new group if that is nullptr. Leaves nothing behind if memory is short.
FlowEntry* FlowEntry::create(Device& device, const std::shared_ptr<steering::FlowTable>& table,
                             steering::Matcher* group, const Match& match, std::unique_ptr<FlowRequest> request) {
  if (!group) group = &table->add_matcher(0, match.mask);
  try {
    std::shared_ptr<FlowEntry> added(new FlowEntry(device, table, *group));
    added->requests_.push_back(std::move(request));
    // Its place, before the rule that is its key.
    decltype(device.entries) one;
    one.emplace(nullptr, added);
    auto place = one.extract(one.begin());
    device.entries.reserve(device.entries.size() + 1);
    added->rule_ = &group->add(match.value, added->actions());
    place.key() = added->rule_;
    device.entries.insert(std::move(place));
    return added.get();
  } catch (const std::bad_alloc&) {
    if (group->rules() == 0) table->remove_matcher(*group);
    throw;
  }
}

// The rule has its new actions before the flow is gone, whose receiver may be destroyed then. Without memory for them,
// failed(removed, place) decides.
template <typename Failed>
int FlowEntry::remove(const Context& context, FlowRequest* request, Failed&& failed) {
  const DeviceLock lock(context);
  if (lock.error() != 0) return lock.error();
  const auto found = std::ranges::find(requests_, request, [](const auto& each) { return each.get(); });
  const auto place = std::next(found);
  Requests removed;
  removed.splice(removed.end(), requests_, found);
  if (!requests_.empty()) {
    try {
      rule_->set_actions(actions());
    } catch (const std::bad_alloc&) {
      failed(removed, place);
    }
    return 0;
  }
  const steering::Rule* key = rule_;
  Device& device = device_;
  matcher_.remove(*rule_);
  if (matcher_.rules() == 0) table_->remove_matcher(matcher_);
  device.entries.erase(key);  // destroys *this
  return 0;
}

int FlowEntry::remove(const Context& context, FlowRequest* request) {
  return remove(context, request, [&](Requests& removed, Requests::const_iterator place) {
    requests_.splice(place, removed);
    throw;
  });
}

int FlowEntry::forget(const Context& context, FlowRequest* request) noexcept {
  return remove(context, request, [&](Requests&, Requests::const_iterator) { rule_->set_actions({}); });
}

// Compares as the kernel does: one more destination is no conflict, nor is a flow that only counts.
bool FlowEntry::conflicts(const FlowRequest& request) const {
  const auto kind = [](const FlowRequest& each) {
    return std::tuple(each.drops(), each.decapsulates(), each.reformat(), each.modify());
  };
  const bool counting =
      std::all_of(requests_.begin(), requests_.end(), [](const auto& each) { return each->only_counts(); });
  const FlowRequest* full = requests_.front().get();
  std::uint32_t tag = 0;
  for (const auto& each : requests_) {
    if (!each->only_counts()) full = each.get();
    tag = each->tag().value_or(tag);
  }
  if (!counting && !request.only_counts() && kind(*full) != kind(request)) return true;
  return request.tag() && *request.tag() != tag;
}

steering::ActionList FlowEntry::actions() const {
  std::vector<steering::Action> steps;
  std::vector<std::shared_ptr<steering::Counter>> counters;
  std::vector<steering::Destination> destinations;
  const FlowRequest* leading = requests_.front().get();
  for (const auto& each : requests_) {
    if (leading->only_counts()) leading = each.get();
    for (const auto& counter : each->counters()) {
      if (std::find(counters.begin(), counters.end(), counter) == counters.end()) counters.push_back(counter);
    }
    const auto& destination = each->destination();
    if (!destination) continue;
    const bool known = std::any_of(destinations.begin(), destinations.end(),
                                   [&](const auto& other) { return same(other, *destination); });
    if (!known) destinations.push_back(*destination);
  }
  leading->append_steps(steps);
  for (const auto& counter : counters) steps.emplace_back(steering::CountAction{counter});
  if (destinations.size() == 1) steps.emplace_back(destinations.front());
  if (destinations.size() > 1) {
    auto array = std::make_shared<steering::DestinationArray>();
    for (const auto& destination : destinations) array->entries.push_back({nullptr, destination});
    steps.emplace_back(steering::Destination{steering::ToArray{std::move(array)}});
  }
  return steering::ActionList(std::move(steps));
}

namespace {

// mlx5dv_create_flow_matcher and mlx5dv_destroy_flow_matcher, with the checks of the library and then of the kernel.

Live<FlowMatcher>& matchers() { return live<FlowMatcher>(); }

// Table types of newer libraries, which need an IB port.
constexpr unsigned kRdmaTransportRx = 5, kRdmaTransportTx = 6;

int check_library(const mlx5dv_flow_matcher_attr& attr) {
  if ((attr.comp_mask & ~std::uint64_t{MLX5DV_FLOW_MATCHER_MASK_FT_TYPE}) != 0) return EOPNOTSUPP;
  if (attr.type != IBV_FLOW_ATTR_NORMAL) return EOPNOTSUPP;
  const unsigned table = attr.ft_type;
  return table == kRdmaTransportRx || table == kRdmaTransportTx ? EINVAL : 0;
}

// Chooses the direction of the matcher's tables: 0 or errno.
int choose_tables(const mlx5dv_flow_matcher_attr& attr, Direction* direction) {
  const bool typed = (attr.comp_mask & MLX5DV_FLOW_MATCHER_MASK_FT_TYPE) != 0;
  if (typed && attr.flags != 0) return EINVAL;
  if ((attr.flags & ~std::uint32_t{IBV_FLOW_ATTR_FLAGS_EGRESS}) != 0) return EINVAL;
  if (!typed) {
    *direction = attr.flags != 0 ? Direction::kTransmit : Direction::kReceive;
    return 0;
  }
  switch (attr.ft_type) {
    case MLX5DV_FLOW_TABLE_TYPE_NIC_RX:
      *direction = Direction::kReceive;
      return 0;
    case MLX5DV_FLOW_TABLE_TYPE_NIC_TX:
      *direction = Direction::kTransmit;
      return 0;
    case MLX5DV_FLOW_TABLE_TYPE_RDMA_RX:
      *direction = Direction::kRdmaReceive;
      return 0;
    case MLX5DV_FLOW_TABLE_TYPE_RDMA_TX:
      *direction = Direction::kRdmaTransmit;
      return 0;
    default:
      return EINVAL;  // also FDB: the model has no e-switch
  }
}

}  // namespace

FlowMatcher* find_flow_matcher(const mlx5dv_flow_matcher* handle) { return matchers().find(handle); }

void forget_flow_matchers(Context& context) {
  matchers().remove_if([&](const FlowMatcher& matcher) { return matcher.owner == &context; });
}

std::span<const std::uint8_t> match_bytes(const mlx5dv_flow_match_parameters& parameters) {
  if (parameters.match_sz > steering::kMatchSize) return {};
  return {reinterpret_cast<const std::uint8_t*>(parameters.match_buf), parameters.match_sz};
}

mlx5dv_flow_matcher* mlx5dv_create_flow_matcher(ibv_context* verbs, mlx5dv_flow_matcher_attr* attr) {
  if (!verbs || !attr || !attr->match_mask) return null_with<mlx5dv_flow_matcher>(EINVAL);
  Context* context = context_of(verbs);
  if (!context) return null_with<mlx5dv_flow_matcher>(EOPNOTSUPP);
  if (const int error = check_library(*attr)) return null_with<mlx5dv_flow_matcher>(error);
  const std::span<const std::uint8_t> given = match_bytes(*attr->match_mask);
  if (given.empty()) return null_with<mlx5dv_flow_matcher>(EINVAL);
  Direction direction{};
  if (const int error = choose_tables(*attr, &direction)) return null_with<mlx5dv_flow_matcher>(error);
  auto matcher = std::make_unique<FlowMatcher>();
  matcher->owner = context;
  matcher->direction = direction;
  matcher->priority = attr->priority;
  std::copy(given.begin(), given.end(), matcher->given.begin());
  steering::filter_mask(given, attr->match_criteria_enable, matcher->mask);
  const ModelLock guard(model_mutex());
  return matchers().add(std::move(matcher));
}

int mlx5dv_destroy_flow_matcher(mlx5dv_flow_matcher* handle) {
  const ModelLock guard(model_mutex());
  FlowMatcher* matcher = matchers().find(handle);
  if (!matcher) return EINVAL;
  if (matcher->in_use()) return EBUSY;
  matchers().remove(matcher);
  return 0;
}

}  // namespace verbs::mlx5::model
