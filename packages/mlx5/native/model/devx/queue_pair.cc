#include <algorithm>
#include <cstring>

#include "model/devx/queues.h"
#include "steering/headers/bytes.h"

namespace verbs::mlx5::model {
namespace {

using steering::load16;
using steering::load24;
using steering::load32;
using steering::load64;
using steering::store16;
using steering::store24;
using steering::store32;

constexpr std::uint16_t kQueryQp = 0x50b;
constexpr std::uint16_t kResetToInit = 0x502, kInitToRtr = 0x503, kRtrToRts = 0x504, kToError = 0x507, kToReset = 0x50a;
// CREATE_QP and the commands that modify: the context, and the place of the queues.
constexpr std::size_t kContextAt = 24, kQueuesAt = 256, kQueuesMemoryAt = 264, kQueuesValidAt = 268, kCreateSize = 272;
// In the context.
namespace field {
constexpr std::size_t kState = 0, kType = 1, kPd = 5, kMtu = 8, kReceiveQueue = 9, kSendQueue = 10, kUserIndex = 17;
constexpr std::size_t kRemoteQp = 21, kPath = 24, kRetry = 113, kRnrRetry = 114, kNextSendPsn = 121, kSendCq = 125;
constexpr std::size_t kLogResources = 145, kRights = 146, kMinRnr = 148, kNextReceivePsn = 149, kReceiveCq = 157;
constexpr std::size_t kRecord = 160, kReceiveType = 172, kSent = 182, kReceived = 188, kRecordValid = 208;
constexpr std::size_t kRecordMemory = 228;
}  // namespace field
namespace path {  // from field::kPath
constexpr std::size_t kPkeyIndex = 2, kLid = 6, kTimeout = 8, kSourceIndex = 9, kHopLimit = 11, kClassAndLabel = 12;
constexpr std::size_t kDestination = 16, kServiceLevel = 36, kPort = 37;
}  // namespace path

constexpr std::uint8_t kRc = 0, kNoSendQueue = 0x80;
constexpr std::uint8_t kOrdinaryReceive = 0, kNoReceive = 3;  // types of a receive queue
constexpr std::uint32_t kRecordSize = 8, kUnit = 64, kSegment = 16;
constexpr std::uint32_t kCounterMask = 0xffff;
constexpr std::uint32_t kNoMemoryKey = 0x100;  // ends the list of a receive request
constexpr std::size_t kMostBytes = 63 * kSegment;
constexpr std::uint32_t kSges = 16, kInline = 512;

// Opcodes of requests.
constexpr std::uint8_t kSendInvalidate = 0x01, kWrite = 0x08, kWriteImmediate = 0x09, kSend = 0x0a;
constexpr std::uint8_t kSendImmediate = 0x0b, kRead = 0x10, kCompareSwap = 0x11, kFetchAdd = 0x12;
// Opcodes of completions.
constexpr std::uint8_t kRequestDone = 0, kWriteReceived = 1, kReceived = 2, kReceivedImmediate = 3;
constexpr std::uint8_t kReceivedInvalidate = 4, kRequestFailed = 13, kReceiveFailed = 14;

// The bytes of a completion.
namespace entry {
constexpr std::size_t kUserIndex = 32, kImmediate = 36, kByteCount = 44, kSyndrome = 55, kQp = 56, kCounter = 60;
}

// wr_id of the NIC's requests: the request's counter, whether it completes visibly, and its opcode.
constexpr std::uint64_t kVisible = 1 << 24, kIsReceive = 1 << 25;
std::uint64_t mark(std::uint32_t counter, bool visible, std::uint8_t opcode) {
  return (counter & kCounterMask) | (visible ? kVisible : 0) | std::uint64_t{opcode} << 32;
}

std::uint8_t syndrome_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_LOC_LEN_ERR:
      return 0x01;
    case IBV_WC_LOC_QP_OP_ERR:
      return 0x02;
    case IBV_WC_LOC_PROT_ERR:
      return 0x04;
    case IBV_WC_WR_FLUSH_ERR:
      return 0x05;
    case IBV_WC_MW_BIND_ERR:
      return 0x06;
    case IBV_WC_BAD_RESP_ERR:
      return 0x10;
    case IBV_WC_LOC_ACCESS_ERR:
      return 0x11;
    case IBV_WC_REM_INV_REQ_ERR:
      return 0x12;
    case IBV_WC_REM_ACCESS_ERR:
      return 0x13;
    case IBV_WC_RETRY_EXC_ERR:
      return 0x15;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return 0x16;
    case IBV_WC_REM_ABORT_ERR:
      return 0x22;
    default:
      return 0x14;  // remote operation error
  }
}

