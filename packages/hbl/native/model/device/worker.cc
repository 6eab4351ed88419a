#include "model/device/worker.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include "model/device/context.h"

namespace verbs::hbl {
namespace {

constexpr std::uint32_t kIndexMask = (1u << HBL_DOORBELL_INDEX_BITS) - 1;
constexpr int kChain = 32;     // work requests that are posted at once
constexpr int kPatience = 64;  // turns without progress before the worker sleeps for a while
// Marks the completions of announced work; the lower half is the entry's tag.
constexpr std::uint64_t kAnnounced = 0xffffffffull << 32;

struct Chain {
  std::array<ibv_send_wr, kChain> requests;
  std::array<ibv_sge, kChain> elements;
  int count = 0;
};

hbl_wqe_multi_stride read_entry(const Qp& qp, std::uint32_t index) {
  const std::size_t size = qp.granularity == HBLDV_SWQE_GRAN_32B ? sizeof(hbl_wqe) : sizeof(hbl_wqe_multi_stride);
  hbl_wqe_multi_stride entry{};
  // The application may write the entry meanwhile, so all decisions are about this one copy.
  std::memcpy(&entry, qp.send_queue.as<const std::uint8_t>() + index % qp.entries * size, size);
  return entry;
}

void add(Chain& chain, const Qp& qp, const hbl_wqe_multi_stride& entry, std::uint32_t stride, bool last) {
  const hbl_wqe& wqe = entry.linear;
  ibv_sge& element = chain.elements[chain.count];
  ibv_send_wr& request = chain.requests[chain.count];
  element = {wqe.local_addr + stride * entry.local_stride, wqe.length, qp.local_key};
  request = {};
  request.sg_list = &element;
  request.num_sge = 1;
  request.wr_id = kAnnounced | wqe.tag;
  request.opcode = last && wqe.opcode == HBL_WQE_WRITE_WITH_IMM ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
  request.imm_data = htobe32(wqe.imm_data);
  if (last && (wqe.flags & HBL_WQE_SIGNALED) != 0) request.send_flags |= IBV_SEND_SIGNALED;
  if (last && (wqe.flags & HBL_WQE_SOLICITED) != 0) request.send_flags |= IBV_SEND_SOLICITED;
  request.wr.rdma.remote_addr = wqe.remote_addr + stride * entry.remote_stride;
  request.wr.rdma.rkey = qp.remote_key;
  if (chain.count != 0) chain.requests[chain.count - 1].next = &request;
  ++chain.count;
}

// The queue pair cannot go on: its error state, and the event that says so.
void fail_qp(Context& context, Qp& qp) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  context.base.modify_qp(qp.verbs, &attr, IBV_QP_STATE);
  ibv_async_event event{};
  event.event_type = IBV_EVENT_QP_FATAL;
  event.element.qp = qp.verbs;
  soft()->raise_event(context.verbs, &event);
}

Qp* find(Context& context, std::uint32_t number, std::uint32_t port_num) {
  for (const auto& [verbs, qp] : context.qps) {
    if (qp->number == number && qp->port_num == port_num && qp->entries != 0) return qp.get();
  }
  return nullptr;
}

}  // namespace

void reap(Context& context, Cq& cq) {
  ibv_wc completions[16];
  for (;;) {
    const int found = context.base_ops.poll_cq(cq.verbs, 16, completions);
    for (int i = 0; i < found; ++i) {
      const ibv_wc& wc = completions[i];
      const bool announced = wc.wr_id >> 32 == kAnnounced >> 32;
      if (announced && cq.outstanding > 0) --cq.outstanding;
      cq.entries.as<hbl_cqe>()[cq.index % cq.capacity()] = {wc.qp_num,
                                                            announced ? static_cast<std::uint32_t>(wc.wr_id) : 0,
                                                            wc.byte_len,
                                                            static_cast<std::uint8_t>(wc.status),
                                                            static_cast<std::uint8_t>(wc.opcode),
                                                            0};
      ++cq.index;
      __atomic_store_n(cq.producer.as<std::uint32_t>(), cq.index, __ATOMIC_RELEASE);
      cq.ready[(cq.ready_head + cq.ready_count) % cq.capacity()] = wc;
      if (cq.ready_count < cq.capacity()) {
        ++cq.ready_count;
      } else {
        cq.ready_head = (cq.ready_head + 1) % cq.capacity();
      }
    }
    if (found < 16) return;
  }
}

void Worker::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  waker_.wake();
  thread_.join();
}

Worker::~Worker() {
  stop();
  if (progress_) context_.base.destroy_cq(progress_);
}

int Worker::start() {
  if (!waker_.open()) return EMFILE;
  progress_ = context_.base.create_cq(context_.verbs, 1, nullptr, nullptr, 0);
  if (!progress_) return errno;
  // The program's signals are for the program's threads.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int error = 0;
  try {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "verbs-hbl");
  } catch (const std::system_error& failure) {
    error = failure.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return error;
}

