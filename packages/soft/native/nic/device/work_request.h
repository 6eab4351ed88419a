// What each kind of send request is: one table, as the opcodes of the wire have one.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "nic/shared/flush.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {

// What ends a request.
enum class Answer : std::uint8_t {
  kAcknowledgement,  // any acknowledgement of it or of a later one
  kData,             // READ responses with its data
  kOriginal,         // an ATOMIC ACKNOWLEDGE with the value before the operation
  kEmpty,            // one READ response without data
  kNone,             // nothing on the wire: the request is about this NIC's own objects
};

struct WorkRequestInfo {
  bool defined = false;
  bool may_be_inline = false;
  Answer answer = Answer::kAcknowledgement;
  ibv_wc_opcode completion = IBV_WC_SEND;
  wire::Operation first = wire::kSendFirst;
  wire::Operation middle = wire::kSendMiddle;
  wire::Operation last = wire::kSendLast;
  wire::Operation only = wire::kSendOnly;
  std::uint32_t qp_types = 0;  // that take it: a bit for each ibv_qp_type

  bool allowed_on(ibv_qp_type type) const { return (qp_types >> type & 1) != 0; }
  // READs, atomics and their like: each has an answer of its own that must not be missed. They count against
  // max_rd_atomic, and a fence waits for them.
  bool is_awaited() const { return answer != Answer::kAcknowledgement && answer != Answer::kNone; }
  // The answer is written to the request's scatter list.
  bool writes_local() const { return answer == Answer::kData || answer == Answer::kOriginal; }
};

inline constexpr std::size_t kWorkRequestKinds = 16;
extern const WorkRequestInfo kWorkRequests[kWorkRequestKinds];

// nullptr for an opcode that no QP here takes.
inline const WorkRequestInfo* find_work_request(ibv_wr_opcode opcode) {
  const auto index = static_cast<std::size_t>(opcode);
  return index < kWorkRequestKinds && kWorkRequests[index].defined ? &kWorkRequests[index] : nullptr;
}

// Of a request that was posted.
inline const WorkRequestInfo& info_of(ibv_wr_opcode opcode) { return kWorkRequests[opcode]; }

}  // namespace verbs::soft::nic