// Reads bytes of a queue, which goes on at its start.
bool read_ring(const Umem& umem, std::uint64_t queue_at, std::uint64_t queue_size, std::uint64_t offset,
               std::span<std::uint8_t> bytes) {
  const std::uint64_t first = std::min<std::uint64_t>(bytes.size(), queue_size - offset);
  if (!umem.read(queue_at + offset, bytes.first(first))) return false;
  return first == bytes.size() || umem.read(queue_at, bytes.subspan(first));
}

DevxQp::Layout layout_of(std::span<const std::uint8_t> given) {
  DevxQp::Layout layout;
  if ((given[field::kReceiveType] & 7) == kOrdinaryReceive) {
    layout.receive_count = std::uint32_t{1} << (given[field::kReceiveQueue] >> 3 & 0xf);
    layout.receive_stride = kSegment << (given[field::kReceiveQueue] & 7);
  }
  if ((given[field::kSendQueue] & kNoSendQueue) == 0) {
    layout.send_count = std::uint32_t{1} << (given[field::kSendQueue] >> 3 & 0xf);
  }
  return layout;
}

}  // namespace

DevxStatus DevxQp::create(Context& context, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                          std::unique_ptr<DevxObject>* object) {
  if (in.size() < kCreateSize) return DevxStatus::kBadInputLength;
  const std::span<const std::uint8_t, kContextSize> given(in.data() + kContextAt, kContextSize);
  const std::uint8_t receive_type = given[field::kReceiveType] & 7;
  if (given[field::kType] != kRc || (receive_type != kOrdinaryReceive && receive_type != kNoReceive)) {
    return DevxStatus::kBadParam;  // other services, and shared receive queues
  }
  if ((in[kQueuesValidAt] & 0x80) == 0 || (given[field::kRecordValid] & 0x10) == 0) return DevxStatus::kBadParam;
  ibv_pd* pd = find_pd(context, load24(given.data() + field::kPd));
  Umem* queues = find_umem(context, load32(in.data() + kQueuesMemoryAt));
  Umem* record = find_umem(context, load32(given.data() + field::kRecordMemory));
  const auto cq_of = [&](std::size_t at) {
    return dynamic_cast<DevxCq*>(find_devx_object(context, DevxCq::kQueryOpcode, load24(given.data() + at)));
  };
  DevxCq *send_cq = cq_of(field::kSendCq), *receive_cq = cq_of(field::kReceiveCq);
  if (!pd || !queues || !record || !send_cq || !receive_cq) return DevxStatus::kBadResource;
  const Layout layout = layout_of(given);
  const Places places{.queues = *queues,
                      .queues_at = load64(in.data() + kQueuesAt),
                      .record = *record,
                      .record_at = load64(given.data() + field::kRecord),
                      .send_cq = *send_cq,
                      .receive_cq = *receive_cq};
  if (!queues->has(places.queues_at, layout.size()) || !record->has(places.record_at, kRecordSize)) {
    return DevxStatus::kBadParam;
  }
  // Never full: it has room for all that the queues of the NIC hold.
  const auto size = static_cast<int>(layout.send_count + layout.receive_count);
  ibv_cq* cq = context.base.create_cq(context.ibv, std::max(size, 1), nullptr, nullptr, 0);
  if (!cq) return DevxStatus::kLimit;
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq;
  attr.qp_type = IBV_QPT_RC;
  attr.sq_sig_all = 1;
  attr.cap = {.max_send_wr = layout.send_count,
              .max_recv_wr = layout.receive_count,
              .max_send_sge = kSges,
              .max_recv_sge = std::clamp<std::uint32_t>(layout.receive_stride / kSegment, 1, kSges),
              .max_inline_data = kInline};
  ibv_qp* qp = context.base.create_qp(pd, &attr);
  // The program does not know it, and could not acknowledge its events.
  if (!qp || soft()->mute_events(qp) != 0) {
    if (qp) context.base.destroy_qp(qp);
    context.base.destroy_cq(cq);
    return DevxStatus::kLimit;
  }
  try {
    *object = std::make_unique<DevxQp>(context, qp, cq, layout, places, given);
    serve_queue_pairs();
  } catch (...) {
    if (!*object) {
      context.base.destroy_qp(qp);
      context.base.destroy_cq(cq);
    }
    object->reset();
    throw;
  }
  store24(out.data() + 9, qp->qp_num);
  return DevxStatus::kOk;
}

