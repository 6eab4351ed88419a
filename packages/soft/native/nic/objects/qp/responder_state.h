// The state of the responder of a receive queue.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "nic/objects/pd.h"
#include "nic/objects/qp/replay_cache.h"
#include "nic/objects/qp/response_queue.h"
#include "nic/objects/qp/work_queue.h"

namespace verbs::soft::nic {

class Srq;

struct ResponderState {
  enum class Message : std::uint8_t { kNone, kSend, kWrite };
  std::uint32_t expected_psn = 0;
  std::uint32_t msn = 0;
  bool nak_sent = false;             // no second NAK until the expected PSN or a retransmission arrives
  std::uint32_t last_ahead_psn = 0;  // of the last packet that arrived ahead of the expected PSN
  bool communication_established = false;
  Message message = Message::kNone;  // the message in progress
  std::uint32_t offset = 0;          // bytes of the message so far
  std::uint32_t length = 0;          // WRITE: of the whole message, from its RETH
  std::uint32_t rkey = 0;
  std::uint64_t address = 0;
  bool refers = false;  // READ responses have referred to their payload: the peer may still read it
  ResponseQueue responses;
  ReplayCache replay_cache;
};

// The receive request of the message in progress. A request of the QP's own queue stays its head until it completes.
struct CurrentRecv {
  const RecvWqe* wqe = nullptr;  // nullptr: none
  const ibv_sge* sges = nullptr;
  const Pd* pd = nullptr;  // the PD that the keys of the SGEs must belong to
  Srq* srq = nullptr;      // where it came from; `wqe` and `sges` are then the QP's copies
};

}  // namespace verbs::soft::nic
