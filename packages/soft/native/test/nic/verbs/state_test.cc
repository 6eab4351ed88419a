// What a QP does in its states: a drained send queue, a send queue in error, and attributes out of range.
#include <algorithm>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

struct StatePair {
  VirtualNetwork net;
  nic::Qp* qa;
  nic::Qp* qb;
  std::vector<std::uint8_t> near = pattern(100'000);
  std::vector<std::uint8_t> far = std::vector<std::uint8_t>(100'000);
  nic::Mr* local;
  nic::Mr* remote;

  explicit StatePair(ibv_qp_type type = IBV_QPT_RC) : qa(net.a.create_qp(type)), qb(net.b.create_qp(type)) {
    net.connect(qa, qb);
    local = net.a.reg(near.data(), near.size());
    remote = net.b.reg(far.data(), far.size());
  }

  Send write(std::uint32_t size, std::uint64_t wr_id = 1) {
    return {.wr_id = wr_id,
            .opcode = IBV_WR_RDMA_WRITE,
            .sges = {sge_of(near.data(), size, local)},
            .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
            .rkey = remote->rkey()};
  }

  int move(ibv_qp_state to, int mask = 0, ibv_qp_attr attr = {}) {
    attr.qp_state = to;
    return net.a.nic->qps().modify(qa, &attr, IBV_QP_STATE | mask);
  }
  ibv_qp_attr query() {
    ibv_qp_attr attr = {};
    ibv_qp_init_attr init = {};
    REQUIRE(net.a.nic->qps().query(qa, &attr, &init) == 0);
    return attr;
  }
};

}  // namespace

TEST_CASE("SQD finishes requests that started, keeps the others posted, and reports when it is drained") {
  for (const ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC}) {
    CAPTURE(type);
    StatePair pair(type);
    REQUIRE(post_send(pair.net.a, pair.qa, pair.write(100'000, 1)) == 0);
    pair.net.a.nic->scheduler().pump(0);  // the first packets leave
    ibv_qp_attr attr = {};
    attr.en_sqd_async_notify = 1;
    REQUIRE(pair.move(IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY, attr) == 0);
    CHECK(pair.query().sq_draining == 1);
    CHECK_FALSE(pair.net.a.saw(IBV_EVENT_SQ_DRAINED));
    CHECK(pair.move(IBV_QPS_RTS) == EINVAL);  // not yet drained
    REQUIRE(post_send(pair.net.a, pair.qa, pair.write(10, 2)) == 0);
    pair.net.run();
    CHECK(pair.net.a.saw(IBV_EVENT_SQ_DRAINED));
    CHECK(pair.query().sq_draining == 0);
    CHECK(pair.query().qp_state == IBV_QPS_SQD);
    auto done = pair.net.a.poll();
    REQUIRE(done.size() == 1);
    CHECK(done[0].wr_id == 1);
    CHECK(pair.near == pair.far);

    // It still receives.
    if (type == IBV_QPT_RC) {
      REQUIRE(post_recv(pair.net.a, pair.qa, 5, {}) == 0);
      REQUIRE(post_send(pair.net.b, pair.qb, {}) == 0);
      pair.net.run();
      CHECK(pair.net.a.poll().at(0).wr_id == 5);
      CHECK(pair.net.b.poll().at(0).status == IBV_WC_SUCCESS);
    }

    REQUIRE(pair.move(IBV_QPS_RTS) == 0);
    pair.net.run();
    done = pair.net.a.poll();
    REQUIRE(done.size() == 1);
    CHECK(done[0].wr_id == 2);
    CHECK(std::count_if(pair.net.a.events.begin(), pair.net.a.events.end(),
                        [](const auto& event) { return event.type == IBV_EVENT_SQ_DRAINED; }) == 1);
  }
}

TEST_CASE("an idle queue drains at once; without asking there is no event; ERR is always open") {
  StatePair pair;
  REQUIRE(pair.move(IBV_QPS_SQD) == 0);
  pair.net.run();
  CHECK(pair.net.a.events.empty());
  CHECK(pair.query().sq_draining == 0);
  ibv_qp_attr attr = {};
  attr.timeout = 12;
  attr.retry_cnt = 3;
  attr.max_rd_atomic = 1;
  CHECK(pair.move(IBV_QPS_SQD, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_MAX_QP_RD_ATOMIC, attr) == 0);
  CHECK(pair.query().timeout == 12);
  CHECK(pair.query().retry_cnt == 3);
  CHECK(pair.move(IBV_QPS_RTS) == 0);
  REQUIRE(post_send(pair.net.a, pair.qa, pair.write(100'000)) == 0);
  pair.net.a.nic->scheduler().pump(0);
  REQUIRE(pair.move(IBV_QPS_SQD) == 0);
  CHECK(pair.move(IBV_QPS_ERR) == 0);
  CHECK(pair.net.a.poll().at(0).status == IBV_WC_WR_FLUSH_ERR);
}

TEST_CASE("SQE: a failed UC or UD request flushes the send queue, receiving goes on, and RTS ends it") {
  for (const ibv_qp_type type : {IBV_QPT_UC, IBV_QPT_UD}) {
    CAPTURE(type);
    VirtualNetwork net;
    nic::Qp* qa = net.a.create_qp(type);
    nic::Qp* qb = net.b.create_qp(type);
    std::vector<std::uint8_t> near = pattern(4096);
    std::vector<std::uint8_t> far(4096);
    nic::Mr* local = net.a.reg(near.data(), near.size());
    nic::Mr* remote = net.b.reg(far.data(), far.size());
    nic::Ah* to_b = nullptr;
    nic::Ah* to_a = nullptr;
    if (type == IBV_QPT_UD) {
      VirtualNetwork::to_rts_ud(net.a, qa, 1);
      VirtualNetwork::to_rts_ud(net.b, qb, 1);
      ibv_ah_attr attr = {};
      attr.is_global = 1;
      attr.port_num = 1;
      std::memcpy(attr.grh.dgid.raw, net.b.gid.bytes.data(), 16);
      REQUIRE(net.a.nic->ahs().create(net.a.pd, &attr, &to_b) == 0);
      std::memcpy(attr.grh.dgid.raw, net.a.gid.bytes.data(), 16);
      REQUIRE(net.b.nic->ahs().create(net.b.pd, &attr, &to_a) == 0);
    } else {
      net.connect(qa, qb);
    }
    const auto send = [&](Station& station, nic::Qp* qp, nic::Qp* peer, nic::Ah* ah, std::uint64_t wr_id, ibv_sge sge) {
      ibv_send_wr wr = {};
      ibv_send_wr* bad = nullptr;
      wr.wr_id = wr_id;
      wr.opcode = IBV_WR_SEND;
      wr.sg_list = &sge;
      wr.num_sge = 1;
      if (ah != nullptr) {
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.wr.ud.ah = &ah->ibv;
        wr.wr.ud.remote_qpn = peer->number;
        wr.wr.ud.remote_qkey = 1;
      } else {
        wr.send_flags = IBV_SEND_SIGNALED;
      }
      return station.nic->data_path().post_send(qp, &wr, &bad);
    };
    ibv_sge good = sge_of(near.data(), 100, local);
    ibv_sge bad = good;
    bad.lkey ^= 1;
    REQUIRE(post_recv(net.a, qa, 50, {sge_of(near.data(), 4096, local)}) == 0);
    REQUIRE(send(net.a, qa, qb, to_b, 1, good) == 0);
    REQUIRE(send(net.a, qa, qb, to_b, 2, bad) == 0);
    REQUIRE(send(net.a, qa, qb, to_b, 3, good) == 0);
    net.run();
    CHECK(qa->state == IBV_QPS_SQE);
    REQUIRE(send(net.a, qa, qb, to_b, 4, good) == 0);
    auto done = net.a.poll();
    REQUIRE(done.size() == 4);
    const ibv_wc_status expected[] = {IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR, IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR};
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(done[i].wr_id == i + 1);
      CHECK(done[i].status == expected[i]);
    }
    REQUIRE(send(net.b, qb, qa, to_a, 9, sge_of(far.data(), 200, remote)) == 0);
    net.run();
    done = net.a.poll();
    REQUIRE(done.size() == 1);
    CHECK(done[0].wr_id == 50);
    CHECK(done[0].status == IBV_WC_SUCCESS);

    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_RTS;
    attr.cur_qp_state = IBV_QPS_RTS;
    CHECK(net.a.nic->qps().modify(qa, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE) == EINVAL);  // it is in SQE
    attr.cur_qp_state = IBV_QPS_SQE;
    REQUIRE(net.a.nic->qps().modify(qa, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE) == 0);
    REQUIRE(post_recv(net.b, qb, 60, {sge_of(far.data(), 4096, remote)}) == 0);
    REQUIRE(send(net.a, qa, qb, to_b, 5, good) == 0);
    net.run();
    CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
    const auto received = net.b.poll();
    CHECK(std::any_of(received.begin(), received.end(), [](const ibv_wc& wc) { return wc.wr_id == 60; }));
  }
}

TEST_CASE("attributes out of range are rejected and change nothing") {
  StatePair pair;
  REQUIRE(pair.move(IBV_QPS_SQD) == 0);
  pair.net.run();
  const ibv_qp_attr before = pair.query();
  const auto refused = [&](int mask, const std::function<void(ibv_qp_attr&)>& set) {
    ibv_qp_attr attr = before;
    set(attr);
    attr.qp_state = IBV_QPS_SQD;
    CHECK(pair.net.a.nic->qps().modify(pair.qa, &attr, IBV_QP_STATE | mask) == EINVAL);
  };
  refused(IBV_QP_PORT, [](auto& attr) { attr.port_num = 0; });
  refused(IBV_QP_PORT, [](auto& attr) { attr.port_num = 2; });
  refused(IBV_QP_PKEY_INDEX, [](auto& attr) { attr.pkey_index = 1; });
  refused(IBV_QP_TIMEOUT, [](auto& attr) { attr.timeout = 32; });
  refused(IBV_QP_RETRY_CNT, [](auto& attr) { attr.retry_cnt = 8; });
  refused(IBV_QP_RNR_RETRY, [](auto& attr) { attr.rnr_retry = 8; });
  refused(IBV_QP_MIN_RNR_TIMER, [](auto& attr) { attr.min_rnr_timer = 32; });
  refused(IBV_QP_MAX_QP_RD_ATOMIC, [](auto& attr) { attr.max_rd_atomic = 129; });
  refused(IBV_QP_MAX_DEST_RD_ATOMIC, [](auto& attr) { attr.max_dest_rd_atomic = 129; });
  refused(IBV_QP_ALT_PATH, [](auto&) {});  // no automatic path migration on RoCE
  refused(IBV_QP_PATH_MIG_STATE, [](auto& attr) { attr.path_mig_state = IBV_MIG_REARM; });
  refused(IBV_QP_AV, [](auto& attr) { attr.ah_attr.is_global = 0; });
  refused(IBV_QP_AV, [](auto& attr) { attr.ah_attr.port_num = 7; });
  refused(IBV_QP_AV, [](auto& attr) { attr.ah_attr.grh.sgid_index = 1; });
  refused(IBV_QP_AV, [](auto& attr) { std::memset(attr.ah_attr.grh.dgid.raw, 0, 16); });
  refused(IBV_QP_CUR_STATE, [](auto& attr) { attr.cur_qp_state = IBV_QPS_SQD; });  // not for this change
  const ibv_qp_attr after = pair.query();
  CHECK(std::memcmp(&before, &after, sizeof before) == 0);
  ibv_qp_attr same = before;
  same.qp_state = IBV_QPS_SQD;
  CHECK(pair.net.a.nic->qps().modify(pair.qa, &same, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE) == 0);
}

TEST_CASE("COMM_EST is raised once, by the first packet that comes in RTR; a QP in RTS has no need of it") {
  for (const ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC}) {
    CAPTURE(type);
    StatePair pair(type);
    nic::Qp* waiting = pair.net.b.create_qp(type);
    nic::Qp* calling = pair.net.a.create_qp(type);
    Connection connection;
    VirtualNetwork::to_rts(pair.net.a, calling, waiting->number, pair.net.b.gid, connection, 7, 9);
    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    const int answers = type == IBV_QPT_RC ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0;
    REQUIRE(pair.net.b.nic->qps().modify(waiting, &attr,
                                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
    for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(post_recv(pair.net.b, waiting, i, {}) == 0);  // allowed in INIT
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = connection.mtu;
    attr.dest_qp_num = calling->number;
    attr.rq_psn = 7;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    std::memcpy(attr.ah_attr.grh.dgid.raw, pair.net.a.gid.bytes.data(), 16);
    REQUIRE(pair.net.b.nic->qps().modify(
                waiting, &attr,
                IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | answers) == 0);
    for (int i = 0; i < 3; ++i) REQUIRE(post_send(pair.net.a, calling, {}) == 0);
    pair.net.run();
    CHECK(pair.net.b.poll().size() == 3);
    CHECK(pair.net.b.events.size() == 1);
    CHECK(pair.net.b.saw(IBV_EVENT_COMM_EST));
    REQUIRE(post_send(pair.net.a, pair.qa, pair.write(10)) == 0);
    pair.net.run();
    CHECK(pair.net.b.events.size() == 1);
  }
}

TEST_CASE("a queue that fails while it drains is in SQE, and the way back to RTS is open") {
  StatePair pair(IBV_QPT_UC);
  std::vector<std::uint8_t> large(400'000);  // more packets than one call of pump() sends
  nic::Mr* mr = pair.net.a.reg(large.data(), large.size());
  Send send = pair.write(0);
  send.sges = {sge_of(large.data(), 400'000, mr)};
  REQUIRE(post_send(pair.net.a, pair.qa, send) == 0);
  pair.net.a.nic->scheduler().pump(0);
  CHECK(pair.net.a.poll().empty());
  REQUIRE(pair.move(IBV_QPS_SQD) == 0);
  REQUIRE(pair.net.a.nic->mrs().dereg(mr) == 0);
  pair.net.run();
  CHECK(pair.net.a.poll().at(0).status == IBV_WC_LOC_PROT_ERR);
  CHECK(pair.qa->state == IBV_QPS_SQE);
  CHECK(pair.query().sq_draining == 0);
  CHECK(pair.move(IBV_QPS_RTS) == 0);
  REQUIRE(post_send(pair.net.a, pair.qa, pair.write(1000)) == 0);
  pair.net.run();
  CHECK(pair.net.a.poll().at(0).status == IBV_WC_SUCCESS);
  CHECK(std::equal(pair.near.begin(), pair.near.begin() + 1000, pair.far.begin()));
}

TEST_CASE("a connected queue pair's packets leave with the source port that it was given") {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  CHECK(net.a.nic->qps().set_source_port(qa, 55555) == EINVAL);  // it is not connected
  net.connect(qa, qb);
  std::vector<int> ports;
  net.a.cable.observe = [&](auto frame) { ports.push_back(frame[20] << 8 | frame[21]); };
  const auto send = [&] {
    REQUIRE(post_recv(net.b, qb, 1, {}) == 0);
    REQUIRE(post_send(net.a, qa, {}) == 0);
    net.run();
    CHECK(net.b.poll().size() == 1);
  };
  send();
  REQUIRE(net.a.nic->qps().set_source_port(qa, 55555) == 0);
  send();
  REQUIRE(ports.size() == 2);
  CHECK(ports[0] >= 0xc000);
  CHECK(ports[0] != 55555);
  CHECK(ports[1] == 55555);
  CHECK(net.a.nic->qps().set_source_port(net.a.create_qp(IBV_QPT_UD), 55555) == EINVAL);
}
