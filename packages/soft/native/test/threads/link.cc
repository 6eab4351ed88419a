#include "test/threads/link.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace verbs::soft::test::threads {
namespace {

constexpr std::uint32_t kDepth = 32;
constexpr std::uint32_t kQkey = 0x1234;
// The wr_id of a send; that of a receive is its index. Completions with an error have no valid opcode.
constexpr std::uint64_t kSend = std::uint64_t{1} << 32, kAddition = kSend | 1;
constexpr int kAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

std::uint8_t pattern(std::uint32_t source, std::size_t at) {
  return static_cast<std::uint8_t>(source * 31 + at * (source + 3));
}

std::uint64_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

}  // namespace

std::atomic<std::uint64_t> Link::added{0}, Link::posted{0};

ibv_context* open_device(const char* name) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  THREADS_CHECK(list != nullptr);
  ibv_context* context = nullptr;
  for (int i = 0; i < count; ++i) {
    if (std::strcmp(name, ibv_get_device_name(list[i])) == 0) context = ibv_open_device(list[i]);
  }
  ibv_free_device_list(list);
  return context;
}

Side Side::open(const char* name) {
  Side side;
  side.context = open_device(name);
  THREADS_CHECK(side.context != nullptr);
  side.pd = ibv_alloc_pd(side.context);
  side.channel = ibv_create_comp_channel(side.context);
  THREADS_CHECK(side.pd != nullptr && side.channel != nullptr);
  THREADS_CHECK(ibv_query_gid(side.context, 1, 0, &side.gid) == 0);
  return side;
}

void Side::close() {
  THREADS_CHECK(ibv_destroy_comp_channel(channel) == 0);
  THREADS_CHECK(ibv_dealloc_pd(pd) == 0);
  THREADS_CHECK(ibv_close_device(context) == 0);
}

ibv_ah_attr address_of(const Side& side) {
  ibv_ah_attr attr{};
  attr.is_global = 1;
  attr.port_num = 1;
  attr.grh.dgid = side.gid;
  attr.grh.hop_limit = 64;
  return attr;
}

void Link::make_end(End& end, const Side& side) {
  end.memory.assign(kSources * kLength + kReceives * (kLength + kGrh) + kLength, 0);
  for (std::uint32_t i = 0; i < kSources; ++i) {
    for (std::size_t j = 0; j < kLength; ++j) end.source(i)[j] = pattern(i, j);
    end.source(i)[0] = static_cast<std::uint8_t>(i);
  }
  end.unpolled = 0;
  end.word = 0;
  end.free.clear();
  for (std::uint32_t i = 0; i < kReceives; ++i) end.free.push_back(i);
  end.mr = ibv_reg_mr(side.pd, end.memory.data(), end.memory.size(), kAccess);
  end.word_mr = ibv_reg_mr(side.pd, &end.word, sizeof end.word, kAccess);
  end.cq = ibv_create_cq(side.context, 4 * kDepth, nullptr, side.channel, 0);
  THREADS_CHECK(end.mr != nullptr && end.word_mr != nullptr && end.cq != nullptr);
  ibv_srq_init_attr shared{.srq_context = nullptr, .attr = {.max_wr = kReceives, .max_sge = 1, .srq_limit = 0}};
  end.srq = type_ == IBV_QPT_UC ? nullptr : ibv_create_srq(side.pd, &shared);
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = end.cq;
  attr.srq = end.srq;
  attr.qp_type = type_;
  attr.cap = {
      .max_send_wr = kDepth, .max_recv_wr = kReceives, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 64};
  end.qp = ibv_create_qp(side.pd, &attr);
  THREADS_CHECK(end.qp != nullptr);
}

void Link::connect(End& end, const End& peer, const Side& there) {
  const bool reliable = type_ == IBV_QPT_RC, datagrams = type_ == IBV_QPT_UD;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qkey = kQkey;
  attr.qp_access_flags = reliable ? kAccess : IBV_ACCESS_REMOTE_WRITE;
  const int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  THREADS_CHECK(ibv_modify_qp(end.qp, &attr, init | (datagrams ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)) == 0);
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_256;
  attr.dest_qp_num = peer.qp->qp_num;
  attr.max_dest_rd_atomic = attr.max_rd_atomic = 4;
  attr.min_rnr_timer = 1;
  attr.ah_attr = address_of(there);
  attr.timeout = 10;
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  const int path = datagrams ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  const int responder = reliable ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0;
  THREADS_CHECK(ibv_modify_qp(end.qp, &attr, IBV_QP_STATE | path | responder) == 0);
  attr.qp_state = IBV_QPS_RTS;
  const int retries = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  THREADS_CHECK(ibv_modify_qp(end.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | (reliable ? retries : 0)) == 0);
}

void Link::make(std::array<Side, 2>& sides, ibv_qp_type type) {
  type_ = type;
  for (std::size_t i = 0; i < 2; ++i) make_end(ends_[i], sides[i]);
  for (std::size_t i = 0; i < 2; ++i) {
    connect(ends_[i], ends_[1 - i], sides[1 - i]);
    ibv_ah_attr attr = address_of(sides[1 - i]);
    ends_[i].ah = ibv_create_ah(sides[i].pd, &attr);
    THREADS_CHECK(ends_[i].ah != nullptr);
  }
}

void Link::destroy() {
  for (End& end : ends_) {
    THREADS_CHECK(ibv_destroy_qp(end.qp) == 0);
    THREADS_CHECK(end.srq == nullptr || ibv_destroy_srq(end.srq) == 0);
    THREADS_CHECK(ibv_destroy_ah(end.ah) == 0);
    // No additions are in flight any more; those that completed unseen are counted with the posted ones.
    THREADS_CHECK(ibv_destroy_cq(end.cq) == 0);
    THREADS_CHECK(ibv_dereg_mr(end.mr) == 0 && ibv_dereg_mr(end.word_mr) == 0);
  }
}

