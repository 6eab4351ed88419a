#include "binding/completion/completion_queue.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "binding/lifetime/handle.h"
#include "binding/memory/protection_domain.h"

namespace verbs::core {

CompletionQueue::CompletionQueue(std::shared_ptr<Context> context, const std::vector<std::shared_ptr<Object>>& parents,
                                 ibv_cq* cq, ibv_cq_ex* extended, std::uint64_t wc_flags)
    : Object(kKind, parents), context_(std::move(context)), cq_(cq), extended_(extended), wc_flags_(wc_flags) {}

int CompletionQueue::destroy() { return context_->functions().destroy_cq(cq_); }

int CompletionQueue::destroyed(int) {
  cq_ = nullptr;
  abandoned_.clear();
  return 0;
}

void CompletionQueue::keep_until_polled(std::shared_ptr<RequestQueue> queue) noexcept {
  if (queue->idle() || cq_ == nullptr) return;
  try {
    abandoned_.push_back(std::move(queue));
  } catch (const std::bad_alloc&) {
    // Its late completions come without the caller's ids.
  }
}

namespace {

// Each field goes straight to its place. A record that is put together first and copied then would be read back before
// its parts have left the processor's store buffer, which takes longer than all the rest.
template <typename T>
void put(std::uint8_t* record, std::size_t offset, T value) {
  std::memcpy(record + offset, &value, sizeof value);
}

// Of a request whose completion says how many bytes came.
bool has_length(ibv_wc_opcode opcode) {
  return opcode == IBV_WC_RDMA_READ || opcode == IBV_WC_COMP_SWAP || opcode == IBV_WC_FETCH_ADD;
}

// The errno of a poll whose result is no number of completions. rdma-core's stub for providers without poll_cq returns
// EOPNOTSUPP, a positive number, and writes no completion. A negative result comes with errno at best.
int poll_error(int result) {
  if (result == EOPNOTSUPP) return EOPNOTSUPP;
  return result > 0 || errno == 0 ? EIO : errno;
}

}  // namespace

void CompletionQueue::write_record(const ibv_wc& wc, const Extras& extras, std::uint8_t* record) {
  UserId id;
  if (RequestQueue* queue = context_->environment().request_queues.find(RequestQueue::id_of(wc.wr_id));
      queue != nullptr) {
    id = queue->retire(wc);
  }
  // Providers write what belongs to the completion; the rest of a plain one is what the array had. An extended one is
  // read field by field.
  const bool ok = wc.status == IBV_WC_SUCCESS;
  const bool received = ok && (wc.opcode & IBV_WC_RECV) != 0;
  const bool whole = extended_ != nullptr || received;
  const bool sized = received || (ok && has_length(wc.opcode));
  const unsigned wc_flags = whole || ok ? wc.wc_flags : 0u;
  const bool immediate = (wc_flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV)) != 0;
  const std::uint32_t imm_data = (wc_flags & IBV_WC_WITH_IMM) != 0 ? ntohl(wc.imm_data) : wc.invalidated_rkey;
  put(record, offsetof(CompletionRecord, wr_id), id.value);
  put(record, offsetof(CompletionRecord, status), std::uint32_t{wc.status});
  put(record, offsetof(CompletionRecord, opcode), whole || ok ? std::uint32_t{wc.opcode} : 0);
  // Of a success ibv_poll_cq leaves it as it was; an extended queue has the flow's tag there.
  const bool told = extended_ != nullptr || !ok;
  put(record, offsetof(CompletionRecord, vendor_err), told ? wc.vendor_err : 0);
  put(record, offsetof(CompletionRecord, byte_len), sized ? wc.byte_len : 0);
  put(record, offsetof(CompletionRecord, imm_data), immediate ? imm_data : 0);
  put(record, offsetof(CompletionRecord, qp_num), wc.qp_num);
  put(record, offsetof(CompletionRecord, src_qp), whole ? wc.src_qp : 0);
  put(record, offsetof(CompletionRecord, wc_flags), std::uint32_t{wc_flags});
  put(record, offsetof(CompletionRecord, pkey_index), whole ? wc.pkey_index : std::uint16_t{0});
  put(record, offsetof(CompletionRecord, slid), whole ? wc.slid : std::uint16_t{0});
  put(record, offsetof(CompletionRecord, sl), whole ? wc.sl : std::uint8_t{0});
  put(record, offsetof(CompletionRecord, dlid_path_bits), whole ? wc.dlid_path_bits : std::uint8_t{0});
  const unsigned flags = (id.is_number ? unsigned{kIdIsNumber} : 0) | (extras.has_tag ? unsigned{kHasTag} : 0);
  put(record, offsetof(CompletionRecord, flags), static_cast<std::uint16_t>(flags));
  put(record, offsetof(CompletionRecord, timestamp), extras.timestamp);
  put(record, offsetof(CompletionRecord, wallclock_ns), extras.wallclock_ns);
}

