#include "nic/scheduler.h"

#include <algorithm>

#include "nic/completer/completer.h"
#include "nic/datagram/datagram.h"
#include "nic/raw/raw_packets.h"
#include "nic/requester/requester.h"
#include "nic/responder/responses.h"

namespace verbs::soft::nic {
namespace {

constexpr std::size_t kPumpBudget = 256;  // packets a call
constexpr std::size_t kQpBudget = 64;     // packets of one QP before the next one is served

// Ethernet frames leave by another link.
bool is_held(Core& core, Qp& qp) {
  if (qp.type == IBV_QPT_RAW_PACKET) return false;
  const bool datagrams = qp.type == IBV_QPT_UD && !qp.sq.empty();
  const wire::Gid& destination = datagrams ? qp.sq.datagram(qp.sq.head).path.dgid : qp.path.dgid;
  return core.port_of(qp).transmitter().congested(destination);
}

}  // namespace

std::size_t Scheduler::send(Qp& qp, std::size_t budget, Nanos now) {
  if (qp.type == IBV_QPT_UD) return send_datagrams(core_, qp, budget);
  if (qp.type == IBV_QPT_RAW_PACKET) return send_raw_packets(core_, qp, budget);
  return send_requests(core_, qp, budget, now);
}

// Sends at most `budget` packets of one QP and returns how many. Requests go before responses, because the peer waits
// for the message that the application just posted. The peer gets both at once: a program with room for one request
// posts the next one when the answer to the last has come, and takes that one for done, as it is with hardware. With an
// armed send CQ the responses go first, as from hardware: a program with one channel for both directions may take the
// first event after its request for that of the request (ib_send_lat -e does).
std::size_t Scheduler::serve(Qp& qp, std::size_t budget, Nanos now) {
  const bool responses_first = qp.send_cq != nullptr && qp.send_cq->armed();
  std::size_t sent = responses_first ? send_responses(core_, qp, budget) : 0;
  if (sent < budget) sent += send(qp, budget - sent, now);
  if (responses_first || sent >= budget || qp.resp.responses.empty()) return sent;
  sent += send_responses(core_, qp, budget - sent);
  return sent;
}

// Changes when a held queue pair may send.
std::uint64_t Scheduler::relieve() {
  std::uint64_t sum = 0;
  for (std::uint8_t port_num = 1; port_num <= core_.ports.size(); ++port_num) {
    sum += core_.ports[port_num].transmitter().relieve();
  }
  return sum;
}

bool Scheduler::pump(Nanos now) {
  core_.set_time(now);
  core_.cqs.expire(now, core_.events);
  while (TimerSlot* slot = core_.timers.expire(now)) handle_timeout(core_, static_cast<Qp&>(*slot), now);
  std::size_t left = kPumpBudget;
  std::size_t held = 0;        // queue pairs in a row that must wait
  std::uint64_t relieved = 0;  // before the first of them was looked at
  held_ = false;
  while (Qp* qp = core_.active.front()) {
    if (left == 0) return false;
    core_.active.remove(*qp);
    bool waits = is_held(core_, *qp);
    if (waits && held == 0) {
      // Room that comes from here on is a change; what this call itself makes is not, so that the first one looks
      // again.
      relieved = relieve();
      waits = is_held(core_, *qp);
    }
    if (waits) {
      core_.active.add(*qp);
      held_ = ++held >= core_.active.size();
      if (!held_) continue;
      held_at_ = relieved + core_.active.additions();
      return true;
    }
    held = 0;
    const std::size_t budget = std::min(left, kQpBudget);
    std::size_t sent = 0;
    try {
      sent = serve(*qp, budget, now);
    } catch (...) {  // there is no memory for a timer now: the queue pair is served again
      core_.active.add(*qp);
      throw;
    }
    left -= sent;
    if (sent == budget) core_.active.add(*qp);
  }
  return true;
}

}  // namespace verbs::soft::nic
