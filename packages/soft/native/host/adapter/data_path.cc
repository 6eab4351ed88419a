#include "host/adapter/data_path.h"

#include <cerrno>
#include <mutex>
#include <utility>

#include "host/events/completion_channel.h"

namespace verbs::soft::host {

int DataPath::poll(Cq live, int count, ibv_wc* wc) {
  if (const int error = core_.reject_inherited()) return -error;
  core_.lock.lock_after_others();
  const std::lock_guard guard(core_.lock, std::adopt_lock);
  nic::Cq* cq = live.load(std::memory_order_relaxed);
  if (!cq) return -EINVAL;
  core_.progress.note_poll();
  const int found = cq->poll(count, wc);
  if (found != 0) return found;
  progress_for(cq);
  return cq->poll(count, wc);
}

int DataPath::first_completion(Cq live, nic::Completion* completion) {
  if (const int error = core_.reject_inherited()) return error;
  core_.lock.lock_after_others();
  const std::lock_guard guard(core_.lock, std::adopt_lock);
  nic::Cq* cq = live.load(std::memory_order_relaxed);
  if (!cq) return EINVAL;
  core_.progress.note_poll();
  if (cq->poll_one(completion)) return 0;
  if (cq->has_overrun()) return EIO;
  progress_for(cq);
  return cq->poll_one(completion) ? 0 : ENOENT;
}

int DataPath::next_completion(Cq live, nic::Completion* completion) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  nic::Cq* cq = live.load(std::memory_order_relaxed);
  if (!cq) return EINVAL;
  return cq->poll_one(completion) ? 0 : ENOENT;
}

// Makes progress for a program that polled an empty queue.
void DataPath::progress_for(nic::Cq* cq) {
  const Nanos time = now();
  core_.progress.note_progress(time);
  const bool had_output = core_.engine.has_output();
  const bool receives = !std::exchange(static_cast<EventTarget*>(cq->owner)->packets_wake, false);
  // Frames of this process are announced once, to an empty queue: the program may sleep next.
  if (receives && core_.engine.receive(time)) core_.progress.wake();
  // The acknowledgement of a frame that has just arrived leaves with the program's next request or at its next empty
  // poll. The helper sends it if neither comes; without the helper's tick it must leave now.
  if (cq->pending() == 0 || had_output || !core_.progress.ticking()) core_.transmit(time);
}

int DataPath::progress() {
  if (const int error = core_.reject_inherited()) return error;
  core_.lock.lock_after_others();
  const std::lock_guard guard(core_.lock, std::adopt_lock);
  core_.progress.note_poll();
  const Nanos time = now();
  core_.progress.note_progress(time);
  if (core_.engine.receive(time)) core_.progress.wake();
  core_.transmit(time);
  return 0;
}

// `wr` was posted. Sends it, unless the NIC has handed it over already. A thread that posts on and on receives too:
// otherwise the helper would have to, which costs both threads a system call for each packet, and slows the posting
// down so much that it would go on.
void DataPath::progress_for_post(const ibv_send_wr* wr) {
  if (core_.nic().scheduler().is_idle()) return;
  const Nanos time = now();
  if (wr != nullptr && (wr->num_sge > 0 || wr->next != nullptr)) core_.progress.note_exchange(time);
  if (core_.progress.note_post(time) && core_.engine.receive(time)) core_.progress.wake();
  core_.transmit(time);
}

// A request that is posted to a QP in the error state completes at once, without progress that would set the time.
void DataPath::stamp_flushed(const nic::Qp* qp) {
  if (qp->state == IBV_QPS_ERR) core_.nic().scheduler().set_time(now());
}

int DataPath::post_send(Qp live, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  nic::Qp* qp = live.load(std::memory_order_relaxed);
  if (!qp) return EINVAL;
  stamp_flushed(qp);
  const int error = core_.nic().data_path().post_send(qp, wr, bad_wr);
  progress_for_post(wr);
  return error;
}

int DataPath::post_batch(Qp live, ibv_send_wr* wr) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  nic::Qp* qp = live.load(std::memory_order_relaxed);
  if (!qp) return EINVAL;
  stamp_flushed(qp);
  const int error = core_.nic().data_path().post_batch(qp, wr);
  progress_for_post(wr);
  return error;
}

void DataPath::refuse_batch(Qp live, int error) {
  if (core_.reject_inherited() != 0) return;
  const std::lock_guard guard(core_.lock);
  const nic::Qp* qp = live.load(std::memory_order_relaxed);
  if (!qp) return;
  nic::Why why{nic::Reason::kBatchForm};
  if (error == EOPNOTSUPP) why = {nic::Reason::kOperationNotAsked};
  if (error == ENOMEM) why = {nic::Reason::kQueueFull, {qp->sq.capacity()}};
  core_.nic().explain(nic::Place::kWrComplete, error, why, qp);
}

int DataPath::post_recv(Qp live, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  nic::Qp* qp = live.load(std::memory_order_relaxed);
  if (!qp) return EINVAL;
  stamp_flushed(qp);
  const int error = core_.nic().data_path().post_recv(qp, wr, bad_wr);
  // A receive request sends nothing. The pending output is the acknowledgement of a message that poll() has just
  // returned, and it should leave with the program's next request.
  if (core_.engine.has_output() && !core_.progress.ticking()) core_.transmit(now());
  return error;
}

// Sends nothing: a peer that got an RNR NAK retries by its own timer.
int DataPath::post_srq_recv(Srq live, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  nic::Srq* srq = live.load(std::memory_order_relaxed);
  if (!srq) return EINVAL;
  return core_.nic().data_path().post_srq_recv(srq, wr, bad_wr);
}

// The operations complete at once, without progress that would set the time. Nothing is sent.
int DataPath::post_srq_ops(Srq live, ibv_ops_wr* wr, ibv_ops_wr** bad_wr) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  nic::Srq* srq = live.load(std::memory_order_relaxed);
  if (!srq) return EINVAL;
  core_.nic().scheduler().set_time(now());
  return core_.nic().data_path().post_srq_ops(srq, wr, bad_wr);
}

int DataPath::req_notify(Cq live, bool solicited_only, const CompletionChannel* channel) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  nic::Cq* cq = live.load(std::memory_order_relaxed);
  if (!cq) return EINVAL;
  cq->arm(solicited_only);
  static_cast<EventTarget*>(cq->owner)->packets_wake = channel && channel->wait_set.attached();
  if (channel && !channel->waited_inline && !core_.progress.has_waiter()) core_.progress.note_armed();
  return 0;
}

}  // namespace verbs::soft::host
