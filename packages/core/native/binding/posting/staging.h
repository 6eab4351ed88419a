// From the records of a batch to the C library's chain of work requests, chunk by chunk.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "binding/device/context.h"
#include "binding/memory/memory_region.h"
#include "binding/posting/records.h"
#include "binding/posting/request_queue.h"

namespace verbs::core {

// Number of requests that one call of the C library gets.
inline constexpr std::uint32_t kPostChunk = 64;

// Where in a batch the next bytes are. A batch is not trusted: JavaScript may write into it at any moment, so every
// value is copied out once and checked before it is used.
class Cursor {
 public:
  Cursor(const std::uint8_t* batch, std::size_t size) : batch_(batch), size_(size) {
    if (size_ >= sizeof header) std::memcpy(&header, batch_, sizeof header);
    header.posted = 0;
    header.sge = 0;
  }

  BatchHeader header{};

  // To the record of the next request.
  void next() {
    if (header.slot != 0) offset_ = sizeof header + std::size_t{header.slot} * (std::size_t{header.first} + number_);
    number_++;
  }

  template <typename T>
  bool read(T* value) {
    if (size_ < offset_ || size_ - offset_ < sizeof(T)) return false;
    std::memcpy(value, batch_ + offset_, sizeof(T));
    offset_ += sizeof(T);
    return true;
  }

 private:
  const std::uint8_t* batch_;
  std::size_t size_;
  std::size_t offset_ = sizeof(BatchHeader);
  std::uint32_t number_ = 0;
};

// What reads the elements: the adapter, by the region's keys; or a call of the library, which takes the address in the
// process, whatever address the keys have.
enum class Reader : std::uint8_t { kAdapter, kLibrary };

// The elements of the request staged last, from the cursor. 0 or a PostError.
inline int stage_sges(const Context& context, RequestQueue& queue, Cursor& cursor, std::uint32_t count, ibv_sge* sges,
                      int* used, Reader reader = Reader::kAdapter) {
  if (count > queue.max_sge()) return kTooManySge;
  const IdTable<MemoryRegion>& regions = context.environment().memory_regions;
  *used = 0;
  for (std::uint32_t i = 0; i < count; i++) {
    cursor.header.sge = i;
    SgeRecord record;
    if (!cursor.read(&record)) return kTruncated;
    MemoryRegion* region = regions.find(record.memory_region);
    if (region == nullptr || &region->context() != &context) return kNoMemoryRegion;
    if (!region->contains(record.offset, record.length)) return kOutOfBounds;
    // To some adapters a length of zero means 2^31 bytes.
    if (record.length == 0) continue;
    ibv_sge& sge = sges[(*used)++];
    sge.addr = region->start() + record.offset;
    if (reader == Reader::kLibrary) {
      if (region->data() == nullptr) return kNoLocalMemory;
      sge.addr = reinterpret_cast<std::uintptr_t>(region->data()) + record.offset;
    }
    sge.length = record.length;
    sge.lkey = region->mr()->lkey;
    queue.hold(*region);
  }
  return 0;
}

// As in C, the requests before a rejected one are posted. `stage(i)` fills requests[i] from the cursor and returns 0
// or a PostError; `post` is the library's call. Returns 0, a positive errno of the library, or a PostError;
// cursor.header says how far it came, and after an error of the library which of the requests behind that is at fault.
// `whole`: the library posts all that it is given, or nothing.
template <typename Request, typename Stage, typename Post>
int post_chunks(Cursor& cursor, std::uint32_t count, RequestQueue& queue, std::vector<Request>& requests, Stage stage,
                Post post, bool whole = false) {
  std::uint32_t& posted = cursor.header.posted;
  if (requests.empty() && count != 0) return kQueueFull;
  while (posted < count) {
    std::uint32_t staged = 0;
    int refusal = 0;
    while (staged < requests.size() && posted + staged < count) {
      if (refusal = stage(staged); refusal != 0) break;
      if (staged != 0) requests[staged - 1].next = &requests[staged];
      staged++;
    }
    int error = 0;
    std::uint32_t taken = staged;
    if (staged != 0) {
      Request* bad = nullptr;
      error = post(requests.data(), &bad);
      // rdma-core's stub leaves `bad` as it is.
      if (error != 0) {
        const std::ptrdiff_t at = bad == nullptr ? 0 : bad - requests.data();
        taken = whole ? 0 : std::min(staged, static_cast<std::uint32_t>(at));
        cursor.header.sge = whole ? static_cast<std::uint32_t>(at) : 0;
      }
    }
    queue.commit(taken);
    posted += taken;
    // Providers give a positive errno; some give it negated.
    if (error != 0) return error < 0 ? -error : error;
    if (refusal > 0) cursor.header.sge = 0;
    if (refusal != 0) return refusal;
  }
  return 0;
}

}  // namespace verbs::core
