#include "completion_queue.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "handle.h"
#include "records.h"

namespace verbs::core {
namespace {

std::vector<std::shared_ptr<Object>> Parents(const std::shared_ptr<Context>& context,
                                             const std::shared_ptr<CompletionChannel>& channel) {
  std::vector<std::shared_ptr<Object>> parents{context};
  if (channel != nullptr) parents.push_back(channel);
  return parents;
}

}  // namespace

CompletionQueue::CompletionQueue(std::shared_ptr<Context> context, std::shared_ptr<CompletionChannel> channel,
                                 ibv_cq* cq)
    : Object(kKind, Parents(context, channel)), context_(std::move(context)), channel_(std::move(channel)), cq_(cq) {}

int CompletionQueue::Release() {
  if (const int error = context_->functions().destroy_cq(cq_); error != 0) return error;
  cq_ = nullptr;
  queues_.clear();
  return 0;
}

std::shared_ptr<WorkQueue> CompletionQueue::AddQueue(std::uint32_t capacity, std::uint32_t max_sge) {
  std::uint32_t slot = static_cast<std::uint32_t>(queues_.size());
  if (!free_slots_.empty()) {
    slot = free_slots_.back();
  } else {
    queues_.emplace_back();
    // Room for giving every slot back, so that abandoning never allocates.
    free_slots_.reserve(queues_.size());
    abandoned_.reserve(queues_.size());
    free_slots_.push_back(slot);
  }
  queues_[slot] = std::make_shared<WorkQueue>(slot, capacity, max_sge);
  free_slots_.pop_back();
  return queues_[slot];
}

void CompletionQueue::AbandonQueue(const std::shared_ptr<WorkQueue>& queue) {
  queue->ReleaseReferences();
  if (cq_ == nullptr) return;
  const std::uint32_t slot = queue->slot();
  if (queue->outstanding() != 0) {
    abandoned_.push_back(slot);
    return;
  }
  queues_[slot].reset();
  free_slots_.push_back(slot);
}

void CompletionQueue::ForgetAbandoned() {
  for (const std::uint32_t slot : abandoned_) {
    queues_[slot].reset();
    free_slots_.push_back(slot);
  }
  abandoned_.clear();
}

int CompletionQueue::Poll(std::uint8_t* records, int count) {
  constexpr int kChunk = 32;
  ibv_wc completions[kChunk];
  int total = 0;
  while (total < count) {
    const int wanted = std::min(count - total, kChunk);
    // The inline ibv_poll_cq, spelled out: a function of the context.
    const int found = cq_->context->ops.poll_cq(cq_, wanted, completions);
    if (found < 0) {
      // What was reaped before must not be lost; the error shows again at the next call.
      if (total != 0) return total;
      return errno == 0 ? -EIO : -errno;
    }
    for (int i = 0; i < found; i++) {
      const ibv_wc& wc = completions[i];
      CompletionRecord record{};
      const std::uint32_t slot = WorkQueue::SlotOf(wc.wr_id);
      if (slot < queues_.size() && queues_[slot] != nullptr) {
        const UserId id = queues_[slot]->Retire(wc.wr_id);
        record.wr_id = id.value;
        record.flags = id.is_number ? std::uint16_t{kIdIsNumber} : std::uint16_t{0};
      }
      record.status = wc.status;
      record.opcode = wc.opcode;
      record.vendor_err = wc.vendor_err;
      record.byte_len = wc.byte_len;
      record.imm_data = (wc.wc_flags & IBV_WC_WITH_IMM) != 0 ? ntohl(wc.imm_data) : wc.invalidated_rkey;
      record.qp_num = wc.qp_num;
      record.src_qp = wc.src_qp;
      record.wc_flags = wc.wc_flags;
      record.pkey_index = wc.pkey_index;
      record.slid = wc.slid;
      record.sl = wc.sl;
      record.dlid_path_bits = wc.dlid_path_bits;
      std::memcpy(records + static_cast<std::size_t>(total + i) * sizeof record, &record, sizeof record);
    }
    total += found;
    if (found < wanted) {
      // The queue is empty, and gone queue pairs add nothing more.
      ForgetAbandoned();
      break;
    }
  }
  return total;
}

Napi::Value CompletionQueue::Adopt(Napi::Env env, const std::shared_ptr<Context>& context,
                                   const std::shared_ptr<CompletionChannel>& channel, ibv_cq* cq) {
  const std::uintptr_t id = context->environment().next_id++;
  cq->cq_context = reinterpret_cast<void*>(id);
  Napi::Object result = Napi::Object::New(env);
  result.Set("id", static_cast<double>(id));
  result.Set("cqe", cq->cqe);
  result.Set("handle", WrapObject(env, std::make_shared<CompletionQueue>(context, channel, cq)));
  return result;
}

namespace {

// createCq(context, cqe, channel | undefined, compVector): { handle, cqe } | -errno. `id` names the queue in
// events.
Napi::Value CreateCq(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto context = Unwrap<Context>(info, 0);
  const int cqe = info[1].As<Napi::Number>().Int32Value();
  std::shared_ptr<CompletionChannel> channel;
  if (!info[2].IsUndefined()) {
    channel = Unwrap<CompletionChannel>(info, 2);
    if (&channel->context() != context.get()) return Failure(env, EINVAL);
  }
  const int vector = info[3].As<Napi::Number>().Int32Value();
  errno = 0;
  ibv_cq* cq = context->functions().create_cq(context->ctx(), cqe, nullptr,
                                              channel == nullptr ? nullptr : channel->channel(), vector);
  if (cq == nullptr) return Failure(env, CreationError());
  return CompletionQueue::Adopt(env, context, channel, cq);
}

// reqNotify(cq, solicitedOnly): 0 | -errno
Napi::Value ReqNotify(const Napi::CallbackInfo& info) {
  const auto queue = Unwrap<CompletionQueue>(info, 0);
  const bool solicited_only = info[1].As<Napi::Boolean>().Value();
  return Failure(info.Env(), queue->cq()->context->ops.req_notify_cq(queue->cq(), solicited_only ? 1 : 0));
}

}  // namespace

void CompletionQueue::Init(Napi::Object exports) {
  Export<CreateCq>(exports, "createCq");
  Export<ReqNotify>(exports, "reqNotify");
}

}  // namespace verbs::core
