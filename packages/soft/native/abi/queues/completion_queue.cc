#include "abi/queues/completion_queue.h"

#include <cerrno>

#include "abi/model/driver.h"
#include "abi/model/extension.h"
#include "abi/queues/events.h"
#include "host/progress/clock.h"

using namespace verbs::soft;

namespace {

bool is_acknowledged(const abi::Cq* cq) {
  return cq->ibv.comp_events_completed == cq->events.completions_reported &&
         cq->ibv.async_events_completed == cq->events.async_reported;
}

void release(abi::Cq* cq) {
  ibv_cq& ibv = cq->ibv;
  if (cq->channel) {
    pthread_mutex_lock(&ibv.context->mutex);
    --cq->channel->refcnt;
    pthread_mutex_unlock(&ibv.context->mutex);
  }
  abi::of(ibv.context)->handles.remove(&ibv);
  pthread_cond_destroy(&ibv.cond);
  pthread_mutex_destroy(&ibv.mutex);
  delete cq;
}

// Destroys the NIC's CQ and drops the events that the program has not fetched.
int detach(abi::Cq* cq) {
  const int error = abi::control(cq->ibv.context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = nic.cqs().destroy(cq->nic);
    if (failure == 0) cq->live.end();
    if (failure != 0) abi::explain_use(cq->ibv.context, nic, nic::Place::kDestroyCq, failure, cq->nic->users);
    return failure;
  });
  if (error != 0) return error;
  if (cq->events.channel) cq->events.channel->forget(&cq->events);
  cq->events.async->forget(&cq->events);
  return 0;
}

// When the context is closed, no thread acknowledges events any more.
void destroy_unacknowledged(void* object) {
  auto* cq = static_cast<abi::Cq*>(object);
  if (detach(cq) == 0) release(cq);
}

int resize_cq(ibv_cq* ibv, int cqe) {
  abi::Uses uses;
  if (const int error = uses.add(ibv)) return error;
  return abi::control(ibv->context, [&](nic::Nic& nic, link::Nanos) {
    nic::Why why;
    const int error = nic.cqs().resize(abi::of(ibv)->nic, cqe, &why);
    if (error != 0) nic.explain(nic::Place::kResizeCq, error, why);
    ibv->cqe = abi::of(ibv)->nic->cqe();
    return error;
  });
}

}  // namespace

namespace verbs::soft::abi {

Cq* create_cq(ibv_context* context, const ibv_cq_init_attr_ex& attr, const nic::CqOptions& options) {
  Uses uses;
  if (int error = uses.add(context); error != 0 || (attr.channel && (error = use_with(uses, attr.channel, context)))) {
    return null_with<Cq>(error);
  }
  const auto vectors = static_cast<std::uint32_t>(context->num_comp_vectors);
  if (attr.comp_vector >= vectors) {
    return null_with<Cq>(
        refuse(context, nic::Place::kCreateCq, EINVAL, {nic::Reason::kCompVector, {attr.comp_vector, vectors}}));
  }
  auto cq = std::make_unique<Cq>();
  ibv_cq& ibv = cq->ibv;
  Handles::Place place(of(context)->handles, &ibv, Kind::kCq, destroy_unacknowledged);
  cq->events.ibv = &ibv;
  cq->events.channel = attr.channel ? &of(attr.channel)->queue : nullptr;
  cq->events.async = &of(context)->async;
  const int error = control(context, [&](nic::Nic& nic, link::Nanos) {
    nic::Why why;
    const int failure = nic.cqs().create(attr.cqe, &cq->events, &cq->nic, options, &why);
    if (failure == 0) ibv.cqe = cq->nic->cqe();
    if (failure != 0) nic.explain(nic::Place::kCreateCq, failure, why);
    return failure;
  });
  if (error != 0) return null_with<Cq>(error);
  verbs_init_cq(&ibv, context, attr.channel, attr.cq_context);
  cq->channel = attr.channel;
  ibv.handle = place.handle();
  cq->live.begin(of(context)->adapter, cq->nic);
  place.publish(attr.parent_domain ? users_of(attr.parent_domain) : nullptr);
  return cq.release();
}

int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attr) {
  Uses uses;
  if (const int error = uses.add(cq)) return error;
  if (attr->attr_mask != IBV_CQ_ATTR_MODERATE) return EINVAL;
  return control(cq->context, [&](nic::Nic&, link::Nanos) {
    of(cq)->nic->moderate(attr->moderate.cq_count, link::Nanos{attr->moderate.cq_period} * 1000);
    return 0;
  });
}

}  // namespace verbs::soft::abi

