#include "model/devx/counters.h"

#include "steering/headers/bytes.h"

namespace verbs::mlx5::model {

namespace {

using steering::load32;
using steering::store32;

constexpr std::uint16_t kQueryFlowCounter = 0x93b;
constexpr std::size_t kAllocateSize = 16, kQuerySize = 32;
constexpr std::size_t kStatistics = 16;  // packets and octets of one counter
constexpr std::uint32_t kBulkUnit = 128;

// The input gives the size of a bulk by its logarithm (newer) or in units of 128 counters (older); neither means one
// counter.
std::uint32_t count_of(std::span<const std::uint8_t> in) {
  const std::uint32_t logarithm = in[14] & 0x1f;
  if (logarithm != 0) return std::uint32_t{1} << logarithm;
  return in[15] != 0 ? kBulkUnit * in[15] : 1;
}

void store64(std::uint8_t* at, std::uint64_t value) {
  store32(at, static_cast<std::uint32_t>(value >> 32));
  store32(at + 4, static_cast<std::uint32_t>(value));
}

}  // namespace

DevxStatus DevxCounters::create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                                std::unique_ptr<DevxObject>* object) {
  if (in.size() < kAllocateSize) return DevxStatus::kBadInputLength;
  Device& device = *context.device;
  const std::uint32_t count = count_of(in);
  if (count > (std::uint32_t{1} << device.capabilities.log_max_flow_counter) - device.quota.counters) {
    return DevxStatus::kLimit;
  }
  *object = std::make_unique<DevxCounters>(context, device.next_id, count);
  device.next_id += count;
  store32(out.data() + 8, (*object)->id);
  return DevxStatus::kOk;
}

DevxCounters::DevxCounters(Context& context, std::uint32_t its_id, std::uint32_t count)
    : DevxObject(context, its_id), counters_(std::make_shared<std::vector<steering::Counter>>(count)) {
  context.device->quota.counters += count;
}

DevxCounters::~DevxCounters() { owner->device->quota.counters -= count(); }

std::uint16_t DevxCounters::query_opcode() const { return kQueryFlowCounter; }

bool DevxCounters::is_named_in(std::span<const std::uint8_t> in) const {
  if (in.size() < kQuerySize) return false;
  const std::uint32_t wanted = load32(in.data() + 28);
  return wanted >= id && wanted - id < count();
}

DevxStatus DevxCounters::query(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) {
  const std::uint32_t options = load32(in.data() + 24);
  const bool clear = options >> 31 != 0;
  // Results go into the output only: commands have no memory key to write with.
  if ((options >> 30 & 1) != 0) return DevxStatus::kBadParam;
  const std::uint32_t wanted = std::max<std::uint32_t>(options & 0x3fffffff, 1);
  const std::uint32_t first = load32(in.data() + 28) - id;
  if (wanted > count() - first) return DevxStatus::kBadParam;
  if ((out.size() - kDevxHeader) / kStatistics < wanted) return DevxStatus::kBadOutputLength;
  const DeviceLock lock(*owner);
  for (std::uint32_t i = 0; i < wanted; ++i) {
    steering::Counter& counter = (*counters_)[first + i];
    store64(out.data() + kDevxHeader + i * kStatistics, counter.packets);
    store64(out.data() + kDevxHeader + i * kStatistics + 8, counter.bytes);
    if (clear) counter = {};
  }
  return DevxStatus::kOk;
}

}  // namespace verbs::mlx5::model
