// The order in which a rule may have actions.
#include "model/dr/action.h"

namespace verbs::mlx5::model {

namespace {

using Set = std::uint32_t;  // of kinds
constexpr Set bit(DrKind kind) { return Set{1} << static_cast<unsigned>(kind); }
template <typename... Kinds>
constexpr Set set(Kinds... kinds) {
  return (bit(kinds) | ...);
}

constexpr Set kDecaps = set(DrKind::kL2Decap, DrKind::kL3Decap);
constexpr Set kEncaps = set(DrKind::kL2Encap, DrKind::kL3Encap);
constexpr Set kNotes = set(DrKind::kTag, DrKind::kCounter);  // actions that do not change the frame
constexpr Set kFinal = set(DrKind::kDrop, DrKind::kDefaultMiss, DrKind::kQp, DrKind::kTable, DrKind::kArray,
                           DrKind::kSampler, DrKind::kMeter);
constexpr Set kForward = kFinal & ~set(DrKind::kDrop, DrKind::kDefaultMiss);

// The state of the check along a list of actions: set by the last action that is not in kNotes.
enum class State : std::uint8_t { kBegin, kDecap, kPopVlan, kModify, kPushVlan, kEncap, kEnd };
constexpr std::size_t kStates = 7;

State state_after(State state, DrKind kind) {
  if ((bit(kind) & kNotes) != 0) return state;
  if ((bit(kind) & kDecaps) != 0) return State::kDecap;
  if ((bit(kind) & kEncaps) != 0) return State::kEncap;
  switch (kind) {
    case DrKind::kModify:
      return State::kModify;
    case DrKind::kPopVlan:
      return State::kPopVlan;
    case DrKind::kPushVlan:
      return State::kPushVlan;
    default:
      return State::kEnd;
  }
}

// The actions allowed next in each state. A received frame is decapsulated first. A transmitted frame is encapsulated
// last, and transmit tables have no queue pairs, tags and decapsulations.
struct Order {
  Set next[kStates];
};

constexpr Set kVlan = set(DrKind::kPopVlan, DrKind::kPushVlan);
constexpr Set kModify = set(DrKind::kModify);
constexpr Set kPop = set(DrKind::kPopVlan);
constexpr Set kPush = set(DrKind::kPushVlan);
constexpr Set kCount = set(DrKind::kCounter);

constexpr Order kReceiveOrder{{
    kFinal | kNotes | kDecaps | kEncaps | kModify | kVlan,
    kForward | kNotes | kEncaps | kModify | kVlan,
    kForward | kNotes | kEncaps | kModify | kPop,
    kForward | kNotes | kEncaps | kPush,
    kForward | kNotes | kEncaps | kPush,
    kForward | kNotes,
    kCount,
}};

constexpr Set kSend = set(DrKind::kTable, DrKind::kMeter) | kCount;
constexpr Order kTransmitOrder{{
    kSend | set(DrKind::kDrop, DrKind::kDefaultMiss) | kEncaps | kModify | kVlan,
    0,
    kSend | kEncaps | kModify | kVlan,
    kSend | kEncaps | kPush,
    kSend | kEncaps | kPush,
    kSend,
    kCount,
}};

constexpr unsigned kMaxVlans = 2;

// Rules name a counter by its number, which is the device's.
bool is_for_all(const DrAction& action, const Context& context) {
  return action.kind == DrKind::kCounter && action.owner->device == context.device;
}

}  // namespace

const char* name_of(DrKind kind) {
  constexpr const char* kNames[] = {"drop",     "default_miss", "qp",       "table",    "array",    "sampler",
                                    "meter",    "tag",          "counter",  "l2_decap", "l3_decap", "l2_encap",
                                    "l3_encap", "modify",       "pop_vlan", "push_vlan"};
  return kNames[static_cast<std::size_t>(kind)];
}

int check_actions(const DrMatcher& matcher, const std::vector<DrAction*>& actions) {
  const DrDomain& domain = matcher.table.domain;
  const Order& order = domain.direction() == Direction::kReceive ? kReceiveOrder : kTransmitOrder;
  State state = State::kBegin;
  unsigned seen[32] = {};
  for (const DrAction* action : actions) {
    // An action for root tables has no steps.
    if (action->steps.empty()) return EINVAL;
    if (action->domain && action->domain != &domain) return EINVAL;
    if (action->owner && action->owner != domain.owner && !is_for_all(*action, *domain.owner)) return EINVAL;
    if (action->next_level && *action->next_level <= matcher.table.level) return EINVAL;
    const bool vlan = (bit(action->kind) & kVlan) != 0;
    if (++seen[static_cast<std::size_t>(action->kind)] > (vlan ? kMaxVlans : 1)) {
      return action->kind == DrKind::kPushVlan ? EOPNOTSUPP : EINVAL;
    }
    if ((order.next[static_cast<std::size_t>(state)] & bit(action->kind)) == 0) return EOPNOTSUPP;
    state = state_after(state, action->kind);
  }
  return 0;
}

}  // namespace verbs::mlx5::model
