#include "model/devx/flow_table.h"

#include <algorithm>
#include <array>
#include <optional>

#include "steering/headers/bytes.h"

namespace verbs::mlx5::model {
namespace {

using steering::load16;
using steering::load24;
using steering::load32;
using steering::store24;

constexpr std::uint16_t kQueryTable = 0x932, kQueryGroup = 0x935, kQueryEntry = 0x937;
// All three commands.
constexpr std::size_t kTypeAt = 16, kTableAt = 21;
// CREATE_FLOW_TABLE.
constexpr std::size_t kLevelAt = 25, kTableSize = 64;
// CREATE_FLOW_GROUP.
constexpr std::size_t kCriteriaAt = 63, kMaskAt = 64;
// SET_FLOW_TABLE_ENTRY.
constexpr std::size_t kGroupAt = 69, kActionAt = 78, kDestinationsAt = 81, kCountersAt = 85, kValueAt = 128;
constexpr std::uint16_t kAllow = 1, kDrop = 2;
// Of masks and values in commands; the sections behind are no part of them.
constexpr std::size_t kGivenSize = 512;

// The types of tables, by their numbers.
std::optional<Direction> direction_of(std::uint8_t type) {
  switch (type) {
    case 0:
      return Direction::kReceive;
    case 1:
      return Direction::kTransmit;
    case 7:
      return Direction::kRdmaReceive;
    case 8:
      return Direction::kRdmaTransmit;
    default:
      return std::nullopt;
  }
}

// The object of that kind that the command names by 24 bits; its table must be of the type that the command says.
template <typename T>
T* named(const Context& context, std::uint16_t kind, std::span<const std::uint8_t> in, std::size_t at) {
  return dynamic_cast<T*>(find_devx_object(context, kind, load24(in.data() + at)));
}

std::uint32_t new_id(Context& context) { return context.device->next_id++ & 0xffffff; }

}  // namespace

DevxStatus DevxTable::create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                             std::unique_ptr<DevxObject>* object) {
  if (in.size() < kTableSize) return DevxStatus::kBadInputLength;
  const Capabilities& limits = context.device->capabilities;
  const std::optional<Direction> direction = direction_of(in[kTypeAt]);
  // What other flags ask for (encapsulation, tables of the program's own memory) the commands do not have here.
  if (!direction || in[kLevelAt - 1] != 0) return DevxStatus::kBadParam;
  // The capability is that of the tables of frames.
  const bool frames = direction == Direction::kReceive || direction == Direction::kTransmit;
  if (frames && in[kLevelAt] > limits.max_ft_level) return DevxStatus::kBadParam;
  if (context.device->quota.tables >> limits.log_max_ft_num != 0) return DevxStatus::kLimit;
  *object = std::make_unique<DevxTable>(context, new_id(context), *direction, in[kLevelAt]);
  store24(out.data() + 9, (*object)->id);
  return DevxStatus::kOk;
}

DevxTable::DevxTable(Context& context, std::uint32_t its_id, Direction its_direction, std::uint8_t level)
    : DevxObject(context, its_id), direction(its_direction), table_(std::make_shared<steering::FlowTable>(level)) {
  ++context.device->quota.tables;
}

DevxTable::~DevxTable() { --owner->device->quota.tables; }

std::uint16_t DevxTable::query_opcode() const { return kQueryTable; }
bool DevxTable::is_named_in(std::span<const std::uint8_t> in) const {
  return in.size() >= kTableAt + 3 && load24(in.data() + kTableAt) == id;
}
DevxStatus DevxTable::query(std::span<const std::uint8_t>, std::span<std::uint8_t>) { return DevxStatus::kBadOp; }

