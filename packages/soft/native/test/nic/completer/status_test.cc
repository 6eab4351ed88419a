// Every value of ibv_wc_status: how an application can get it here, or why it cannot.
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "test/nic/virtual_network.h"
#include "wire/icrc.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr unsigned kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                          IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;

struct Scene {
  VirtualNetwork net;
  nic::Qp* qa = nullptr;
  nic::Qp* qb = nullptr;
  std::vector<std::uint8_t> near = pattern(4096);
  std::vector<std::uint8_t> far = pattern(4096, 2);
  nic::Mr* local = net.a.reg(near.data(), near.size(), kAll);
  nic::Mr* remote = net.b.reg(far.data(), far.size(), kAll);

  Scene() { connect({}); }

  void connect(Connection connection, ibv_qp_type type = IBV_QPT_RC, nic::Srq* srq = nullptr) {
    connection.access |= IBV_ACCESS_REMOTE_ATOMIC;
    qa = net.a.create_qp(type);
    qb = net.b.create_qp(type, 64, srq);
    net.connect(qa, qb, connection);
  }
  // A shared receive queue of type TM at b, and the queue pair there that has it.
  nic::Srq* create_tag_queue() {
    ibv_srq_attr attr{.max_wr = 4, .max_sge = 1, .srq_limit = 0};
    const ibv_tm_cap tags{.max_num_tags = 4, .max_ops = 4};
    nic::Srq* srq = nullptr;
    REQUIRE(net.b.nic->srqs().create(net.b.pd, &attr, &net.b, &srq, {.cq = net.b.cq, .tags = &tags}) == 0);
    return srq;
  }
  void connect_to(nic::Srq* srq) {
    ibv_qp_init_attr init = {};
    init.qp_type = IBV_QPT_RC;
    qa = net.a.create_qp(IBV_QPT_RC);
    REQUIRE(net.b.nic->qps().create({.pd = net.b.pd, .send_cq = net.b.cq, .recv_cq = net.b.cq, .srq = srq}, &init,
                                    &net.b, &qb) == 0);
    net.connect(qa, qb);
  }
  Send request(ibv_wr_opcode opcode = IBV_WR_SEND, std::uint32_t size = 64) {
    return {.opcode = opcode,
            .sges = {sge_of(near.data(), size, local)},
            .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
            .rkey = remote->rkey()};
  }
  void recv(std::uint32_t size = 4096) { REQUIRE(post_recv(net.b, qb, 1, {sge_of(far.data(), size, remote)}) == 0); }
  void send(const Send& what) { REQUIRE(post_send(net.a, qa, what) == 0); }

  std::set<ibv_wc_status> run() {
    net.run();
    std::set<ibv_wc_status> seen;
    for (Station* station : {&net.a, &net.b}) {
      for (const ibv_wc& wc : station->poll()) seen.insert(wc.status);
    }
    return seen;
  }
};

struct Way {
  ibv_wc_status status;
  std::function<void(Scene&)> take;
};