DevxQp::DevxQp(Context& context, ibv_qp* qp, ibv_cq* cq, const Layout& layout, const Places& places,
               std::span<const std::uint8_t, kContextSize> given)
    : DevxObject(context, qp->qp_num), qp_(qp), cq_(cq), layout_(layout), places_(places) {
  uses_.reserve(4);
  for (Counted* used : {static_cast<Counted*>(&places.queues), static_cast<Counted*>(&places.record),
                        static_cast<Counted*>(&places.send_cq), static_cast<Counted*>(&places.receive_cq)}) {
    uses_.emplace_back(*used);
  }
  std::copy(given.begin(), given.end(), attributes_.begin());
}

// The NIC's own end with their context.
DevxQp::~DevxQp() {
  if (owner->closed) return;
  owner->base.destroy_qp(qp_);
  owner->base.destroy_cq(cq_);
}

std::uint16_t DevxQp::query_opcode() const { return kQueryQp; }

bool DevxQp::is_named_in(std::span<const std::uint8_t> in) const { return load24(in.data() + 9) == id; }

DevxStatus DevxQp::query(std::span<const std::uint8_t>, std::span<std::uint8_t> out) {
  if (out.size() < kContextAt + kContextSize) return DevxStatus::kBadOutputLength;
  std::copy(attributes_.begin(), attributes_.end(), out.begin() + kContextAt);
  std::uint8_t* context = out.data() + kContextAt;
  // The states have the same numbers up to RTS, and ERR is 6 in both.
  context[field::kState] = static_cast<std::uint8_t>((context[field::kState] & 0x0f) | (qp_->state & 0xf) << 4);
  store16(context + field::kSent, sent_ & kCounterMask);
  store32(context + field::kReceived, received_ & kCounterMask);
  return DevxStatus::kOk;
}

int DevxQp::change(ibv_qp_attr& attr, int mask) { return owner->base.modify_qp(qp_, &attr, mask | IBV_QP_STATE); }

DevxStatus DevxQp::modify(std::uint16_t opcode, std::span<const std::uint8_t> in) {
  if (in.size() < kContextAt + kContextSize) return DevxStatus::kBadInputLength;
  const std::uint8_t* given = in.data() + kContextAt;
  const std::uint8_t* along = given + field::kPath;
  ibv_qp_attr attr{};
  int mask = 0;
  switch (opcode) {
    case kResetToInit:
      attr.qp_state = IBV_QPS_INIT;
      attr.pkey_index = load16(along + path::kPkeyIndex);
      attr.port_num = port_num_ = along[path::kPort];
      if ((given[field::kRights] & 0x80) != 0) attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ;
      if ((given[field::kRights] & 0x40) != 0) attr.qp_access_flags |= IBV_ACCESS_REMOTE_WRITE;
      if ((given[field::kRights] & 0x20) != 0) attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
      mask = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
      break;
    case kInitToRtr:
      attr.qp_state = IBV_QPS_RTR;
      attr.path_mtu = static_cast<ibv_mtu>(given[field::kMtu] >> 5);
      attr.dest_qp_num = load24(given + field::kRemoteQp);
      attr.rq_psn = load24(given + field::kNextReceivePsn);
      attr.min_rnr_timer = given[field::kMinRnr] & 0x1f;
      attr.max_dest_rd_atomic = static_cast<std::uint8_t>(1u << (given[field::kLogResources] >> 5));
      attr.ah_attr.is_global = 1;
      std::memcpy(attr.ah_attr.grh.dgid.raw, along + path::kDestination, 16);
      attr.ah_attr.grh.sgid_index = along[path::kSourceIndex];
      attr.ah_attr.grh.hop_limit = along[path::kHopLimit];
      attr.ah_attr.grh.traffic_class = static_cast<std::uint8_t>(load32(along + path::kClassAndLabel) >> 20);
      attr.ah_attr.grh.flow_label = load32(along + path::kClassAndLabel) & 0xfffff;
      attr.ah_attr.dlid = load16(along + path::kLid);
      attr.ah_attr.sl = along[path::kServiceLevel] & 0xf;
      attr.ah_attr.port_num = port_num_;
      mask = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
             IBV_QP_MIN_RNR_TIMER;
      break;
    case kRtrToRts:
      attr.qp_state = IBV_QPS_RTS;
      attr.timeout = along[path::kTimeout] >> 3;
      attr.retry_cnt = given[field::kRetry] & 7;
      attr.rnr_retry = given[field::kRnrRetry] >> 5;
      attr.sq_psn = load24(given + field::kNextSendPsn);
      attr.max_rd_atomic = static_cast<std::uint8_t>(1u << (given[field::kRetry] >> 5));
      mask = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
      break;
    case kToError:
      attr.qp_state = IBV_QPS_ERR;
      break;
    case kToReset:
      attr.qp_state = IBV_QPS_RESET;
      break;
    default:
      return DevxStatus::kBadOp;
  }
  if (change(attr, mask) != 0) return DevxStatus::kBadParam;
  if (opcode == kToReset) {
    received_ = sent_ = 0;
    failed_ = false;
  }
  return DevxStatus::kOk;
}

