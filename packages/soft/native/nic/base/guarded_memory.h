// Access to the application's memory. A kernel pins the pages of a memory region, but a process cannot: they may be
// unmapped at any time. So every access is a guarded copy, which survives a fault.
//
// The guarded calls are for memory of regions, under the device's lock: the thread takes the signals of faults until
// the lock is released (guard/fault_signals.h). Not so for memory that `lasts`, whose pages the NIC has mapped itself
// and cannot lose, or whose owner keeps it mapped: for that a system call in each step would be too much. It is guarded
// all the same, against a machine whose memory or swap device fails.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace verbs::soft::nic {

// memcpy. False when a page of either side is not mapped or not accessible; a part of the bytes may have been copied.
bool guarded_copy(void* to, const void* from, std::size_t size, bool lasts);

// The same for memory that the caller of a verb passes and that is copied during the call, as a provider does by
// memcpy: inline data, ibv_memcpy_to_dm(). With or without a lock. The signals of faults stay as they are.
bool copy_argument(void* to, const void* from, std::size_t size);

// Atomic operations on a naturally aligned word. They are atomic towards the application's own atomic instructions too.
// `original` gets the value before. False when the word is not mapped or not writable.
bool guarded_compare_swap(void* at, std::uint64_t compare, std::uint64_t swap, std::uint64_t* original, bool lasts);
bool guarded_fetch_add(void* at, std::uint64_t add, std::uint64_t* original, bool lasts);
bool guarded_store(void* at, std::uint64_t value, bool lasts);

// FLUSH and ATOMIC WRITE by their values in later versions of <infiniband/verbs.h>. The header of libibverbs 44 does
// not have them.

inline constexpr auto kWrFlush = static_cast<ibv_wr_opcode>(14);                 // IBV_WR_FLUSH
inline constexpr auto kWcFlush = static_cast<ibv_wc_opcode>(8);                  // IBV_WC_FLUSH
inline constexpr unsigned kAccessFlushGlobal = 1u << 8;                          // IBV_ACCESS_FLUSH_GLOBAL
inline constexpr unsigned kAccessFlushPersistent = 1u << 9;                      // IBV_ACCESS_FLUSH_PERSISTENT
inline constexpr std::uint64_t kDeviceFlushGlobal = std::uint64_t{1} << 38;      // in device_cap_flags_ex, as in the
inline constexpr std::uint64_t kDeviceFlushPersistent = std::uint64_t{1} << 39;  // kernel's ib_device_cap_flags
inline constexpr std::uint64_t kDeviceAtomicWrite = std::uint64_t{1} << 40;

// The contents of ibv_send_wr.wr for IBV_WR_FLUSH. The layout is that of `flush` in the kernel's rxe_send_wr
// (rdma_user_rxe.h); no other header defines one.
struct FlushRequest {
  std::uint64_t remote_addr;
  std::uint32_t length;
  std::uint32_t rkey;
  std::uint8_t type;   // ibv_placement_type: 1 global, 2 persistent, or both
  std::uint8_t level;  // ibv_selectivity_level: 0 the range, 1 the whole region

  static FlushRequest of(const ibv_send_wr& wr) {
    FlushRequest request;
    std::memcpy(&request, &wr.wr, sizeof request);
    return request;
  }
  void write_to(ibv_send_wr* wr) const { std::memcpy(&wr->wr, this, sizeof *this); }
};
static_assert(sizeof(FlushRequest) <= sizeof(ibv_send_wr::wr));

}  // namespace verbs::soft::nic