extern "C" {

void verbs_init_cq(ibv_cq* cq, ibv_context* context, ibv_comp_channel* channel, void* cq_context) {
  cq->context = context;
  cq->channel = channel;
  cq->cq_context = cq_context;
  cq->comp_events_completed = cq->async_events_completed = 0;
  pthread_mutex_init(&cq->mutex, nullptr);
  pthread_cond_init(&cq->cond, nullptr);
  if (!channel) return;
  pthread_mutex_lock(&context->mutex);
  ++channel->refcnt;
  pthread_mutex_unlock(&context->mutex);
}

ibv_cq* soft_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel, int comp_vector) {
  // A negative number becomes one that is too large.
  ibv_cq_init_attr_ex attr{};
  attr.cqe = static_cast<std::uint32_t>(cqe);
  attr.cq_context = cq_context;
  attr.channel = channel;
  attr.comp_vector = static_cast<std::uint32_t>(comp_vector);
  return verb([&] {
    abi::Cq* cq = abi::create_cq(context, attr, {});
    return cq ? &cq->ibv : nullptr;
  });
}

int ibv_resize_cq(ibv_cq* ibv, int cqe) {
  return verb([&] { return resize_cq(ibv, cqe); });
}

int soft_destroy_cq(ibv_cq* ibv) {
  return verb([&] {
    abi::Cq* cq = abi::of(ibv);
    if (const int error = detach(cq)) return error;
    abi::release_acknowledged(*ibv, [&] { return is_acknowledged(cq); }, [&] { release(cq); });
    return 0;
  });
}

}  // extern "C"

// ibv_cq_ex: completions one at a time, with the fields that the program requested.