// A request of the send queue, in the NIC's form.
struct DevxQp::Request {
  ibv_send_wr wr{};
  std::array<ibv_sge, kSges> sges{};
  std::array<std::uint8_t, kInline> inlined{};
  std::uint32_t inlined_size = 0;
};

bool DevxQp::step() {
  if (owner->closed) return false;
  if (!failed_ && (places_.send_cq.failed() || places_.receive_cq.failed())) fail();
  bool worked = false;
  if (!failed_ && qp_->state != IBV_QPS_RESET) {
    worked |= take_receives();
    if (qp_->state >= IBV_QPS_RTS) worked |= take_sends();
  }
  return complete() || worked;
}

void DevxQp::fail() {
  failed_ = true;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  change(attr, 0);
}

bool DevxQp::take_receives() {
  if (layout_.receive_count == 0) return false;
  std::array<std::uint8_t, 4> record{};
  if (!places_.record.read(places_.record_at, record)) return fail(), true;
  const std::uint32_t posted = (load32(record.data()) - received_) & kCounterMask;
  // More than there is room for: a record that the program has broken.
  if (posted > layout_.receive_count) return fail(), true;
  for (std::uint32_t i = 0; i < posted; ++i) {
    std::array<std::uint8_t, kSges * kSegment> bytes{};
    const std::uint32_t size = std::min<std::uint32_t>(layout_.receive_stride, bytes.size());
    const std::uint64_t at = std::uint64_t{received_ & (layout_.receive_count - 1)} * layout_.receive_stride;
    if (!places_.queues.read(places_.queues_at + at, std::span(bytes).first(size))) return fail(), true;
    std::array<ibv_sge, kSges> sges{};
    ibv_recv_wr wr{};
    wr.wr_id = (received_ & kCounterMask) | kIsReceive;
    wr.sg_list = sges.data();
    for (std::uint32_t from = 0; from < size; from += kSegment) {
      const std::uint8_t* segment = bytes.data() + from;
      if (load32(segment + 4) == kNoMemoryKey) break;
      sges[wr.num_sge++] = {load64(segment + 8), load32(segment), load32(segment + 4)};
    }
    ibv_recv_wr* bad = nullptr;
    if (ibv_post_recv(qp_, &wr, &bad) != 0) return i > 0;  // until requests complete
    ++received_;
  }
  return posted > 0;
}

bool DevxQp::take_sends() {
  if (layout_.send_count == 0) return false;
  std::array<std::uint8_t, 4> record{};
  if (!places_.record.read(places_.record_at + 4, record)) return fail(), true;
  bool worked = false;
  while (!failed_) {
    const std::uint32_t posted = (load32(record.data()) - sent_) & kCounterMask;
    if (posted == 0 || !take_send(posted)) return worked;
    worked = true;
  }
  return true;
}

