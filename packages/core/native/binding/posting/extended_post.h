// The extended post calls: ibv_wr_start, the builders and setters, ibv_wr_complete.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace verbs::core {

// IBV_WR_FLUSH and IBV_QP_EX_WITH_FLUSH, since release 45. A staged request has its length in compare_add, its type and
// level in swap: ibv_post_send has no such request.
inline constexpr auto kWrFlush = static_cast<ibv_wr_opcode>(14);
inline constexpr std::uint64_t kWithFlush = 1u << 11;

// The extended post calls of a queue pair, if it was created for them.
struct ExtendedCalls {
  ibv_qp_ex* qp = nullptr;
  bool flush = false;  // kWithFlush was among its operations
};

// Posts a chain of requests in one bracket: all of them, or on an error none. 0 or an errno; then *bad is the first.
int post_extended(ibv_qp_ex* qp, ibv_send_wr* first, ibv_send_wr** bad);

}  // namespace verbs::core