DevxStatus DevxGroup::create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                             std::unique_ptr<DevxObject>* object) {
  if (in.size() < kMaskAt + kGivenSize) return DevxStatus::kBadInputLength;
  auto* table = named<DevxTable>(context, kQueryTable, in, kTableAt);
  if (!table) return DevxStatus::kBadResource;
  if (direction_of(in[kTypeAt]) != table->direction) return DevxStatus::kBadParam;
  std::array<std::uint8_t, steering::kMatchSize> mask{};
  steering::filter_mask(in.subspan(kMaskAt, kGivenSize), in[kCriteriaAt], mask);
  const DeviceLock lock(context);
  if (lock.error() != 0) return DevxStatus::kBadResource;
  *object = std::make_unique<DevxGroup>(context, new_id(context), *table, mask);
  store24(out.data() + 9, (*object)->id);
  return DevxStatus::kOk;
}

// Groups match in the order in which they were made. Under the device's lock.
DevxGroup::DevxGroup(Context& context, std::uint32_t its_id, DevxTable& table,
                     std::span<const std::uint8_t, steering::kMatchSize> mask)
    : DevxObject(context, its_id), table_(table), used_table_(table), matcher_(&table.table()->add_matcher(0, mask)) {}

DevxGroup::~DevxGroup() {
  const DeviceLock lock(*owner);
  table_.table()->remove_matcher(*matcher_);
}

std::uint16_t DevxGroup::query_opcode() const { return kQueryGroup; }
bool DevxGroup::is_named_in(std::span<const std::uint8_t>) const { return false; }
DevxStatus DevxGroup::query(std::span<const std::uint8_t>, std::span<std::uint8_t>) { return DevxStatus::kBadOp; }

DevxStatus DevxEntry::create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t>,
                             std::unique_ptr<DevxObject>* object) {
  if (in.size() < kValueAt + kGivenSize) return DevxStatus::kBadInputLength;
  auto* group = named<DevxGroup>(context, kQueryGroup, in, kGroupAt);
  auto* table = named<DevxTable>(context, kQueryTable, in, kTableAt);
  if (!group || !table) return DevxStatus::kBadResource;
  if (&group->table() != table || direction_of(in[kTypeAt]) != table->direction) return DevxStatus::kBadParam;
  // Destinations and counters are those of mlx5dv_create_flow.
  const std::uint16_t action = load16(in.data() + kActionAt);
  if (action != kAllow && action != kDrop) return DevxStatus::kBadParam;
  if (load24(in.data() + kDestinationsAt) != 0 || load24(in.data() + kCountersAt) != 0) return DevxStatus::kBadParam;
  std::array<std::uint8_t, steering::kMatchSize> value{};
  std::copy_n(in.begin() + kValueAt, kGivenSize, value.begin());
  if (group->matcher().is_outside_mask(value)) return DevxStatus::kBadParam;
  const DeviceLock lock(context);
  if (lock.error() != 0) return DevxStatus::kBadResource;
  if (table->table()->rules() >> context.device->capabilities.log_max_ft_size != 0) return DevxStatus::kLimit;
  *object = std::make_unique<DevxEntry>(context, new_id(context), *group, value, action == kDrop);
  return DevxStatus::kOk;
}

// Under the device's lock.
DevxEntry::DevxEntry(Context& context, std::uint32_t its_id, DevxGroup& group,
                     std::span<const std::uint8_t, steering::kMatchSize> value, bool drops)
    : DevxObject(context, its_id), group_(group), used_group_(group) {
  const steering::Destination end =
      drops ? steering::Destination{steering::Drop{}} : steering::Destination{steering::DefaultMiss{}};
  rule_ = &group.matcher().add(value, steering::ActionList({steering::Action{end}}));
}

DevxEntry::~DevxEntry() {
  const DeviceLock lock(*owner);
  group_.matcher().remove(*rule_);
}

std::uint16_t DevxEntry::query_opcode() const { return kQueryEntry; }
bool DevxEntry::is_named_in(std::span<const std::uint8_t>) const { return false; }
DevxStatus DevxEntry::query(std::span<const std::uint8_t>, std::span<std::uint8_t>) { return DevxStatus::kBadOp; }

}  // namespace verbs::mlx5::model