// One request. False: the NIC has no room for it now.
bool DevxQp::take_send(std::uint32_t available) {
  std::array<std::uint8_t, kMostBytes> bytes{};
  const std::uint64_t queue_at = places_.queues_at + layout_.receive_size();
  const std::uint64_t queue_size = std::uint64_t{layout_.send_count} * kUnit;
  const std::uint64_t at = std::uint64_t{sent_ & (layout_.send_count - 1)} * kUnit;
  const auto read = [&](std::size_t from, std::size_t size) {
    return read_ring(places_.queues, queue_at, queue_size, (at + from) % queue_size,
                     std::span(bytes).subspan(from, size));
  };
  Request request;
  std::uint32_t units = 1;
  bool good = available <= layout_.send_count && read(0, kSegment);
  if (good) {
    const std::size_t size = std::size_t{bytes[7] & 0x3fu} * kSegment;
    units = std::max<std::uint32_t>(1, static_cast<std::uint32_t>((size + kUnit - 1) / kUnit));
    good = size >= kSegment && units <= available && read(kSegment, size - kSegment) &&
           parse(std::span(bytes).first(size), &request);
  }
  if (!good) {
    put_error(places_.send_cq, kRequestFailed, syndrome_of(IBV_WC_LOC_QP_OP_ERR), sent_,
              std::uint32_t{bytes[3]} << 24 | id);
    fail();
    return true;
  }
  const bool visible = (bytes[11] & 0x08) != 0;
  request.wr.wr_id = mark(sent_, visible, bytes[3]);
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(qp_, &request.wr, &bad);
  if (error == ENOMEM) return false;
  if (error != 0) {
    put_error(places_.send_cq, kRequestFailed, syndrome_of(IBV_WC_LOC_QP_OP_ERR), sent_,
              std::uint32_t{bytes[3]} << 24 | id);
    fail();
  }
  sent_ += units;
  return true;
}

bool DevxQp::parse(std::span<const std::uint8_t> bytes, Request* request) const {
  if (load24(bytes.data() + 4) != id) return false;
  ibv_send_wr& wr = request->wr;
  std::memcpy(&wr.imm_data, bytes.data() + 12, sizeof wr.imm_data);
  if ((bytes[11] >> 5) != 0) wr.send_flags |= IBV_SEND_FENCE;
  if ((bytes[11] & 0x02) != 0) wr.send_flags |= IBV_SEND_SOLICITED;
  std::size_t at = kSegment;
  bool remote = false, atomic = false;
  switch (bytes[3]) {
    case kSend:
      wr.opcode = IBV_WR_SEND;
      break;
    case kSendImmediate:
      wr.opcode = IBV_WR_SEND_WITH_IMM;
      break;
    case kSendInvalidate:
      wr.opcode = IBV_WR_SEND_WITH_INV;
      wr.invalidate_rkey = load32(bytes.data() + 12);
      break;
    case kWrite:
      wr.opcode = IBV_WR_RDMA_WRITE;
      remote = true;
      break;
    case kWriteImmediate:
      wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
      remote = true;
      break;
    case kRead:
      wr.opcode = IBV_WR_RDMA_READ;
      remote = true;
      break;
    case kCompareSwap:
      wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
      atomic = true;
      break;
    case kFetchAdd:
      wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
      atomic = true;
      break;
    default:
      return false;
  }
  if (bytes.size() < at + (remote ? kSegment : 0) + (atomic ? 2 * kSegment : 0)) return false;
  if (remote) {
    wr.wr.rdma = {.remote_addr = load64(bytes.data() + at), .rkey = load32(bytes.data() + at + 8)};
    at += kSegment;
  }
  if (atomic) {
    const std::uint64_t first = load64(bytes.data() + at + kSegment), second = load64(bytes.data() + at + kSegment + 8);
    const bool swaps = bytes[3] == kCompareSwap;
    wr.wr.atomic = {.remote_addr = load64(bytes.data() + at),
                    .compare_add = swaps ? second : first,
                    .swap = swaps ? first : 0,
                    .rkey = load32(bytes.data() + at + 8)};
    at += 2 * kSegment;
  }
  wr.sg_list = request->sges.data();
  constexpr std::uint32_t kIsInline = 1u << 31;
  bool pointers = false;
  while (at < bytes.size()) {
    const std::uint32_t count = load32(bytes.data() + at);
    if ((count & kIsInline) != 0) {
      const std::size_t size = count & ~kIsInline;
      if (size > bytes.size() - at - 4 || size > kInline - request->inlined_size) return false;
      std::memcpy(request->inlined.data() + request->inlined_size, bytes.data() + at + 4, size);
      request->inlined_size += static_cast<std::uint32_t>(size);
      at += (4 + size + kSegment - 1) / kSegment * kSegment;
      wr.send_flags |= IBV_SEND_INLINE;
      continue;
    }
    if (wr.num_sge == static_cast<int>(kSges)) return false;
    // Zero stands for 2^31 bytes in an adapter's scatter list of a request, which no message of the NIC has.
    request->sges[wr.num_sge++] = {load64(bytes.data() + at + 8), count, load32(bytes.data() + at + 4)};
    pointers = true;
    at += kSegment;
  }
  if (request->inlined_size == 0) return true;
  if (pointers) return false;
  request->sges[0] = {reinterpret_cast<std::uintptr_t>(request->inlined.data()), request->inlined_size, 0};
  wr.num_sge = 1;
  return true;
}

