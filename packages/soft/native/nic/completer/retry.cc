#include "nic/completer/retry.h"

#include <algorithm>
#include <array>

#include "nic/completer/completer.h"
#include "nic/device/qp_error.h"
#include "nic/requester/requester.h"
#include "nic/shared/psn.h"

namespace verbs::soft::nic {
namespace {

// In units of 10 us. Code 25 is 61.44 ms in the specification.
constexpr std::array<std::uint32_t, 32> kRnrTable = {
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

constexpr std::uint8_t kInfiniteRnr = 7;
// The wait doubles with each RNR NAK in a row, up to this limit or the peer's own wait, whichever is longer: the
// shortest waits that a peer can ask for would keep both ends busy with nothing else.
constexpr Nanos kMaxRnrBackOff = 160'000;
constexpr std::uint8_t kMaxRnrDoublings = 4;

Nanos rnr_back_off(const RequesterState& req, std::uint8_t code) {
  const Nanos asked = rnr_wait(code);
  return std::max(asked, std::min(asked << (req.rnr_naks - 1), kMaxRnrBackOff));
}

// Sends everything from una_psn on again.
void retransmit(Core& core, Qp& qp) {
  RequesterState& req = qp.req;
  req.congestion_window.lost();
  ++core.counters.completer_retry_err;
  req.recovering = true;
  req.recovery_psn = req.max_psn;
  rewind(qp, req.una_psn);
  core.active.add(qp);
}

// Counts a retry and retransmits; fails the oldest request when none is left.
void retry(Core& core, Qp& qp, Nanos now) {
  RequesterState& req = qp.req;
  if (req.retries_left == 0) {
    ++core.counters.retry_exceeded_err;
    fail_send(core, qp, IBV_WC_RETRY_EXC_ERR);
    return;
  }
  --req.retries_left;
  retransmit(core, qp);
  restart_ack_timer(core, qp, now);
}

}  // namespace

Nanos rnr_wait(std::uint8_t code) { return Nanos{10'000} * kRnrTable[code & 0x1f]; }

void send_payload(Core& core, Qp& qp) {
  revoke_references(core, qp);
  ask_for_payload(core, qp);
}

void ask_for_payload(Core& core, Qp& qp) {
  constexpr std::uint8_t kMessages = 64;
  RequesterState& req = qp.req;
  req.by_payload = kMessages;
  req.recovering = true;
  req.recovery_psn = req.max_psn;
  rewind(qp, req.una_psn);
  core.active.add(qp);
}

void acknowledge_progress(Core& core, Qp& qp, std::uint32_t una, Nanos now) {
  RequesterState& req = qp.req;
  req.congestion_window.acknowledged(static_cast<std::uint32_t>(psn_diff(una, req.una_psn)));
  req.round_trip.acknowledged(una, now);
  req.una_psn = una;
  req.recovering = false;
  req.probes = 0;
  req.timed_out = false;
  req.retries_left = qp.attr.retry_cnt;
  req.rnr_retries_left = qp.attr.rnr_retry;
  req.rnr_naks = 0;
  // A late acknowledgement may overtake the retransmission.
  if (psn_before(req.send_psn, una)) rewind(qp, una);
  auto& outstanding = req.outstanding;
  while (!outstanding.empty() && psn_before(outstanding.front().last_psn, una)) outstanding.erase(outstanding.begin());
  if (!req.waiting_rnr) {
    if (una == req.max_psn) {
      req.refers = false;
      core.timers.cancel(qp);
    } else {
      restart_ack_timer(core, qp, now);
    }
  }
  core.active.add(qp);
}

void handle_loss(Core& core, Qp& qp, Nanos now) {
  const RequesterState& req = qp.req;
  if (!req.recovering) return retry(core, qp, now);
  if (!psn_before(req.send_psn, req.recovery_psn)) retransmit(core, qp);
}

void handle_rnr_nak(Core& core, Qp& qp, std::uint32_t psn, std::uint8_t timer_code, Nanos now) {
  RequesterState& req = qp.req;
  ++core.counters.rcvd_rnr_err;
  ++req.rcvd_rnr_err;
  // The peer is reachable: earlier losses no longer count against the path.
  req.retries_left = qp.attr.retry_cnt;
  if (qp.attr.rnr_retry != kInfiniteRnr) {
    if (req.rnr_retries_left == 0) {
      ++core.counters.retry_rnr_exceeded_err;
      fail_send(core, qp, IBV_WC_RNR_RETRY_EXC_ERR);
      return;
    }
    --req.rnr_retries_left;
  }
  rewind(qp, psn);
  req.waiting_rnr = true;
  req.rnr_naks = std::min<std::uint8_t>(req.rnr_naks + 1, 1 + kMaxRnrDoublings);
  core.timers.arm(qp, now + rnr_back_off(req, timer_code));
}

void handle_timeout(Core& core, Qp& qp, Nanos now) {
  if (!qp.may_send()) return;
  RequesterState& req = qp.req;
  if (req.waiting_rnr) {
    req.waiting_rnr = false;
    core.active.add(qp);
    return;
  }
  if (req.una_psn == req.max_psn) return;
  if (now < req.ack_deadline) return probe(core, qp, now);  // no retry yet
  req.probes = kMaxProbes;
  // The first time in a row. Later ones repeat the window: on a path that loses much, one packet is too few chances.
  req.timed_out = req.retries_left == qp.attr.retry_cnt;
  ++core.counters.ack_timeout;
  retry(core, qp, now);
}

}  // namespace verbs::soft::nic