int CompletionQueue::poll(std::uint8_t* records, int count) {
  if (extended_ != nullptr) return poll_extended(records, count);
  constexpr int kChunk = 64;
  ibv_wc completions[kChunk];
  int total = 0;
  while (total < count) {
    const int wanted = std::min(count - total, kChunk);
    errno = 0;
    // The inline ibv_poll_cq, spelled out: a function of the context.
    const int found = cq_->context->ops.poll_cq(cq_, wanted, completions);
    if (found < 0 || found > wanted) {
      // The completions polled before must not be lost. The next call reports the error again.
      return total != 0 ? total : -poll_error(found);
    }
    for (int i = 0; i < found; i++, records += sizeof(CompletionRecord)) write_record(completions[i], {}, records);
    total += found;
    if (found < wanted) {
      // The queue is empty, and gone queue pairs add nothing more.
      abandoned_.clear();
      break;
    }
  }
  return total;
}

namespace {

// { handle, id, cqe }: the id names the queue in events.
Napi::Value describe(Napi::Env env, const std::shared_ptr<Context>& context,
                     const std::vector<std::shared_ptr<Object>>& parents, ibv_cq* cq, ibv_cq_ex* extended,
                     std::uint64_t wc_flags) {
  const std::uintptr_t id = context->environment().next_id++;
  cq->cq_context = reinterpret_cast<void*>(id);
  const auto queue = std::make_shared<CompletionQueue>(context, parents, cq, extended, wc_flags);
  Napi::Object result = Napi::Object::New(env);
  result.Set("id", static_cast<double>(id));
  result.Set("cqe", cq->cqe);
  result.Set("handle", wrap_object(env, queue));
  return result;
}

}  // namespace

Napi::Value CompletionQueue::adopt(Napi::Env env, const std::shared_ptr<Context>& context,
                                   const std::shared_ptr<CompletionChannel>& channel, ibv_cq* cq) {
  std::vector<std::shared_ptr<Object>> parents{context};
  if (channel != nullptr) parents.push_back(channel);
  return describe(env, context, parents, cq, nullptr, 0);
}

