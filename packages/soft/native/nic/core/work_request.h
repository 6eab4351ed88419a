// What each kind of send request is: one table, as the opcodes of the wire have one.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "nic/base/guarded_memory.h"
#include "nic/core/core.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {

// The response that completes a request.
enum class ExpectedResponse : std::uint8_t {
  kAcknowledge,        // any acknowledgement of it or of a later one
  kReadData,           // READ responses with its data
  kAtomicAcknowledge,  // an ATOMIC ACKNOWLEDGE with the value before the operation
  kEmptyRead,          // one READ response without data
  kNone,               // the request is local: nothing on the wire
};

struct WorkRequestInfo {
  bool defined = false;
  bool may_be_inline = false;
  ExpectedResponse response = ExpectedResponse::kAcknowledge;
  ibv_wc_opcode completion = IBV_WC_SEND;
  wire::Operation first = wire::kSendFirst;
  wire::Operation middle = wire::kSendMiddle;
  wire::Operation last = wire::kSendLast;
  wire::Operation only = wire::kSendOnly;
  std::uint32_t qp_types = 0;  // a bit for each ibv_qp_type that supports it

  bool allowed_on(ibv_qp_type type) const { return (qp_types >> type & 1) != 0; }
  bool is_local() const { return response == ExpectedResponse::kNone; }
  // READ, atomics, ATOMIC WRITE and FLUSH: each has a response of its own that must not be missed. They count against
  // max_rd_atomic, and a fence waits for them.
  bool has_own_response() const { return response != ExpectedResponse::kAcknowledge && !is_local(); }
  // The response is written to the request's scatter list.
  bool writes_local() const {
    return response == ExpectedResponse::kReadData || response == ExpectedResponse::kAtomicAcknowledge;
  }
};

inline constexpr std::size_t kWorkRequestKinds = 16;
extern const WorkRequestInfo kWorkRequests[kWorkRequestKinds];

// nullptr for an opcode that no QP supports.
inline const WorkRequestInfo* find_work_request(ibv_wr_opcode opcode) {
  const auto index = static_cast<std::size_t>(opcode);
  return index < kWorkRequestKinds && kWorkRequests[index].defined ? &kWorkRequests[index] : nullptr;
}

// For the opcode of a posted request.
inline const WorkRequestInfo& info_of(ibv_wr_opcode opcode) { return kWorkRequests[opcode]; }

// What the senders of all transports need of a posted send request.

// The error that a request fails with before its first packet, or IBV_WC_SUCCESS.
ibv_wc_status check_request(const Core& core, Qp& qp, std::uint32_t position);

// Copies `size` bytes from `offset` of the request's data on. False when its memory is gone.
bool load_payload(const Core& core, Qp& qp, std::uint32_t position, std::size_t offset, std::uint8_t* to,
                  std::size_t size);

// Ends the draining of a send queue (SQD) once every request that started is acknowledged, with the SQ drained event if
// the application asked for it (IBTA 10.3.1.5).
void check_drained(Core& core, Qp& qp);

}  // namespace verbs::soft::nic
