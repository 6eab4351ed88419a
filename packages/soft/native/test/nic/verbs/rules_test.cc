// Where adapters and the kernel's soft-RoCE differ: each line of docs/devices.md that the profile decides, on both.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include "nic/base/mapping_watch.h"
#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr unsigned kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                          IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
constexpr std::uint32_t kQkey = 0x2222;

nic::Rules strict() {
  nic::Rules rules;
  rules.strict = true;
  return rules;
}

// Two queue pairs and memory of both ends.
struct Ends {
  explicit Ends(const nic::Rules& rules, ibv_qp_type type = IBV_QPT_RC)
      : net(false, 4096, rules), qa(net.a.create_qp(type)), qb(net.b.create_qp(type)) {
    if (type == IBV_QPT_UD) {
      VirtualNetwork::to_rts_ud(net.a, qa, kQkey);
      VirtualNetwork::to_rts_ud(net.b, qb, kQkey);
    } else {
      Connection connection;
      connection.access |= IBV_ACCESS_REMOTE_ATOMIC;
      net.connect(qa, qb, connection);
    }
  }

  Send request(ibv_wr_opcode opcode, std::uint32_t size = 8) {
    return {.opcode = opcode,
            .sges = {sge_of(near.data(), size, local)},
            .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
            .rkey = remote->rkey(),
            .compare_add = 1};
  }
  nic::Ah* handle(nic::Pd* pd) {
    ibv_ah_attr attr = {};
    attr.is_global = 1;
    attr.port_num = 1;
    std::memcpy(attr.grh.dgid.raw, net.b.gid.bytes.data(), 16);
    nic::Ah* ah = nullptr;
    REQUIRE(net.a.nic->ahs().create(pd, &attr, &ah) == 0);
    return ah;
  }
  int datagram(nic::Ah* ah, std::uint32_t size, ibv_wr_opcode opcode = IBV_WR_SEND) {
    ibv_sge sge = sge_of(near.data(), size, local);
    ibv_send_wr wr = {};
    ibv_send_wr* bad = nullptr;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.wr.ud.ah = &ah->ibv;
    wr.wr.ud.remote_qpn = qb->number;
    wr.wr.ud.remote_qkey = kQkey;
    return net.a.nic->data_path().post_send(qa, &wr, &bad);
  }
  // The statuses at that end, in order.
  std::vector<ibv_wc_status> run(Station& station) {
    net.run();
    std::vector<ibv_wc_status> all;
    for (const ibv_wc& wc : station.poll()) all.push_back(wc.status);
    return all;
  }

  VirtualNetwork net;
  nic::Qp* qa;
  nic::Qp* qb;
  alignas(8) std::vector<std::uint8_t> near = std::vector<std::uint8_t>(4096);
  alignas(8) std::vector<std::uint8_t> far = std::vector<std::uint8_t>(4096);
  nic::Mr* local = net.a.reg(near.data(), near.size(), kAll);
  nic::Mr* remote = net.b.reg(far.data(), far.size(), kAll);
};

using Statuses = std::vector<ibv_wc_status>;

constexpr nic::Rules kProfiles[] = {nic::Rules::mlx5(), nic::Rules::rxe()};
bool is_rxe(const nic::Rules& rules) { return !rules.slots_until_polled; }

}  // namespace

TEST_CASE("a datagram longer than its receive request: LOC_LEN_ERR and the error state, or dropped") {
  for (const nic::Rules& rules : kProfiles) {
    CAPTURE(is_rxe(rules));
    Ends ends(rules, IBV_QPT_UD);
    REQUIRE(post_recv(ends.net.b, ends.qb, 1, {sge_of(ends.far.data(), 99, ends.remote)}) == 0);
    REQUIRE(post_recv(ends.net.b, ends.qb, 2, {sge_of(ends.far.data(), 100, ends.remote)}) == 0);
    REQUIRE(ends.datagram(ends.handle(ends.net.a.pd), 60) == 0);
    const Statuses statuses = ends.run(ends.net.b);
    CHECK(ends.run(ends.net.a) == Statuses{IBV_WC_SUCCESS});  // the sender of a datagram never learns it
    if (is_rxe(rules)) {
      CHECK(statuses.empty());
      CHECK(ends.qb->state == IBV_QPS_RTS);
      CHECK(ends.net.b.nic->counters().dropped_pkts == 1);
    } else {
      CHECK(statuses == Statuses{IBV_WC_LOC_LEN_ERR, IBV_WC_WR_FLUSH_ERR});
      CHECK(ends.qb->state == IBV_QPS_ERR);
    }
    CHECK(ends.far == std::vector<std::uint8_t>(4096));
  }
}

