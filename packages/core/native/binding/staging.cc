#include "staging.h"

#include "context.h"
#include "memory_region.h"

namespace verbs::core {

int StageSges(const Context& context, RequestQueue& queue, Cursor& cursor, std::uint32_t count, ibv_sge* sges,
              int* used) {
  if (count > queue.max_sge()) return kTooManySge;
  const IdTable<MemoryRegion>& regions = context.environment().memory_regions;
  *used = 0;
  for (std::uint32_t i = 0; i < count; i++) {
    cursor.header.sge = i;
    SgeRecord record;
    if (!cursor.Read(&record)) return kTruncated;
    MemoryRegion* region = regions.Find(record.memory_region);
    if (region == nullptr || &region->context() != &context) return kNoMemoryRegion;
    if (!region->Contains(record.offset, record.length)) return kOutOfBounds;
    // To some adapters a length of zero means 2^31 bytes.
    if (record.length == 0) continue;
    ibv_sge& sge = sges[(*used)++];
    sge.addr = region->start() + record.offset;
    sge.length = record.length;
    sge.lkey = region->mr()->lkey;
    queue.Hold(std::static_pointer_cast<MemoryRegion>(region->shared_from_this()));
  }
  return 0;
}

}  // namespace verbs::core