namespace {

// createCq(context, cqe, channel | undefined, compVector, { wcFlags: bigint, flags, parentDomain? } | undefined):
// { handle, id, cqe } | -errno. `id` names the queue in events. With the last argument it is ibv_create_cq_ex.
Napi::Value create_cq_by(Napi::Env env, const napi_value* arguments, const VendorMake* vendor) {
  const auto argument = [&](std::size_t index) { return Napi::Value(env, arguments[index]); };
  const auto context = take<Context>(env, arguments[0]);
  const int cqe = number_of<int>(argument(1));
  std::vector<std::shared_ptr<Object>> parents{context};
  Taken<CompletionChannel> channel;
  if (!argument(2).IsUndefined()) {
    channel = take<CompletionChannel>(env, arguments[2]);
    if (&channel->context() != context.get()) return failure(env, EINVAL);
    parents.push_back(channel);
  }
  const int vector = number_of<int>(argument(3));
  ibv_comp_channel* events = channel == nullptr ? nullptr : channel->channel();
  ibv_cq* cq = nullptr;
  ibv_cq_ex* extended = nullptr;
  Taken<ProtectionDomain> pd;
  std::uint64_t wc_flags = 0;
  errno = 0;
  if (argument(4).IsUndefined() && vendor == nullptr) {
    cq = context->functions().create_cq(context->ctx(), cqe, nullptr, events, vector);
  } else {
    const Fields more(argument(4));
    wc_flags = more.u64("wcFlags");
    ibv_cq_init_attr_ex attr{};
    attr.cqe = static_cast<std::uint32_t>(cqe);
    attr.channel = events;
    attr.comp_vector = static_cast<std::uint32_t>(vector);
    attr.wc_flags = wc_flags;
    attr.flags = more.u32("flags");
    if (attr.flags != 0) attr.comp_mask |= IBV_CQ_INIT_ATTR_MASK_FLAGS;
    if (const Napi::Value domain = more["parentDomain"]; !domain.IsUndefined()) {
      pd = take<ProtectionDomain>(env, domain);
      if (&pd->context() != context.get()) return failure(env, EINVAL);
      attr.comp_mask |= IBV_CQ_INIT_ATTR_MASK_PD;
      attr.parent_domain = pd->pd();
      parents.push_back(pd);
    }
    extended = vendor != nullptr ? (*vendor).operator()<ibv_cq_ex>(context->ctx(), &attr)
                                 : ibv_create_cq_ex(context->ctx(), &attr);
    cq = extended == nullptr ? nullptr : ibv_cq_ex_to_cq(extended);
  }
  if (cq == nullptr) return failure(env, creation_error());
  return describe(env, context, parents, cq, extended, wc_flags);
}

Napi::Value create_cq(const Napi::CallbackInfo& info) {
  return create_cq_by(info.Env(), arguments_from(info, 0).data(), nullptr);
}

// resizeCq(cq, cqe): the new size | -errno
Napi::Value resize_cq(const Napi::CallbackInfo& info) {
  const auto queue = take<CompletionQueue>(info, 0);
  const int error = queue->context().functions().resize_cq(queue->cq(), number_of<int>(info[1]));
  return error == 0 ? number(info.Env(), queue->cq()->cqe) : failure(info.Env(), error);
}

// modifyCq(cq, count, period): 0 | -errno
Napi::Value modify_cq(const Napi::CallbackInfo& info) {
  const auto queue = take<CompletionQueue>(info, 0);
  ibv_modify_cq_attr attr{};
  attr.attr_mask = IBV_CQ_ATTR_MODERATE;
  attr.moderate.cq_count = number_of<std::uint16_t>(info[1]);
  attr.moderate.cq_period = number_of<std::uint16_t>(info[2]);
  return failure(info.Env(), ibv_modify_cq(queue->cq(), &attr));
}

// reqNotify(cq, solicitedOnly): 0 | -errno
Napi::Value req_notify(const Napi::CallbackInfo& info) {
  const auto queue = take<CompletionQueue>(info, 0);
  const bool solicited_only = flag_of(info[1]);
  return failure(info.Env(), queue->cq()->context->ops.req_notify_cq(queue->cq(), solicited_only ? 1 : 0));
}

}  // namespace

Napi::Value CompletionQueue::create(Napi::Env env, const napi_value* arguments, const VendorMake& vendor) {
  return create_cq_by(env, arguments, &vendor);
}

void CompletionQueue::init(Napi::Object exports) {
  export_function<create_cq>(exports, "createCq");
  export_function<req_notify>(exports, "reqNotify");
  export_function<verbs::core::resize_cq>(exports, "resizeCq");
  export_function<verbs::core::modify_cq>(exports, "modifyCq");
}