void Link::send(Player& player, End& end, End& peer) {
  static constexpr ibv_wr_opcode opcodes[] = {IBV_WR_SEND, IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
                                              IBV_WR_ATOMIC_FETCH_AND_ADD};
  const std::uint32_t kinds = type_ == IBV_QPT_UD ? 2 : type_ == IBV_QPT_UC ? 3 : 5;
  // The completion queue has room for them: overrunning it would be an error of the program.
  if (end.unpolled.fetch_add(1) >= static_cast<int>(2 * kDepth)) {
    --end.unpolled;
    return;
  }
  ibv_send_wr wr{}, *bad = nullptr;
  wr.wr_id = kSend;
  wr.opcode = opcodes[player.below(kinds)];
  ibv_sge sge{address(end.source(player.below(kSources))), 1 + player.below(kLength), end.mr->lkey};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.send_flags = IBV_SEND_SIGNALED;
  if (type_ == IBV_QPT_UD) {
    sge.length = std::min<std::uint32_t>(sge.length, 256);
    wr.wr.ud = {end.ah, peer.qp->qp_num, kQkey};
  } else if (wr.opcode == IBV_WR_RDMA_WRITE) {
    if (sge.length <= 64) wr.send_flags |= IBV_SEND_INLINE;
    wr.wr.rdma = {address(peer.scratch()), peer.mr->rkey};
  } else if (wr.opcode == IBV_WR_RDMA_READ) {
    sge.addr = address(end.scratch());
    wr.wr.rdma = {address(peer.source(0)), peer.mr->rkey};
  } else if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    sge.addr = address(end.scratch());
    sge.length = 8;
    wr.wr_id = kAddition;
    wr.wr.atomic = {address(&peer.word), 1, 0, peer.word_mr->rkey};
    ++posted;
  }
  const int error = ibv_post_send(end.qp, &wr, &bad);
  player.count("ibv_post_send", error);
  THREADS_CHECK(error == 0 || error == ENOMEM);  // the queue is full
  if (error == 0) return;
  --end.unpolled;
  if (wr.wr_id == kAddition) --posted;
}

void Link::post_receive(Player& player, End& end) {
  std::uint32_t index = 0;
  {
    const std::lock_guard guard(end.mutex);
    if (end.free.empty()) return;
    index = end.free.back();
    end.free.pop_back();
  }
  ibv_sge sge{address(end.receive(index)), kLength + kGrh, end.mr->lkey};
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.wr_id = index;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  const int error = end.srq ? ibv_post_srq_recv(end.srq, &wr, &bad) : ibv_post_recv(end.qp, &wr, &bad);
  player.count(end.srq ? "ibv_post_srq_recv" : "ibv_post_recv", error);
  THREADS_CHECK(error == 0);
}

void Link::check_received(End& end, const ibv_wc& wc) const {
  const std::size_t headers = type_ == IBV_QPT_UD ? kGrh : 0;
  const std::uint8_t* bytes = end.receive(static_cast<std::uint32_t>(wc.wr_id)) + headers;
  const std::size_t length = wc.byte_len - headers;
  THREADS_CHECK(length >= 1 && length <= kLength);
  const std::uint32_t source = bytes[0];
  THREADS_CHECK(source < kSources);
  for (std::size_t i = 1; i < length; ++i) THREADS_CHECK(bytes[i] == pattern(source, i));
}

void Link::poll(Player& player, End& end) {
  ibv_wc wcs[8];
  const int found = ibv_poll_cq(end.cq, 1 + static_cast<int>(player.below(8)), wcs);
  THREADS_CHECK(found >= 0);
  player.count("ibv_poll_cq", found == 0 ? 1 : 0);
  for (int i = 0; i < found; ++i) {
    const ibv_wc& wc = wcs[i];
    THREADS_CHECK(wc.qp_num == end.qp->qp_num);
    const bool success = wc.status == IBV_WC_SUCCESS;
    if (wc.wr_id >= kSend) {
      --end.unpolled;
      if (success && wc.wr_id == kAddition) ++added;
      continue;
    }
    if (success) check_received(end, wc);
    const std::lock_guard guard(end.mutex);
    end.free.push_back(static_cast<std::uint32_t>(wc.wr_id));
  }
}

void Link::act(Player& player) {
  const std::uint32_t which = player.below(2);
  End& end = ends_[which];
  switch (player.below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return send(player, end, ends_[1 - which]);
    case 4:
    case 5:
    case 6:
      return post_receive(player, end);
    case 7: {
      ibv_qp_attr attr{};
      ibv_qp_init_attr init{};
      THREADS_CHECK(player.count("ibv_query_qp", ibv_query_qp(end.qp, &attr, IBV_QP_STATE, &init)));
      return;
    }
    case 8:
      THREADS_CHECK(player.count("ibv_req_notify_cq", ibv_req_notify_cq(end.cq, 0)));
      return;
    case 9: {
      const int entries = static_cast<int>(4 * kDepth + player.below(200));
      THREADS_CHECK(player.count("ibv_resize_cq", ibv_resize_cq(end.cq, entries)));
      return;
    }
    case 10: {
      if (!player.one_in(50)) return poll(player, end);
      ibv_qp_attr attr{};
      attr.qp_state = IBV_QPS_ERR;
      THREADS_CHECK(player.count("ibv_modify_qp", ibv_modify_qp(end.qp, &attr, IBV_QP_STATE)));
      return;
    }
    default:
      return poll(player, end);
  }
}

}  // namespace verbs::soft::test::threads