void Worker::run() {
  int patience = kPatience;
  while (!stopping_) {
    Outcome outcome = Outcome::kIdle;
    {
      const std::lock_guard guard(context_.mutex);
      outcome = turn();
    }
    // What is stuck waits for acknowledgements, which the poll in turn() or the NIC's own thread takes in.
    const bool stuck = outcome == Outcome::kStuck;
    if (outcome == Outcome::kWorked) patience = kPatience;
    if (outcome == Outcome::kWorked || (stuck && --patience > 0)) {
      std::this_thread::yield();
      continue;
    }
    waker_.sleep(stuck ? 1 : -1, [&] { return stopping_ || (!stuck && any_doorbell()); });
  }
}

bool Worker::any_doorbell() {
  const std::lock_guard guard(context_.mutex);
  return std::any_of(context_.fifos.begin(), context_.fifos.end(),
                     [](const auto& entry) { return !entry.second->ring.empty(); });
}

Worker::Outcome Worker::turn() {
  bool worked = false, stuck = false;
  for (const auto& [face, fifo] : context_.fifos) {
    const Outcome outcome = serve(*fifo);
    worked |= outcome == Outcome::kWorked;
    stuck |= outcome == Outcome::kStuck;
    if (fifo->ring.take_overrun()) tell_overrun();
  }
  for (const auto& [verbs, cq] : context_.cqs) {
    if (cq->outstanding == 0) continue;
    const std::uint32_t before = cq->index;
    reap(context_, *cq);
    worked |= cq->index != before;
    stuck |= cq->outstanding != 0;
  }
  if (stuck) {
    ibv_wc none;
    context_.base_ops.poll_cq(progress_, 1, &none);
  }
  return worked ? Outcome::kWorked : stuck ? Outcome::kStuck : Outcome::kIdle;
}

Worker::Outcome Worker::serve(UsrFifo& fifo) {
  Outcome outcome = Outcome::kIdle;
  for (std::uint32_t i = 0; i < DoorbellRing::kEntries && !fifo.ring.empty(); ++i) {
    const std::uint64_t doorbell = fifo.ring.front();
    // A congestion-control FIFO is consumed alike; there is no congestion control that it could tell anything.
    const auto number = static_cast<std::uint32_t>(doorbell >> HBL_DOORBELL_QP_SHIFT & 0xffffff);
    const auto port_num = static_cast<std::uint32_t>(doorbell >> HBL_DOORBELL_PORT_SHIFT);
    const bool announces = fifo.type == HBLDV_USR_FIFO_TYPE_DB && port_num == fifo.port_num;
    Qp* qp = announces ? find(context_, number, port_num) : nullptr;
    if (qp && !run_queue(*qp, static_cast<std::uint32_t>(doorbell) & kIndexMask)) {
      return outcome == Outcome::kWorked ? outcome : Outcome::kStuck;
    }
    const std::uint32_t index = fifo.ring.pop();
    __atomic_store_n(fifo.consumer.as<std::uint32_t>(), index, __ATOMIC_RELEASE);
    outcome = Outcome::kWorked;
  }
  return outcome;
}

bool Worker::run_queue(Qp& qp, std::uint32_t index) {
  if (((index - qp.next) & kIndexMask) > qp.entries) {
    fail_qp(context_, qp);  // more entries than the queue has
    qp.next = index;
    return true;
  }
  while (qp.next != index) {
    Chain chain;
    std::uint32_t next = qp.next, stride = qp.stride;
    struct Place {
      std::uint32_t next, stride;
      bool signaled;
    };
    std::array<Place, kChain> after;
    bool broken = false;
    while (next != index && chain.count < kChain) {
      const hbl_wqe_multi_stride entry = read_entry(qp, next);
      if (entry.linear.opcode == HBL_WQE_NOP) {
        if (chain.count != 0) break;
        next = (next + 1) & kIndexMask;
        qp.next = next;
        continue;
      }
      broken = entry.linear.opcode > HBL_WQE_WRITE_WITH_IMM;
      if (broken) break;
      const bool last = stride + 1 >= std::max(1u, entry.strides);
      add(chain, qp, entry, stride, last);
      stride = last ? 0 : stride + 1;
      if (last) next = (next + 1) & kIndexMask;
      after[chain.count - 1] = {next, stride, last && (entry.linear.flags & HBL_WQE_SIGNALED) != 0};
    }
    if (chain.count != 0) {
      ibv_send_wr* bad = nullptr;
      const int error = context_.base_ops.post_send(qp.verbs, chain.requests.data(), &bad);
      const auto posted = error == 0 ? chain.count : static_cast<int>(bad - chain.requests.data());
      const auto cq = context_.cqs.find(qp.verbs->send_cq);
      for (int i = 0; i < posted; ++i) {
        if (after[i].signaled && cq != context_.cqs.end()) ++cq->second->outstanding;
      }
      if (posted > 0) {
        qp.next = after[posted - 1].next;
        qp.stride = after[posted - 1].stride;
      }
      if (error == ENOMEM) return false;
      broken |= error != 0;
    }
    if (broken) {
      fail_qp(context_, qp);
      qp.next = index;
      qp.stride = 0;
    }
  }
  return true;
}

void Worker::tell_overrun() {
  ibv_async_event event{};
  event.event_type = IBV_EVENT_DEVICE_FATAL;
  soft()->raise_event(context_.verbs, &event);
}

}  // namespace verbs::hbl
