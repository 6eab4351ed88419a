// ibv_cq_ex: completions one at a time, with the fields that the program requested.
#include <cerrno>

#include "abi/cq/cq.h"
#include "host/progress/clock.h"

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

// For fields with which no CQ is created.
void read_tm_info(ibv_cq_ex*, ibv_wc_tm_info* info) { *info = {}; }

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
// Only raw packets have tags.
constexpr std::uint64_t kTags = IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_CVLAN;

bool supported(const ibv_cq_init_attr_ex& attr, bool raw_packets) {
  const std::uint64_t fields = std::uint64_t{IBV_WC_STANDARD_FLAGS} | kTimestamps | (raw_packets ? kTags : 0);
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
