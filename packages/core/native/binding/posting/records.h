// The bytes in which work requests and completions cross the border to JavaScript: src/records.ts is their other side.
// Little-endian, as the processors that Node runs on; every record starts at a multiple of 8.
//
// A batch of work requests is a header and then the records, each followed by its scatter/gather elements. They lie one
// behind the other, or, so that one can be changed without moving the others, each in a slot of the same size.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace verbs::core {

static_assert(std::endian::native == std::endian::little);

struct BatchHeader {
  // What a post call leaves here.
  std::uint32_t posted;  // requests taken by the C library
  std::uint32_t sge;     // the element at fault, if an element is
  // Where it reads.
  std::uint32_t first;  // slot of the first request
  std::uint32_t slot;   // bytes of a slot; 0: the records lie one behind the other
};
static_assert(sizeof(BatchHeader) == 16);

enum RecordFlag : std::uint32_t {
  kIdIsNumber = 1u << 0,  // wrId was given as a number and goes back as one
  kWritten = 1u << 1,     // a slot without it holds no request
};

struct SendRecord {
  std::uint64_t wr_id;
  std::uint64_t remote_addr;
  std::uint64_t compare_add;
  std::uint64_t swap;
  std::uint32_t opcode;
  std::uint32_t send_flags;
  std::uint32_t imm_data;        // host order; for SEND_WITH_INV and LOCAL_INV the rkey, for BIND_MW the access flags
  std::uint32_t rkey;            // for BIND_MW the window's new one
  std::uint32_t address_handle;  // id, 0 for none
  std::uint32_t remote_qpn;
  std::uint32_t remote_qkey;
  std::uint32_t num_sge;
  std::uint32_t flags;
  std::uint32_t remote_srqn;    // XRC
  std::uint32_t memory_window;  // BIND_MW: id, and of the region, 0 to unbind; remote_addr is the offset in the region,
  std::uint32_t memory_region;  // compare_add the length
};
static_assert(sizeof(SendRecord) == 80 && std::is_trivially_copyable_v<SendRecord>);
static_assert(offsetof(SendRecord, opcode) == 32 && offsetof(SendRecord, num_sge) == 60);

struct RecvRecord {
  std::uint64_t wr_id;
  std::uint32_t num_sge;
  std::uint32_t flags;
};
static_assert(sizeof(RecvRecord) == 16);

struct SgeRecord {
  std::uint64_t offset;         // from the start of the memory region
  std::uint32_t memory_region;  // id
  std::uint32_t length;
};
static_assert(sizeof(SgeRecord) == 16);

struct CompletionRecord {
  std::uint64_t wr_id;
  std::uint32_t status;
  std::uint32_t opcode;
  std::uint32_t vendor_err;  // of a failure; of a success the flow's tag, if the queue was made for it
  std::uint32_t byte_len;
  std::uint32_t imm_data;  // host order; with IBV_WC_WITH_INV the rkey that was invalidated
  std::uint32_t qp_num;
  std::uint32_t src_qp;
  std::uint32_t wc_flags;
  std::uint16_t pkey_index;
  std::uint16_t slid;
  std::uint8_t sl;
  std::uint8_t dlid_path_bits;
  std::uint16_t flags;
  std::uint64_t timestamp;     // of a queue made for it: ticks of the device's clock
  std::uint64_t wallclock_ns;  // likewise
};
static_assert(sizeof(CompletionRecord) == 64 && offsetof(CompletionRecord, pkey_index) == 40);

// Why a request was refused before it reached the C library. Negative, where an errno of the C library is positive.
enum PostError : int {
  kTruncated = -1,       // the batch is shorter than its records say
  kTooManySge = -2,      // more elements than the queue pair has room for
  kNoMemoryRegion = -3,  // the region is closed, or of another environment or device
  kOutOfBounds = -4,     // the element reaches past the end of its region
  kBadOpcode = -5,       // an opcode that this call does not carry
  kNoAddress = -6,       // the address handle is closed, missing, or of another device
  kQueueFull = -7,       // more requests outstanding than the queue pair has room for
  kNoMemoryWindow = -8,  // the window is closed, missing, or of another device
  kBadLength = -9,       // ATOMIC_WRITE without exactly one element of 8 bytes
  kNotWritten = -10,     // the slot holds no request
  kOtherDomain = -11,    // the address handle is of another protection domain
};

// So many requests go to the C library in one call.
inline constexpr std::uint32_t kPostChunk = 64;

}  // namespace verbs::core