namespace {

// Polling an ibv_cq_ex: ibv_start_poll, ibv_next_poll, ibv_end_poll, and the reading of the fields that the queue was
// created for.

ibv_wc read_completion(ibv_cq_ex* cq, std::uint64_t wanted) {
  ibv_wc wc{};
  wc.wr_id = cq->wr_id;
  wc.status = cq->status;
  wc.vendor_err = cq->status == IBV_WC_SUCCESS ? 0 : ibv_wc_read_vendor_err(cq);
  if ((wanted & IBV_WC_EX_WITH_QP_NUM) != 0) wc.qp_num = ibv_wc_read_qp_num(cq);
  // The rest of a failed one says nothing, but of a rendezvous that is left to the program.
  if (cq->status != IBV_WC_SUCCESS && cq->status != IBV_WC_TM_RNDV_INCOMPLETE) return wc;
  wc.opcode = ibv_wc_read_opcode(cq);
  wc.wc_flags = ibv_wc_read_wc_flags(cq);
  // A success has no other use for the field.
  if ((wanted & IBV_WC_EX_WITH_FLOW_TAG) != 0) wc.vendor_err = ibv_wc_read_flow_tag(cq);
  if ((wanted & IBV_WC_EX_WITH_BYTE_LEN) != 0) wc.byte_len = ibv_wc_read_byte_len(cq);
  // One word, and one reader: providers leave it null without IMM.
  if ((wanted & IBV_WC_EX_WITH_IMM) != 0) {
    if ((wc.wc_flags & IBV_WC_WITH_INV) != 0) {
      wc.invalidated_rkey = ibv_wc_read_invalidated_rkey(cq);
    } else if ((wc.wc_flags & IBV_WC_WITH_IMM) != 0) {
      wc.imm_data = ibv_wc_read_imm_data(cq);
    }
  }
  if ((wanted & IBV_WC_EX_WITH_SRC_QP) != 0) wc.src_qp = ibv_wc_read_src_qp(cq);
  if ((wanted & IBV_WC_EX_WITH_SLID) != 0) wc.slid = static_cast<std::uint16_t>(ibv_wc_read_slid(cq));
  if ((wanted & IBV_WC_EX_WITH_SL) != 0) wc.sl = ibv_wc_read_sl(cq);
  if ((wanted & IBV_WC_EX_WITH_DLID_PATH_BITS) != 0) wc.dlid_path_bits = ibv_wc_read_dlid_path_bits(cq);
  return wc;
}

// Into fields that a message of a reliable connection does not use (records.h).
void read_tag(ibv_cq_ex* cq, ibv_wc* wc) {
  ibv_wc_tm_info info{};
  ibv_wc_read_tm_info(cq, &info);
  wc->vendor_err = info.priv;
  wc->src_qp = static_cast<std::uint32_t>(info.tag);
  wc->pkey_index = static_cast<std::uint16_t>(info.tag >> 32);
  wc->slid = static_cast<std::uint16_t>(info.tag >> 48);
}

}  // namespace

int CompletionQueue::poll_extended(std::uint8_t* records, int count) {
  if (count <= 0) return 0;
  ibv_poll_cq_attr attr{};
  int state = ibv_start_poll(extended_, &attr);
  if (state == ENOENT) {
    abandoned_.clear();
    return 0;
  }
  // A positive result of this function is a number of completions.
  if (state != 0) return state < 0 ? state : -state;
  int total = 0;
  while (state == 0) {
    Extras extras;
    if (extended_->status == IBV_WC_SUCCESS) {
      if ((wc_flags_ & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) != 0) {
        extras.timestamp = ibv_wc_read_completion_ts(extended_);
      }
      if ((wc_flags_ & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK) != 0) {
        extras.wallclock_ns = ibv_wc_read_completion_wallclock_ns(extended_);
      }
    }
    ibv_wc wc = read_completion(extended_, wc_flags_);
    extras.has_tag = (wc_flags_ & IBV_WC_EX_WITH_TM_INFO) != 0 && wc.status == IBV_WC_SUCCESS &&
                     (wc.wc_flags & IBV_WC_TM_MATCH) != 0;
    if (extras.has_tag) read_tag(extended_, &wc);
    write_record(wc, extras, records);
    records += sizeof(CompletionRecord);
    total++;
    if (total == count) break;
    state = ibv_next_poll(extended_);
  }
  ibv_end_poll(extended_);
  if (state == ENOENT) abandoned_.clear();
  return total;
}

}  // namespace verbs::core
