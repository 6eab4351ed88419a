// FLUSH and ATOMIC WRITE by their values in later versions of <infiniband/verbs.h>. The header of libibverbs 44 does
// not have them.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <cstring>

namespace verbs::soft::nic {

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