const std::vector<Way>& ways() {
  static const std::vector<Way> list = {
      {IBV_WC_SUCCESS, [](Scene& scene) { scene.send(scene.request(IBV_WR_RDMA_WRITE)); }},
      {IBV_WC_LOC_LEN_ERR,  // the receiver's: the message is longer than its buffer
       [](Scene& scene) {
         scene.recv(63);
         scene.send(scene.request());
       }},
      {IBV_WC_LOC_QP_OP_ERR,  // a READ on a queue pair that has none
       [](Scene& scene) {
         scene.connect({}, IBV_QPT_UC);
         scene.send(scene.request(IBV_WR_RDMA_READ));
       }},
      {IBV_WC_LOC_PROT_ERR,
       [](Scene& scene) {
         Send send = scene.request(IBV_WR_RDMA_WRITE);
         send.sges[0].lkey ^= 1;
         scene.send(send);
       }},
      {IBV_WC_WR_FLUSH_ERR,
       [](Scene& scene) {
         scene.recv();
         ibv_qp_attr attr = {};
         attr.qp_state = IBV_QPS_ERR;
         REQUIRE(scene.net.b.nic->qps().modify(scene.qb, &attr, IBV_QP_STATE) == 0);
       }},
      {IBV_WC_MW_BIND_ERR,  // to a region that does not allow it
       [](Scene& scene) {
         nic::Mw* mw = nullptr;
         REQUIRE(scene.net.a.nic->mws().alloc(scene.net.a.pd, IBV_MW_TYPE_2, &mw) == 0);
         nic::Mr* plain = scene.net.a.reg(scene.near.data(), 64, IBV_ACCESS_LOCAL_WRITE);
         ibv_mw face = {};
         face.rkey = mw->rkey();
         face.type = IBV_MW_TYPE_2;
         ibv_mr region = {};
         region.lkey = plain->lkey();
         ibv_send_wr wr = {};
         ibv_send_wr* bad = nullptr;
         wr.opcode = IBV_WR_BIND_MW;
         wr.bind_mw.mw = &face;
         wr.bind_mw.rkey = face.rkey ^ 1;
         wr.bind_mw.bind_info = {&region, reinterpret_cast<std::uint64_t>(scene.near.data()), 64,
                                 IBV_ACCESS_REMOTE_READ};
         REQUIRE(scene.net.a.nic->data_path().post_send(scene.qa, &wr, &bad) == 0);
       }},
      {IBV_WC_BAD_RESP_ERR,  // a response of another kind than the request's
       [](Scene& scene) {
         scene.send(scene.request(IBV_WR_ATOMIC_FETCH_AND_ADD));
         scene.net.a.nic->scheduler().pump(0);
         std::uint8_t frame[wire::kMaxFrame] = {};
         wire::Path path;
         path.sgid = scene.net.b.gid;
         path.dgid = scene.net.a.gid;
         constexpr std::size_t kTransport = wire::Bth::kSize + wire::Aeth::kSize + wire::kIcrcSize;
         const std::size_t network = wire::write_network(frame, path, kTransport);
         wire::Bth bth;
         bth.opcode = wire::make_opcode(wire::Transport::kRc, wire::kReadResponseOnly);
         bth.dest_qpn = scene.qa->number;
         bth.psn = Connection{}.psn_a;
         bth.emit(frame + network);
         wire::Aeth{wire::kAckUnlimitedCredits, 1}.emit(frame + network + wire::Bth::kSize);
         wire::seal_icrc({frame, network + kTransport});
         scene.net.a.nic->ingress().deliver(1, {frame, network + kTransport}, 0);
       }},
      {IBV_WC_LOC_ACCESS_ERR,  // the receiver's: its memory is gone from under a WRITE with immediate
       [](Scene& scene) {
         void* gone = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         nic::Mr* mr = scene.net.b.reg(gone, 4096);
         munmap(gone, 4096);
         scene.recv();
         Send send = scene.request(IBV_WR_RDMA_WRITE_WITH_IMM);
         send.remote_addr = reinterpret_cast<std::uint64_t>(gone);
         send.rkey = mr->rkey();
         scene.send(send);
       }},
      {IBV_WC_LOC_ACCESS_ERR,  // the receiver's again: the key of a WRITE with immediate is wrong
       [](Scene& scene) {
         scene.recv();
         Send send = scene.request(IBV_WR_RDMA_WRITE_WITH_IMM);
         send.rkey ^= 1;
         scene.send(send);
       }},
      {IBV_WC_REM_INV_REQ_ERR,
       [](Scene& scene) {
         Send send = scene.request(IBV_WR_ATOMIC_FETCH_AND_ADD);
         send.remote_addr += 1;
         scene.send(send);
       }},
      {IBV_WC_REM_ACCESS_ERR,
       [](Scene& scene) {
         Send send = scene.request(IBV_WR_RDMA_READ);
         send.rkey ^= 1;
         scene.send(send);
       }},
      {IBV_WC_REM_OP_ERR,  // the receiver's buffer is not its own
       [](Scene& scene) {
         REQUIRE(post_recv(scene.net.b, scene.qb, 1, {{0, 64, 0xbad}}) == 0);
         scene.send(scene.request());
       }},
      {IBV_WC_RETRY_EXC_ERR,
       [](Scene& scene) {
         scene.net.b.cable.unplugged = true;
         scene.send(scene.request(IBV_WR_RDMA_WRITE));
       }},
      {IBV_WC_RNR_RETRY_EXC_ERR,
       [](Scene& scene) {
         Connection connection;
         connection.rnr_retry = 2;
         scene.connect(connection);
         scene.send(scene.request());
       }},
      {IBV_WC_REM_ABORT_ERR,  // an unreliable message that broke off has used up a request of a shared queue
       [](Scene& scene) {
         ibv_srq_attr attr = {};
         attr.max_wr = 4;
         attr.max_sge = 1;
         nic::Srq* srq = nullptr;
         REQUIRE(scene.net.b.nic->srqs().create(scene.net.b.pd, &attr, &scene.net.b, &srq) == 0);
         ibv_sge sge = sge_of(scene.far.data(), 4096, scene.remote);
         ibv_recv_wr wr = {};
         ibv_recv_wr* bad = nullptr;
         wr.sg_list = &sge;
         wr.num_sge = 1;
         REQUIRE(scene.net.b.nic->data_path().post_srq_recv(srq, &wr, &bad) == 0);
         scene.connect({}, IBV_QPT_UC, srq);
         link::FaultPlan plan;
         plan.nth = 2;
         plan.drop = 1;
         scene.net.a.faults.set_plan(plan);
         scene.send(scene.request(IBV_WR_SEND, 4096));
       }},
      {IBV_WC_TM_ERR,  // a tagged buffer is removed that is gone
       [](Scene& scene) {
         nic::Srq* srq = scene.create_tag_queue();
         ibv_ops_wr wr = {};
         ibv_ops_wr* bad = nullptr;
         wr.opcode = IBV_WR_TAG_DEL;
         REQUIRE(scene.net.b.nic->data_path().post_srq_ops(srq, &wr, &bad) == 0);
       }},
      {IBV_WC_TM_RNDV_INCOMPLETE,  // a tagged buffer is too short for the data of a rendezvous
       [](Scene& scene) {
         nic::Srq* srq = scene.create_tag_queue();
         ibv_ops_wr wr = {};  // any tag, no bytes
         ibv_ops_wr* bad = nullptr;
         wr.opcode = IBV_WR_TAG_ADD;
         REQUIRE(scene.net.b.nic->data_path().post_srq_ops(srq, &wr, &bad) == 0);
         scene.connect_to(srq);
         std::fill_n(scene.near.begin(), 32, std::uint8_t{1});  // IBV_TMH_RNDV, and a length
         scene.send(scene.request(IBV_WR_SEND, 32));
       }},
  };
  return list;
}

