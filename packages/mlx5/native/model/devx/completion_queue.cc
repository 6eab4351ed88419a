#include "model/devx/events.h"
#include "model/devx/queues.h"
#include "steering/headers/bytes.h"

namespace verbs::mlx5::model {
namespace {

using steering::load24;
using steering::load32;
using steering::load64;
using steering::store24;
using steering::store32;

// CREATE_CQ: the context, the place of the entries.
constexpr std::size_t kContextAt = 16, kEntriesAt = 80, kEntriesMemoryAt = 88, kEntriesValidAt = 92, kCreateSize = 96;
// In the context.
constexpr std::size_t kRecordValidAt = 0, kFlagsAt = 1, kRecordMemoryAt = 4, kLogSizeAt = 12, kProducerAt = 45;
constexpr std::size_t kConsumerAt = 41, kRecordAt = 56;
constexpr std::uint8_t kOverrun = 1, kUnwritable = 2;   // syndromes of the event
constexpr std::size_t kSyndromeAt = 11, kNumberAt = 1;  // in the event
constexpr std::uint32_t kRecordSize = 8, kIndexMask = 0xffffff, kLargestLog = 22;

}  // namespace

DevxStatus DevxCq::create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                          std::unique_ptr<DevxObject>* object) {
  if (in.size() < kCreateSize) return DevxStatus::kBadInputLength;
  const std::span<const std::uint8_t, kContextSize> given(in.data() + kContextAt, kContextSize);
  // Addresses of pages, in place of registered memory, are for the kernel.
  if ((in[kEntriesValidAt] & 0x80) == 0 || (given[kRecordValidAt] & 0x02) == 0) return DevxStatus::kBadParam;
  const std::uint32_t size_class = given[kFlagsAt] >> 5, log_size = given[kLogSizeAt] & 0x1f;
  if (size_class > 1 || log_size > kLargestLog) return DevxStatus::kBadParam;
  Umem* entries = find_umem(context, load32(in.data() + kEntriesMemoryAt));
  Umem* record = find_umem(context, load32(given.data() + kRecordMemoryAt));
  if (!entries || !record) return DevxStatus::kBadResource;
  const Places places{.entries = *entries,
                      .entries_at = load64(in.data() + kEntriesAt),
                      .record = *record,
                      .record_at = load64(given.data() + kRecordAt)};
  const std::uint64_t size = (std::uint64_t{kEntrySize} << size_class) << log_size;
  if (!entries->is_writable() || !entries->has(places.entries_at, size)) return DevxStatus::kBadParam;
  if (!record->has(places.record_at, kRecordSize)) return DevxStatus::kBadParam;
  auto cq = std::make_unique<DevxCq>(context, context.device->next_id++ & 0xffffff, places, given);
  store24(out.data() + 9, cq->id);
  *object = std::move(cq);
  return DevxStatus::kOk;
}

DevxCq::DevxCq(Context& context, std::uint32_t its_id, const Places& places,
               std::span<const std::uint8_t, kContextSize> given)
    : DevxObject(context, its_id),
      places_(places),
      used_entries_(places.entries),
      used_record_(places.record),
      log_size_(given[kLogSizeAt] & 0x1f),
      stride_(kEntrySize << (given[kFlagsAt] >> 5)),
      ignores_overrun_((given[kFlagsAt] & 0x02) != 0) {
  std::copy(given.begin(), given.end(), attributes_.begin());
}

void DevxCq::put(Entry entry, std::uint8_t opcode) {
  if (failed_) return;
  const std::uint32_t size = std::uint32_t{1} << log_size_;
  std::array<std::uint8_t, 4> record{};
  if (!places_.record.read(places_.record_at, record)) return fail(kUnwritable);
  const std::uint32_t waiting = (producer_ - load32(record.data())) & kIndexMask;
  if (!ignores_overrun_ && waiting >= size) return fail(kOverrun);
  const std::uint64_t at = places_.entries_at + std::uint64_t{producer_ & (size - 1)} * stride_ + stride_ - kEntrySize;
  const auto parity = static_cast<std::uint8_t>(producer_ >> log_size_ & 1);
  entry.back() = static_cast<std::uint8_t>(opcode << 4 | parity);
  // As an adapter does, at once: a program that has left the memory zero may take half an entry for one. The owner bit
  // is in the last byte.
  if (!places_.entries.write(at, entry)) return fail(kUnwritable);
  producer_ = (producer_ + 1) & kIndexMask;
}

void DevxCq::fail(std::uint8_t syndrome) {
  failed_ = true;
  std::array<std::uint8_t, kEventData> data{};
  store24(data.data() + kNumberAt, id);
  data[kSyndromeAt] = syndrome;
  raise_devx_event(*this, DevxEvent::kCqError, data);
}

std::uint16_t DevxCq::query_opcode() const { return kQueryOpcode; }

bool DevxCq::is_named_in(std::span<const std::uint8_t> in) const { return load24(in.data() + 9) == id; }

DevxStatus DevxCq::query(std::span<const std::uint8_t>, std::span<std::uint8_t> out) {
  if (out.size() < kContextAt + kContextSize) return DevxStatus::kBadOutputLength;
  std::copy(attributes_.begin(), attributes_.end(), out.begin() + kContextAt);
  std::uint8_t* context = out.data() + kContextAt;
  constexpr std::uint8_t kOverflowed = 0x9;
  if (failed_) context[0] = static_cast<std::uint8_t>((context[0] & 0x0f) | kOverflowed << 4);
  std::array<std::uint8_t, 4> record{};
  places_.record.read(places_.record_at, record);
  store24(context + kConsumerAt, load32(record.data()) & kIndexMask);
  store24(context + kProducerAt, producer_);
  return DevxStatus::kOk;
}

}  // namespace verbs::mlx5::model
