// Many queue pairs flood a port of the same process. The in-process link promises no loss: with timeout 0 nothing is
// ever repeated, so one lost packet would stop its connection for good.
#include <array>
#include <thread>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

constexpr int kThreads = 16;
constexpr int kQps = 8;  // of a thread: half of them on each side
constexpr int kMessages = 48;
constexpr std::uint32_t kSize = 4096;  // 16 packets
constexpr std::size_t kReceives = 1024;

// What the threads share on one device.
struct Side {
  explicit Side(const std::string& device) : context(open_device(device)), memory(kSize) {
    pd = ibv_alloc_pd(context.get());
    mr = ibv_reg_mr(pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
    ibv_srq_init_attr attr{};
    attr.attr = {.max_wr = kReceives, .max_sge = 1, .srq_limit = 0};
    srq = ibv_create_srq(pd, &attr);
    REQUIRE(srq != nullptr);
    REQUIRE(ibv_query_gid(context.get(), 1, 0, &gid) == 0);
    for (std::size_t i = 0; i < kReceives; ++i) REQUIRE(post() == 0);
  }
  int post() {
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory.data()), kSize, mr->lkey};
    ibv_recv_wr wr{.wr_id = 0, .next = nullptr, .sg_list = &sge, .num_sge = 1}, *bad = nullptr;
    return ibv_post_srq_recv(srq, &wr, &bad);
  }
  Context context;
  std::vector<std::uint8_t> memory;
  ibv_gid gid{};
  ibv_pd* pd = nullptr;
  ibv_mr* mr = nullptr;
  ibv_srq* srq = nullptr;
};

struct Sender {
  Side* side;
  ibv_cq* cq;
  ibv_qp* qp;
  int posted = 0, sent = 0, received = 0;

  int connect(const Sender& peer) const {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) return 1;
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_256;
    attr.dest_qp_num = peer.qp->qp_num;
    attr.min_rnr_timer = 1;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.dgid = peer.side->gid;
    attr.ah_attr.grh.hop_limit = 64;
    if (ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)) {
      return 2;
    }
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 0;  // never repeats
    attr.retry_cnt = 7;
    attr.rnr_retry = 7;
    return ibv_modify_qp(
        qp, &attr,
        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  }

  int send() {
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(side->memory.data()), kSize, side->mr->lkey};
    ibv_send_wr wr{}, *bad = nullptr;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_SEND_WITH_IMM;
    wr.imm_data = static_cast<std::uint32_t>(posted++);
    wr.send_flags = IBV_SEND_SIGNALED;
    return ibv_post_send(qp, &wr, &bad);
  }
};

class Worker {
 public:
  Worker(Side& one, Side& two) {
    const std::array<Side*, 2> sides{&one, &two};
    for (std::size_t i = 0; i < 2; ++i) {
      cqs_[i] = ibv_create_cq(sides[i]->context.get(), 2048, nullptr, nullptr, 0);
      REQUIRE(cqs_[i] != nullptr);
    }
    for (std::size_t i = 0; i < kQps; ++i) {
      Side& side = *sides[i % 2];
      ibv_qp_init_attr init{};
      init.send_cq = init.recv_cq = cqs_[i % 2];
      init.srq = side.srq;
      init.qp_type = IBV_QPT_RC;
      init.cap = {.max_send_wr = 64, .max_recv_wr = 0, .max_send_sge = 1, .max_recv_sge = 0, .max_inline_data = 0};
      senders_[i] = {&side, cqs_[i % 2], ibv_create_qp(side.pd, &init)};
      REQUIRE(senders_[i].qp != nullptr);
    }
    for (std::size_t i = 0; i < kQps; ++i) REQUIRE(senders_[i].connect(senders_[i ^ 1]) == 0);
  }
  ~Worker() {
    for (const Sender& sender : senders_) ibv_destroy_qp(sender.qp);
    for (ibv_cq* cq : cqs_) ibv_destroy_cq(cq);
  }

  // Sends all messages and takes all; says what went wrong, "" for nothing.
  void run(std::chrono::steady_clock::time_point give_up) {
    for (Sender& sender : senders_) {
      while (sender.posted < kMessages) {
        if (sender.send() != 0) return fail("a post failed");
      }
    }
    std::size_t left = kQps * kMessages * 2;
    while (left > 0) {
      if (std::chrono::steady_clock::now() > give_up) return fail("stalled");
      for (ibv_cq* cq : cqs_) {
        std::array<ibv_wc, 32> wcs;
        const int count = ibv_poll_cq(cq, wcs.size(), wcs.data());
        for (int i = 0; i < count; ++i, --left) {
          if (!take(cq, wcs.at(static_cast<std::size_t>(i)))) return;
        }
      }
    }
  }

  const char* problem = "";

 private:
  void fail(const char* text) { problem = text; }
  bool take(const ibv_cq* cq, const ibv_wc& wc) {
    for (Sender& sender : senders_) {
      if (sender.cq != cq || sender.qp->qp_num != wc.qp_num) continue;  // two devices number for themselves
      if (wc.status != IBV_WC_SUCCESS) return fail("a completion failed"), false;
      if (wc.opcode == IBV_WC_SEND) return ++sender.sent, true;
      if (wc.imm_data != static_cast<std::uint32_t>(sender.received++)) return fail("another order"), false;
      return sender.side->post() == 0;
    }
    return fail("a completion of nobody"), false;
  }

  std::array<ibv_cq*, 2> cqs_{};
  std::array<Sender, kQps> senders_{};
};

void flood(Side& one, Side& two) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < kThreads; ++i) workers.push_back(std::make_unique<Worker>(one, two));
  std::vector<std::thread> threads;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (auto& worker : workers) threads.emplace_back([&worker, give_up] { worker->run(give_up); });
  for (std::thread& thread : threads) thread.join();
  for (auto& worker : workers) CHECK(std::string(worker->problem) == "");
}

}  // namespace

TEST_CASE("128 queue pairs that never repeat a packet flood each other without loss") {
  configure("flood0,link=process;flood1,link=process");
  SUBCASE("between two devices") {
    Side one("flood0"), two("flood1");
    flood(one, two);
    CHECK(counter("flood0", "link_process_overflow") == 0);
    CHECK(counter("flood0", "completer_retry_err") == 0);
  }
  SUBCASE("on one device") {
    Side one("flood0");
    flood(one, one);
    CHECK(counter("flood0", "link_process_overflow") == 0);
    CHECK(counter("flood0", "completer_retry_err") == 0);
  }
}