const std::map<ibv_wc_status, const char*> kUnreachable = {
    {IBV_WC_LOC_EEC_OP_ERR, "end-to-end contexts belong to the RD transport, which no RoCE device has"},
    {IBV_WC_LOC_RDD_VIOL_ERR, "reliable datagram domains: RD"},
    {IBV_WC_REM_INV_RD_REQ_ERR, "RD"},
    {IBV_WC_INV_EECN_ERR, "RD"},
    {IBV_WC_INV_EEC_STATE_ERR, "RD"},
    {IBV_WC_FATAL_ERR, "a fault of the transport hardware; an answer of the wrong kind is BAD_RESP_ERR"},
    {IBV_WC_RESP_TIMEOUT_ERR, "RD, and management datagrams with a timeout of the kernel's"},
    {IBV_WC_GENERAL_ERR, "for what a driver cannot name"},
};

}  // namespace

TEST_CASE("every completion status can be had, or there is a reason why not") {
  for (const Way& way : ways()) {
    CAPTURE(way.status);
    Scene scene;
    way.take(scene);
    CHECK(scene.run().count(way.status) == 1);
  }
  for (int value = IBV_WC_SUCCESS; value <= IBV_WC_TM_RNDV_INCOMPLETE; ++value) {
    const auto status = static_cast<ibv_wc_status>(value);
    const bool reached =
        std::any_of(ways().begin(), ways().end(), [status](const Way& way) { return way.status == status; });
    CHECK(reached != (kUnreachable.count(status) == 1));
  }
}

TEST_CASE("a failed QP flushes its queues in the order of posting, the failed request first") {
  Scene scene;
  for (std::uint64_t i = 0; i < 5; ++i) REQUIRE(post_recv(scene.net.a, scene.qa, 100 + i, {}) == 0);
  for (std::uint64_t i = 0; i < 6; ++i) {
    Send send = scene.request(IBV_WR_RDMA_WRITE);
    send.wr_id = i;
    send.flags = i == 1 ? IBV_SEND_SIGNALED : 0;
    if (i == 2) send.rkey ^= 1;
    scene.send(send);
  }
  scene.net.run();
  const auto done = scene.net.a.poll();
  REQUIRE(done.size() == 10);
  const std::uint64_t order[] = {1, 2, 3, 4, 5, 100, 101, 102, 103, 104};
  for (std::size_t i = 0; i < done.size(); ++i) {
    CHECK(done[i].wr_id == order[i]);
    CHECK(done[i].status == (i == 0 ? IBV_WC_SUCCESS : i == 1 ? IBV_WC_REM_ACCESS_ERR : IBV_WC_WR_FLUSH_ERR));
  }
}

