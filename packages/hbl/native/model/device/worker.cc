#include "model/device/worker.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "model/device/context.h"
#include "model/device/send_queue.h"
#include "verbs_soft_boundary.h"
#include "verbs_soft_worker.h"

namespace verbs::hbl::model {

namespace {

constexpr int kMaxSpins = 64;  // rounds without progress before a blocked worker sleeps 1 ms

Qp* find(Context& context, std::uint32_t number, std::uint32_t port_num) {
  for (const auto& [ibv, qp] : context.qps) {
    if (qp->number == number && qp->port_num == port_num) return qp.get();
  }
  return nullptr;
}

}  // namespace

void Worker::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  waker_.wake();
  thread_.join();
}

void Worker::forget_parent() { new (&thread_) std::thread; }  // neither joined nor destroyed: that one is the parent's

Worker::~Worker() {
  stop();
  if (progress_) context_.base.destroy_cq(progress_);
}

int Worker::start() {
  if (!waker_.open()) return EMFILE;
  progress_ = context_.base.create_cq(context_.ibv, 1, nullptr, nullptr, 0);
  if (!progress_) return errno;
  const verbs::soft::model::WorkerSignals signals;
  try {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "verbs-hbl");
  } catch (const std::system_error& failure) {
    return failure.code().value();
  }
  return 0;
}

void Worker::run() {
  int spins = kMaxSpins;
  while (!stopping_) {
    Outcome outcome = Outcome::kIdle;
    {
      const std::lock_guard guard(context_.mutex);
      // Without memory the work waits.
      outcome = verbs::soft::contain([this] { return run_once(); }, [](int) { return Outcome::kBlocked; });
    }
    // Blocked work continues after acknowledgements, which run_once() or the NIC's own thread receives.
    const bool blocked = outcome == Outcome::kBlocked;
    if (outcome == Outcome::kWorked) spins = kMaxSpins;
    if (outcome == Outcome::kWorked || (blocked && --spins > 0)) {
      std::this_thread::yield();
      continue;
    }
    waker_.sleep(blocked ? 1 : -1, [&] { return stopping_ || (!blocked && has_doorbell()); });
  }
}

bool Worker::has_doorbell() {
  const std::lock_guard guard(context_.mutex);
  return std::any_of(context_.fifos.begin(), context_.fifos.end(),
                     [](const auto& entry) { return !entry.second->ring.empty(); });
}

Worker::Outcome Worker::run_once() {
  bool worked = false, blocked = false;
  for (const auto& [hbldv, fifo] : context_.fifos) {
    const Outcome outcome = drain(*fifo);
    worked |= outcome == Outcome::kWorked;
    blocked |= outcome == Outcome::kBlocked;
    if (fifo->ring.take_overrun()) raise_overrun();
  }
  for (const auto& [ibv, cq] : context_.cqs) {
    if (cq->outstanding == 0) continue;
    const std::uint32_t before = cq->index;
    move_completions(context_, *cq);
    worked |= cq->index != before;
    blocked |= cq->outstanding != 0;
  }
  if (blocked) {
    ibv_wc none;
    context_.base_ops.poll_cq(progress_, 1, &none);
  }
  return worked ? Outcome::kWorked : blocked ? Outcome::kBlocked : Outcome::kIdle;
}

Worker::Outcome Worker::drain(UsrFifo& fifo) {
  Outcome outcome = Outcome::kIdle;
  for (std::uint32_t i = 0; i < DoorbellRing::kEntries && !fifo.ring.empty(); ++i) {
    // Entries of a congestion-control FIFO are consumed and have no effect: the model has no congestion control.
    if (fifo.type == HBLDV_USR_FIFO_TYPE_DB && !execute(fifo, fifo.ring.front())) {
      return outcome == Outcome::kWorked ? outcome : Outcome::kBlocked;
    }
    const std::uint32_t index = fifo.ring.pop();
    __atomic_store_n(fifo.consumer.as<std::uint32_t>(), index, __ATOMIC_RELEASE);
    outcome = Outcome::kWorked;
  }
  return outcome;
}

bool Worker::execute(const UsrFifo& fifo, std::uint64_t doorbell) {
  const auto number = static_cast<std::uint32_t>(doorbell >> HBL_DOORBELL_QP_SHIFT & 0xffffff);
  const auto port_num = static_cast<std::uint32_t>(doorbell >> HBL_DOORBELL_PORT_SHIFT);
  if (port_num != fifo.port_num) {
    drop(DoorbellDrop::kWrongPort);
    return true;
  }
  Qp* qp = find(context_, number, port_num);
  if (!qp || qp->entries == 0) {
    drop(qp ? DoorbellDrop::kNoWorkQueue : DoorbellDrop::kNoQp);
    return true;
  }
  return run_send_queue(context_, *qp, static_cast<std::uint32_t>(doorbell) & kIndexMask);
}

void Worker::drop(DoorbellDrop reason) {
  const DoorbellDrops* drops = find_doorbell_drops(context_.ibv->device);
  if (!drops || soft()->lock_device(context_.ibv) != 0) return;
  ++*(*drops)[static_cast<std::size_t>(reason)];
  soft()->unlock_device(context_.ibv);
}

void Worker::raise_overrun() {
  ibv_async_event event{};
  event.event_type = IBV_EVENT_DEVICE_FATAL;
  soft()->raise_event(context_.ibv, &event);
}

}  // namespace verbs::hbl::model