TEST_CASE("a wrong L_Key of a READ or an atomic is seen when the answer comes; with strict=1 before") {
  for (const nic::Rules& rules : {nic::Rules::mlx5(), nic::Rules::rxe(), strict()}) {
    for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
      CAPTURE(is_rxe(rules));
      CAPTURE(opcode);
      Ends ends(rules);
      Send send = ends.request(opcode);
      send.sges[0].lkey ^= 0x100;
      REQUIRE(post_send(ends.net.a, ends.qa, send) == 0);
      CHECK(ends.run(ends.net.a) == Statuses{IBV_WC_LOC_PROT_ERR});
      CHECK(ends.qa->state == IBV_QPS_ERR);
      CHECK(ends.near == std::vector<std::uint8_t>(4096));
      if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) CHECK(ends.far[0] == (rules.strict ? 0 : 1));
      CHECK(ends.net.trace.empty() == rules.strict);
    }
  }
}

TEST_CASE("an opcode that the type of queue ends lacks completes with LOC_QP_OP_ERR") {
  for (const nic::Rules& rules : kProfiles) {
    for (const ibv_wr_opcode opcode :
         {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_SEND_WITH_INV, IBV_WR_LOCAL_INV}) {
      CAPTURE(opcode);
      Ends ends(rules, IBV_QPT_UD);
      nic::Ah* ah = ends.handle(ends.net.a.pd);
      REQUIRE(ends.datagram(ah, 8) == 0);
      REQUIRE(ends.datagram(ah, 8, opcode) == 0);
      REQUIRE(ends.datagram(ah, 8) == 0);
      CHECK(ends.run(ends.net.a) == Statuses{IBV_WC_SUCCESS, IBV_WC_LOC_QP_OP_ERR, IBV_WC_WR_FLUSH_ERR});
      CHECK(ends.qa->state == IBV_QPS_SQE);
    }
    Ends ends(rules, IBV_QPT_UC);
    REQUIRE(post_send(ends.net.a, ends.qa, ends.request(IBV_WR_RDMA_READ)) == 0);
    CHECK(ends.run(ends.net.a) == Statuses{IBV_WC_LOC_QP_OP_ERR});
    CHECK(post_send(ends.net.a, ends.qa, ends.request(static_cast<ibv_wr_opcode>(13))) == EINVAL);  // of no type
  }
}

TEST_CASE("such a request waits for its turn, and while the queue drains") {
  ibv_qp_attr attr = {};
  attr.qp_state = IBV_QPS_SQD;
  Ends uc({}, IBV_QPT_UC);
  REQUIRE(uc.net.a.nic->qps().modify(uc.qa, &attr, IBV_QP_STATE) == 0);
  REQUIRE(post_send(uc.net.a, uc.qa, uc.request(IBV_WR_RDMA_READ)) == 0);
  CHECK(uc.run(uc.net.a).empty());
  attr.qp_state = IBV_QPS_RTS;
  REQUIRE(uc.net.a.nic->qps().modify(uc.qa, &attr, IBV_QP_STATE) == 0);
  CHECK(uc.run(uc.net.a) == Statuses{IBV_WC_LOC_QP_OP_ERR});
}

TEST_CASE("an atomic: the address before the key, or the post before both") {
  for (const nic::Rules& rules : kProfiles) {
    CAPTURE(is_rxe(rules));
    Ends ends(rules);
    Send send = ends.request(IBV_WR_ATOMIC_FETCH_AND_ADD);
    send.remote_addr += 4;
    send.rkey ^= 0x100;
    if (is_rxe(rules)) {
      CHECK(post_send(ends.net.a, ends.qa, send) == EINVAL);
      continue;
    }
    REQUIRE(post_send(ends.net.a, ends.qa, send) == 0);
    CHECK(ends.run(ends.net.a) == Statuses{IBV_WC_REM_INV_REQ_ERR});
  }
  // A responder with rxe's rules looks at the key first.
  nic::Rules later = nic::Rules::rxe();
  later.posts_need_alignment = false;
  Ends from(later);
  Send send = from.request(IBV_WR_ATOMIC_FETCH_AND_ADD);
  send.remote_addr += 4;
  send.rkey ^= 0x100;
  REQUIRE(post_send(from.net.a, from.qa, send) == 0);
  CHECK(from.run(from.net.a) == Statuses{IBV_WC_REM_ACCESS_ERR});
}