TEST_CASE("rnr_retry 7 never ends") {
  Scene scene;
  scene.send(scene.request());
  scene.net.run(20 * kMillisecond);  // some hundred RNR NAKs
  CHECK(scene.net.a.poll().empty());
  CHECK(scene.net.a.nic->counters().rcvd_rnr_err > 100);
  CHECK(scene.net.b.nic->counters().send_rnr_err >= scene.net.a.nic->counters().rcvd_rnr_err);
  scene.recv();
  CHECK(scene.run() == std::set<ibv_wc_status>{IBV_WC_SUCCESS});
}

TEST_CASE("rnr_retry 7 never ends, neither with many messages behind the first nor on a path that loses some") {
  for (const double loss : {0.0, 0.05}) {
    CAPTURE(loss);
    Scene scene;
    link::FaultPlan plan;
    plan.seed = 7;
    plan.drop = loss;
    scene.net.a.faults.set_plan(plan);
    scene.net.b.faults.set_plan(plan);
    constexpr int kMessages = 40;
    for (int i = 0; i < kMessages; ++i) scene.send(scene.request());
    scene.net.run(500 * kMillisecond);
    CHECK(scene.net.a.poll().empty());
    // One packet asks, now and then.
    CHECK(scene.net.a.nic->counters().sent_pkts < 4000);
    CHECK(scene.qa->state == IBV_QPS_RTS);
    for (int i = 0; i < kMessages; ++i) scene.recv();
    CHECK(scene.run() == std::set<ibv_wc_status>{IBV_WC_SUCCESS});
  }
}

TEST_CASE("a full CQ on the send side loses entries and reports it once; the QP continues") {
  VirtualNetwork net(false, 2);
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  std::vector<std::uint8_t> memory(64);
  nic::Mr* mr = net.b.reg(memory.data(), memory.size());
  for (int i = 0; i < 5; ++i) {
    REQUIRE(post_send(net.a, qa,
                      {.opcode = IBV_WR_RDMA_WRITE,
                       .remote_addr = reinterpret_cast<std::uint64_t>(memory.data()),
                       .rkey = mr->rkey()}) == 0);
  }
  net.run();
  CHECK(std::count_if(net.a.events.begin(), net.a.events.end(),
                      [](const auto& event) { return event.type == IBV_EVENT_CQ_ERR; }) == 1);
  CHECK_FALSE(net.a.saw(IBV_EVENT_QP_FATAL));
  CHECK(net.a.poll().size() == 2);
  CHECK(qa->state == IBV_QPS_RTS);
}

TEST_CASE("inline data up to the limit of the QP, in pieces, for every operation that supports it") {
  Scene scene;
  const std::vector<std::uint8_t> text = pattern(128, 7);
  ibv_sge whole = {reinterpret_cast<std::uint64_t>(text.data()), 128, 0};
  for (const ibv_wr_opcode opcode :
       {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM}) {
    CAPTURE(opcode);
    std::fill(scene.far.begin(), scene.far.end(), 0);
    scene.recv();
    Send send = scene.request(opcode);
    send.flags |= IBV_SEND_INLINE;
    send.sges = {{whole.addr, 100, 0}, {whole.addr + 100, 0, 0}, {whole.addr + 100, 28, 0}};
    scene.send(send);
    CHECK(scene.run() == std::set<ibv_wc_status>{IBV_WC_SUCCESS});
    CHECK(std::equal(text.begin(), text.end(), scene.far.begin()));
    send.sges = {whole, {whole.addr, 1, 0}};
    CHECK(post_send(scene.net.a, scene.qa, send) == EINVAL);  // 129 bytes
  }
  Send gone = scene.request(IBV_WR_RDMA_WRITE);
  gone.flags |= IBV_SEND_INLINE;
  gone.sges = {{8, 16, 0}};
  CHECK(post_send(scene.net.a, scene.qa, gone) == EFAULT);
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_LOCAL_INV, IBV_WR_BIND_MW}) {
    Send send = scene.request(opcode);
    send.flags |= IBV_SEND_INLINE;
    CHECK(post_send(scene.net.a, scene.qa, send) == EINVAL);
  }
}