bool DevxQp::complete() {
  std::array<ibv_wc, 32> done;
  bool worked = false;
  for (int count = 0; (count = ibv_poll_cq(cq_, done.size(), done.data())) > 0; worked = true) {
    for (int i = 0; i < count; ++i) {
      if ((done[i].wr_id & kIsReceive) != 0) {
        complete_receive(done[i]);
      } else {
        complete_send(done[i]);
      }
    }
  }
  return worked;
}

void DevxQp::complete_send(const ibv_wc& wc) {
  const auto counter = static_cast<std::uint32_t>(wc.wr_id & kCounterMask);
  const auto opcode = static_cast<std::uint8_t>(wc.wr_id >> 32);
  const std::uint32_t tail = std::uint32_t{opcode} << 24 | id;
  if (wc.status != IBV_WC_SUCCESS) {
    put_error(places_.send_cq, kRequestFailed, syndrome_of(wc.status), counter, tail);
    return;
  }
  if ((wc.wr_id & kVisible) == 0) return;
  DevxCq::Entry bytes{};
  std::copy_n(attributes_.begin() + field::kUserIndex, 3, bytes.begin() + entry::kUserIndex + 1);
  if (opcode == kRead) store32(bytes.data() + entry::kByteCount, wc.byte_len);
  store32(bytes.data() + entry::kQp, tail);
  store16(bytes.data() + entry::kCounter, counter);
  places_.send_cq.put(bytes, kRequestDone);
}

void DevxQp::complete_receive(const ibv_wc& wc) {
  const auto counter = static_cast<std::uint32_t>(wc.wr_id & kCounterMask);
  if (wc.status != IBV_WC_SUCCESS) {
    put_error(places_.receive_cq, kReceiveFailed, syndrome_of(wc.status), counter, id);
    return;
  }
  DevxCq::Entry bytes{};
  std::copy_n(attributes_.begin() + field::kUserIndex, 3, bytes.begin() + entry::kUserIndex + 1);
  store32(bytes.data() + entry::kByteCount, wc.byte_len);
  store32(bytes.data() + entry::kQp, id);
  store16(bytes.data() + entry::kCounter, counter);
  std::uint8_t opcode = kReceived;
  if ((wc.wc_flags & IBV_WC_WITH_IMM) != 0) {
    opcode = wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM ? kWriteReceived : kReceivedImmediate;
    std::memcpy(bytes.data() + entry::kImmediate, &wc.imm_data, sizeof wc.imm_data);
  } else if ((wc.wc_flags & IBV_WC_WITH_INV) != 0) {
    opcode = kReceivedInvalidate;
    store32(bytes.data() + entry::kImmediate, wc.invalidated_rkey);
  }
  places_.receive_cq.put(bytes, opcode);
}

void DevxQp::put_error(DevxCq& cq, std::uint8_t opcode, std::uint8_t syndrome, std::uint32_t counter,
                       std::uint32_t tail) {
  DevxCq::Entry bytes{};
  std::copy_n(attributes_.begin() + field::kUserIndex, 3, bytes.begin() + entry::kUserIndex + 1);
  bytes[entry::kSyndrome] = syndrome;
  store32(bytes.data() + entry::kQp, tail);
  store16(bytes.data() + entry::kCounter, counter);
  cq.put(bytes, opcode);
}

}  // namespace verbs::mlx5::model