namespace verbs::soft::abi {

namespace {

Cq* cq_of(ibv_cq_ex* cq) { return abi::of(ibv_cq_ex_to_cq(cq)); }
const ibv_wc& current(ibv_cq_ex* cq) { return cq_of(cq)->reader->current.wc; }

// -- reading. The entry is a copy: its QP may be destroyed meanwhile.

int show(ibv_cq_ex* ibv, int error) {
  if (error != 0) return error;
  ibv->wr_id = current(ibv).wr_id;
  ibv->status = current(ibv).status;
  return 0;
}

int next_poll(ibv_cq_ex* ibv) {
  Cq* cq = cq_of(ibv);
  return show(ibv,
              on_data_path(cq, [&](auto& path, auto& nic) { return path.next_completion(nic, &cq->reader->current); }));
}

int start_poll(ibv_cq_ex* ibv, ibv_poll_cq_attr* attr) {
  if (attr && attr->comp_mask != 0) return EINVAL;
  Cq* cq = cq_of(ibv);
  CqReader& reader = *cq->reader;
  const bool locks = !reader.single_threaded && reader.section.enter();
  const int error =
      show(ibv, on_data_path(cq, [&](auto& path, auto& nic) { return path.first_completion(nic, &reader.current); }));
  if (error == 0 && reader.wall_clock) reader.wall_time.synchronize(reader.current.at, host::wall_clock_offset());
  // ibv_end_poll() is not called after a failure.
  if (error != 0 && locks) reader.section.leave();
  return error;
}

void end_poll(ibv_cq_ex* ibv) {
  CriticalSection& section = cq_of(ibv)->reader->section;
  if (section.inside()) section.leave();
}

ibv_wc_opcode read_opcode(ibv_cq_ex* cq) { return current(cq).opcode; }
std::uint32_t read_vendor_err(ibv_cq_ex* cq) { return current(cq).vendor_err; }
std::uint32_t read_byte_len(ibv_cq_ex* cq) { return current(cq).byte_len; }
__be32 read_imm_data(ibv_cq_ex* cq) { return current(cq).imm_data; }
std::uint32_t read_qp_num(ibv_cq_ex* cq) { return current(cq).qp_num; }
std::uint32_t read_src_qp(ibv_cq_ex* cq) { return current(cq).src_qp; }
unsigned int read_wc_flags(ibv_cq_ex* cq) { return current(cq).wc_flags; }
std::uint32_t read_slid(ibv_cq_ex* cq) { return current(cq).slid; }
std::uint8_t read_sl(ibv_cq_ex* cq) { return current(cq).sl; }
std::uint8_t read_dlid_path_bits(ibv_cq_ex* cq) { return current(cq).dlid_path_bits; }

// In ticks of the clock of ibv_query_rt_values_ex(): a tick is a nanosecond.
std::uint64_t read_completion_ts(ibv_cq_ex* cq) { return static_cast<std::uint64_t>(cq_of(cq)->reader->current.at); }
std::uint64_t read_completion_wallclock_ns(ibv_cq_ex* cq) {
  CqReader& reader = *cq_of(cq)->reader;
  return static_cast<std::uint64_t>(reader.wall_time.read(reader.current.at));
}

std::uint16_t read_cvlan(ibv_cq_ex* cq) { return cq_of(cq)->reader->current.tags.cvlan; }
std::uint32_t read_flow_tag(ibv_cq_ex* cq) { return cq_of(cq)->reader->current.tags.flow_tag; }

void read_tm_info(ibv_cq_ex* cq, ibv_wc_tm_info* info) { *info = cq_of(cq)->reader->current.tags.matched; }

// Programs call these pointers without a check: all are set.
void fill_calls(ibv_cq_ex* cq) {
  cq->start_poll = start_poll;
  cq->next_poll = next_poll;
  cq->end_poll = end_poll;
  cq->read_opcode = read_opcode;
  cq->read_vendor_err = read_vendor_err;
  cq->read_byte_len = read_byte_len;
  cq->read_imm_data = read_imm_data;
  cq->read_qp_num = read_qp_num;
  cq->read_src_qp = read_src_qp;
  cq->read_wc_flags = read_wc_flags;
  cq->read_slid = read_slid;
  cq->read_sl = read_sl;
  cq->read_dlid_path_bits = read_dlid_path_bits;
  cq->read_completion_ts = read_completion_ts;
  cq->read_cvlan = read_cvlan;
  cq->read_flow_tag = read_flow_tag;
  cq->read_tm_info = read_tm_info;
  cq->read_completion_wallclock_ns = read_completion_wallclock_ns;
}

constexpr std::uint64_t kTimestamps =
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
// Only raw packets have these.
constexpr std::uint64_t kFrameTags = IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_CVLAN;
constexpr std::uint64_t kTags = kFrameTags | IBV_WC_EX_WITH_TM_INFO;

bool supported(const ibv_cq_init_attr_ex& attr, bool raw_packets) {
  const std::uint64_t fields =
      std::uint64_t{IBV_WC_STANDARD_FLAGS} | IBV_WC_EX_WITH_TM_INFO | kTimestamps | (raw_packets ? kFrameTags : 0);
  constexpr std::uint32_t kFlags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
  constexpr std::uint32_t kKnown = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
  return (attr.wc_flags & ~fields) == 0 && (attr.comp_mask & ~kKnown) == 0 &&
         ((attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) == 0 || (attr.flags & ~kFlags) == 0);
}

}  // namespace

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr) {
  Uses uses;
  if (const int error = uses.add(context)) return null_with<ibv_cq_ex>(error);
  if (!supported(*attr, of(context)->device->has_raw_packets())) return null_with<ibv_cq_ex>(EOPNOTSUPP);
  // Fields without their bit in comp_mask are not set by the program.
  const std::uint32_t flags = (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ? attr->flags : 0;
  ibv_cq_init_attr_ex given = *attr;
  if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) == 0) {
    given.parent_domain = nullptr;
  } else if (use_with(uses, attr->parent_domain, context) != 0 || !abi::of(attr->parent_domain)->is_parent_domain) {
    return null_with<ibv_cq_ex>(EINVAL);
  }
  auto reader = std::make_unique<CqReader>();
  Cq* cq = create_cq(context, given,
                     {.timestamps = (attr->wc_flags & kTimestamps) != 0,
                      .ignore_overrun = (flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) != 0,
                      .tags = (attr->wc_flags & kTags) != 0});
  if (!cq) return nullptr;
  cq->reader = std::move(reader);
  cq->reader->wall_clock = (attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK) != 0;
  cq->reader->single_threaded = (flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0;
  fill_calls(&cq->ibv_ex);
  return &cq->ibv_ex;
}

}  // namespace verbs::soft::abi
