#include "nic/completer/completer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "nic/device/completion.h"
#include "nic/device/scatter.h"
#include "nic/device/work_request.h"
#include "nic/requester/requester.h"
#include "nic/shared/psn.h"

namespace verbs::soft::nic {
namespace {

// In units of 10 us. Code 25 is 61.44 ms in the specification.
constexpr std::array<std::uint32_t, 32> kRnrTable = {
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

constexpr std::uint8_t kInfiniteRnr = 7;
// A peer that refuses again and again is asked less often, down to so often, if it does not want to be asked less often
// still: the shortest waits that it can ask for would keep both ends busy with nothing else.
constexpr Nanos kLongestRnrBackOff = 160'000;
constexpr std::uint8_t kMostRnrDoublings = 4;

Nanos back_off(const RequesterState& req, std::uint8_t code) {
  const Nanos asked = rnr_wait(code);
  return std::max(asked, std::min(asked << (req.refusals - 1), kLongestRnrBackOff));
}

void progressed(Core& core, Qp& qp, std::uint32_t una, Nanos now) {
  RequesterState& req = qp.req;
  req.window.acknowledged(static_cast<std::uint32_t>(psn_diff(una, req.una_psn)));
  req.round_trip.acknowledged(una, now);
  req.una_psn = una;
  req.recovering = false;
  req.probes = 0;
  req.retries_left = qp.attr.retry_cnt;
  req.rnr_left = qp.attr.rnr_retry;
  req.refusals = 0;
  // A late acknowledgement may overtake a repetition.
  if (psn_before(req.send_psn, una)) rewind(qp, una);
  while (!req.awaited.empty() && psn_before(req.awaited.front().last_psn, una)) req.awaited.erase(req.awaited.begin());
  if (!req.waiting_rnr) {
    if (una == req.max_psn) {
      core.timers.cancel(qp);
    } else {
      restart_ack_timer(core, qp, now);
    }
  }
  core.active.add(qp);
}

// Everything from una on goes again.
void repeat(Core& core, Qp& qp) {
  qp.req.recovering = true;
  qp.req.recovery_psn = qp.req.max_psn;
  rewind(qp, qp.req.una_psn);
  core.active.add(qp);
}

void retry(Core& core, Qp& qp) {
  qp.req.window.lost();
  ++core.counters.completer_retry_err;
  repeat(core, qp);
}

// Something was lost, and the responder says so or a later response shows it: repeat at once. Answers to packets that
// were on their way already are not news. A second report after everything was repeated means that the repetition was
// lost too: then once more, within the time that the first one has.
void implied_nak(Core& core, Qp& qp, Nanos now) {
  RequesterState& req = qp.req;
  if (req.recovering) {
    if (!psn_before(req.send_psn, req.recovery_psn)) retry(core, qp);
    return;
  }
  if (req.retries_left == 0) {
    ++core.counters.retry_exceeded_err;
    fail_send(core, qp, IBV_WC_RETRY_EXC_ERR);
    return;
  }
  --req.retries_left;
  retry(core, qp);
  restart_ack_timer(core, qp, now);
}

// Completes what is acknowledged by everything up to and including `psn`. False when an awaited request
// without all of its answer is in the way: then that was lost.
bool acknowledge(Core& core, Qp& qp, std::uint32_t psn, Nanos now) {
  RequesterState& req = qp.req;
  std::uint32_t una = req.una_psn;
  bool clear = true;
  while (qp.sq.head != qp.sq.tail) {
    const SendWqe& wqe = qp.sq.at(qp.sq.head);
    if (!wqe.started || psn_before(psn, wqe.first_psn)) break;
    if (info_of(wqe.opcode).is_awaited()) {
      // Complete ones are gone already: this one misses data, and `psn` is before or behind the gap.
      clear = psn_before(psn, psn_add(wqe.first_psn, wqe.done));
      break;
    }
    if (psn_before(psn, wqe.last_psn())) {
      una = psn_add(psn, 1);
      break;
    }
    una = psn_add(wqe.last_psn(), 1);
    const bool sending = req.position == qp.sq.head;
    complete_send(core, qp, IBV_WC_SUCCESS);
    if (sending) {
      // It was being repeated; what follows has not been.
      req.position = qp.sq.head;
      req.packet = 0;
      req.send_psn = una;
    }
  }
  if (psn_before(req.una_psn, una)) progressed(core, qp, una, now);
  return clear;
}

void take_nak(Core& core, Qp& qp, std::uint32_t psn, std::uint8_t syndrome, Nanos now) {
  RequesterState& req = qp.req;
  // It acknowledges everything before it.
  if (!acknowledge(core, qp, psn_add(psn, kPsnMask), now)) {
    implied_nak(core, qp, now);
    return;
  }
  if (req.una_psn != psn) return;
  if ((syndrome & wire::kSyndromeKind) == wire::kRnrNak) {
    ++core.counters.rcvd_rnr_err;
    // The peer is there and answers: what was lost before does not count against the path any more.
    req.retries_left = qp.attr.retry_cnt;
    if (qp.attr.rnr_retry != kInfiniteRnr) {
      if (req.rnr_left == 0) {
        ++core.counters.retry_rnr_exceeded_err;
        fail_send(core, qp, IBV_WC_RNR_RETRY_EXC_ERR);
        return;
      }
      --req.rnr_left;
    }
    rewind(qp, psn);
    req.waiting_rnr = true;
    req.refusals = std::min<std::uint8_t>(req.refusals + 1, 1 + kMostRnrDoublings);
    core.timers.arm(qp, now + back_off(req, syndrome & 0x1f));
    return;
  }
  switch (syndrome) {
    case wire::kNakPsnSequence:
      ++core.counters.rcvd_seq_err;
      implied_nak(core, qp, now);
      return;
    case wire::kNakInvalidRequest:
      fail_send(core, qp, IBV_WC_REM_INV_REQ_ERR);
      return;
    case wire::kNakRemoteAccess:
      fail_send(core, qp, IBV_WC_REM_ACCESS_ERR);
      return;
    case wire::kNakRemoteOperational:
      fail_send(core, qp, IBV_WC_REM_OP_ERR);
      return;
    default:
      fail_send(core, qp, IBV_WC_BAD_RESP_ERR);
      return;
  }
}

// Whether a response packet is what the request waits for.
bool answers(const SendWqe& wqe, const wire::OpcodeInfo& info) {
  switch (info_of(wqe.opcode).answer) {
    case Answer::kData:
      return info.has(wire::kIsRead);
    case Answer::kOriginal:
      return info.has(wire::kIsAtomic);
    case Answer::kEmpty:
      return info.has(wire::kIsRead) && info.has(wire::kIsStart) && info.has(wire::kIsEnd);
    default:
      return false;
  }
}

// Writes what the response brought to the memory of the oldest request.
ibv_wc_status store(Core& core, Qp& qp, const wire::OpcodeInfo& info, std::span<const std::uint8_t> transport) {
  const SendWqe& wqe = qp.sq.at(qp.sq.head);
  std::span<const std::uint8_t> data = transport.subspan(info.header_size);
  std::size_t offset = 0;
  std::uint8_t original[sizeof(std::uint64_t)];
  if (info.has(wire::kIsAtomic)) {
    if (!data.empty()) return IBV_WC_BAD_RESP_ERR;
    const auto value = wire::load_be<std::uint64_t>(transport.data() + info.atomic_ack_eth);
    std::memcpy(original, &value, sizeof original);  // in memory it has the byte order of the host
    data = original;
  } else {
    offset = static_cast<std::size_t>(wqe.done) * qp.mtu;
    const std::size_t length = info_of(wqe.opcode).answer == Answer::kData ? wqe.length : 0;
    if (data.size() != std::min<std::size_t>(qp.mtu, length - offset)) return IBV_WC_BAD_RESP_ERR;
  }
  const bool stored = scatter(core.mrs, qp.pd, qp.sq.sges(qp.sq.head), wqe.num_sge, offset, data.data(), data.size());
  return stored ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
}

// A READ response or an ATOMIC ACKNOWLEDGE.
void take_answer(Core& core, Qp& qp, std::uint32_t psn, const wire::OpcodeInfo& info,
                 std::span<const std::uint8_t> transport, Nanos now) {
  // It acknowledges the requests before its own.
  acknowledge(core, qp, psn_add(psn, kPsnMask), now);
  if (qp.sq.empty()) return;
  SendWqe& wqe = qp.sq.at(qp.sq.head);
  if (!wqe.started) return;
  const std::int32_t ahead = psn_diff(psn, psn_add(wqe.first_psn, wqe.done));
  if (ahead < 0) return;
  if (!info_of(wqe.opcode).is_awaited() || (ahead == 0 && !answers(wqe, info))) {
    return fail_send(core, qp, IBV_WC_BAD_RESP_ERR);
  }
  if (ahead > 0) return implied_nak(core, qp, now);
  const ibv_wc_status status = store(core, qp, info, transport);
  if (status != IBV_WC_SUCCESS) return fail_send(core, qp, status);
  ++wqe.done;
  const bool complete = wqe.done == wqe.packets;
  const bool sending = complete && qp.req.position == qp.sq.head;
  if (complete) complete_send(core, qp, IBV_WC_SUCCESS);
  if (sending) {
    qp.req.position = qp.sq.head;
    qp.req.packet = 0;
    qp.req.send_psn = psn_add(psn, 1);
  }
  progressed(core, qp, psn_add(psn, 1), now);
}

}  // namespace

Nanos rnr_wait(std::uint8_t code) { return Nanos{10'000} * kRnrTable[code & 0x1f]; }

void take_response(Core& core, Qp& qp, const wire::Bth& bth, const wire::OpcodeInfo& info,
                   std::span<const std::uint8_t> transport, Nanos now) {
  RequesterState& req = qp.req;
  // Acknowledges something that was never sent, or that is long done.
  if (!psn_before(bth.psn, req.max_psn) || psn_before(bth.psn, req.una_psn)) return;
  const std::uint8_t syndrome = info.has(wire::kHasAeth) ? wire::Aeth::parse(transport.data() + info.aeth).syndrome
                                                         : std::uint8_t{wire::kAckUnlimitedCredits};
  if ((syndrome & wire::kSyndromeKind) == wire::kAck) {
    if (info.has(wire::kIsRead | wire::kIsAtomic)) return take_answer(core, qp, bth.psn, info, transport, now);
    if (!acknowledge(core, qp, bth.psn, now)) implied_nak(core, qp, now);
  } else {
    take_nak(core, qp, bth.psn, syndrome, now);
  }
}

void take_timeout(Core& core, Qp& qp, Nanos now) {
  if (!qp.may_send()) return;
  RequesterState& req = qp.req;
  if (req.waiting_rnr) {
    req.waiting_rnr = false;
    core.active.add(qp);
    return;
  }
  if (req.una_psn == req.max_psn) return;
  if (now < req.ack_deadline) return probe(core, qp, now);  // not a retry yet, and nothing against the path
  req.probes = kMaxProbes;
  ++core.counters.ack_timeout;
  if (req.retries_left == 0) {
    ++core.counters.retry_exceeded_err;
    fail_send(core, qp, IBV_WC_RETRY_EXC_ERR);
    return;
  }
  --req.retries_left;
  retry(core, qp);
  restart_ack_timer(core, qp, now);
}

}  // namespace verbs::soft::nic