TEST_CASE("an address handle of another domain: taken, or LOC_QP_OP_ERR; of another device never") {
  for (const nic::Rules& rules : kProfiles) {
    CAPTURE(is_rxe(rules));
    Ends ends(rules, IBV_QPT_UD);
    nic::Pd* other = nullptr;
    REQUIRE(ends.net.a.nic->pds().alloc(&other) == 0);
    REQUIRE(post_recv(ends.net.b, ends.qb, 1, {sge_of(ends.far.data(), 100, ends.remote)}) == 0);
    REQUIRE(ends.datagram(ends.handle(other), 8) == 0);
    CHECK(ends.run(ends.net.a) == Statuses{is_rxe(rules) ? IBV_WC_LOC_QP_OP_ERR : IBV_WC_SUCCESS});
    CHECK(ends.run(ends.net.b).size() == (is_rxe(rules) ? 0 : 1));

    Ends elsewhere(rules, IBV_QPT_UD);
    nic::Ah* foreign = elsewhere.handle(elsewhere.net.a.pd);
    CHECK(ends.datagram(foreign, 8) == EINVAL);
    nic::Ah* gone = ends.handle(ends.net.a.pd);
    REQUIRE(ends.net.a.nic->ahs().destroy(gone) == 0);
    CHECK(ends.datagram(gone, 8) == EINVAL);
  }
}

TEST_CASE("the window of another queue ends, and a region with a bound window") {
  for (const nic::Rules& rules : kProfiles) {
    CAPTURE(is_rxe(rules));
    Ends ends(rules);
    nic::Qp* second = ends.net.b.create_qp(IBV_QPT_RC);
    nic::Qp* first = ends.net.a.create_qp(IBV_QPT_RC);
    ends.net.connect(first, second);
    nic::Mw* mw = nullptr;
    REQUIRE(ends.net.b.nic->mws().alloc(ends.net.b.pd, IBV_MW_TYPE_2, &mw) == 0);
    const nic::MwBind bind{.rkey = mw->rkey(),
                           .key_byte = 7,
                           .lkey = ends.remote->lkey(),
                           .address = reinterpret_cast<std::uint64_t>(ends.far.data()),
                           .length = 64,
                           .access = IBV_ACCESS_REMOTE_READ};
    REQUIRE(ends.net.b.nic->mws().bind(*ends.qb, bind));
    CHECK(ends.net.b.nic->mrs().dereg(ends.remote) == (is_rxe(rules) ? EINVAL : EBUSY));

    ibv_send_wr wr = {};
    ibv_send_wr* bad = nullptr;
    wr.opcode = IBV_WR_LOCAL_INV;
    wr.invalidate_rkey = mw->rkey();
    REQUIRE(ends.net.b.nic->data_path().post_send(second, &wr, &bad) == 0);
    CHECK(ends.run(ends.net.b) == Statuses{is_rxe(rules) ? IBV_WC_LOC_QP_OP_ERR : IBV_WC_MW_BIND_ERR});
  }
}

TEST_CASE("memory that was mapped anew under a region: used as it is now; with strict=1 an error") {
  for (const bool is_strict : {false, true}) {
    CAPTURE(is_strict);
    constexpr std::size_t kSize = 1 << 16;
    const auto map = [](void* at) {
      return mmap(at, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at != nullptr ? MAP_FIXED : 0), -1,
                  0);
    };
    void* memory = map(nullptr);
    REQUIRE(memory != MAP_FAILED);
    if (is_strict && !nic::watch_mapping(memory, kSize)) return;  // no userfaultfd here
    Ends ends(is_strict ? strict() : nic::Rules());
    nic::Mr* region = ends.net.b.reg(memory, kSize, kAll);
    const auto write = [&](std::size_t offset) {
      Send send = ends.request(IBV_WR_RDMA_WRITE, 4000);
      send.remote_addr = reinterpret_cast<std::uint64_t>(memory) + offset;
      send.rkey = region->rkey();
      REQUIRE(post_send(ends.net.a, ends.qa, send) == 0);
      return ends.run(ends.net.a);
    };
    CHECK(write(0) == Statuses{IBV_WC_SUCCESS});
    // Several mappings, but the same ones.
    REQUIRE(mprotect(static_cast<char*>(memory) + 8192, 4096, PROT_READ) == 0);
    REQUIRE(mprotect(static_cast<char*>(memory) + 8192, 4096, PROT_READ | PROT_WRITE) == 0);
    CHECK(write(6000) == Statuses{IBV_WC_SUCCESS});
    REQUIRE(munmap(memory, kSize) == 0);
    REQUIRE(map(memory) == memory);
    CHECK(write(0) == Statuses{is_strict ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS});

    // Registered again, it is right.
    nic::Mr* again = ends.net.b.reg(memory, kSize, kAll);
    CHECK(again->covers(reinterpret_cast<std::uint64_t>(memory), kSize));
    CHECK(region->covers(reinterpret_cast<std::uint64_t>(memory), kSize));
    REQUIRE(ends.net.b.nic->mrs().dereg(again) == 0);
    REQUIRE(ends.net.b.nic->mrs().dereg(region) == 0);
    munmap(memory, kSize);
  }
}
