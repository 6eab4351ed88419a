// The extended post calls: ibv_wr_start, the builders and setters, ibv_wr_complete.
#pragma once

#include <infiniband/verbs.h>

namespace verbs::core {

// Posts a chain of requests in one bracket: all of them, or on an error none. 0 or an errno; then *bad is the first.
int post_extended(ibv_qp_ex* qp, ibv_send_wr* first, ibv_send_wr** bad);

}  // namespace verbs::core
