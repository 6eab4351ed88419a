// Shared receive queues: which QP gets a request, out of order completion, the limit event, resizing, failing QPs.
#include <doctest/doctest.h>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

nic::Srq* create_srq(Station& station, std::uint32_t max_wr, std::uint32_t max_sge = 2) {
  ibv_srq_attr attr{.max_wr = max_wr, .max_sge = max_sge, .srq_limit = 0};
  nic::Srq* srq = nullptr;
  REQUIRE(station.nic->srqs().create(station.pd, &attr, &station, &srq) == 0);
  return srq;
}

int post_srq(Station& station, nic::Srq* srq, std::uint64_t wr_id, std::vector<ibv_sge> sges) {
  ibv_recv_wr wr = {};
  ibv_recv_wr* bad = nullptr;
  wr.wr_id = wr_id;
  wr.sg_list = sges.data();
  wr.num_sge = static_cast<int>(sges.size());
  return station.nic->data_path().post_srq_recv(srq, &wr, &bad);
}

ibv_srq_attr query(Station& station, const nic::Srq* srq) {
  ibv_srq_attr attr = {};
  REQUIRE(station.nic->srqs().query(srq, &attr) == 0);
  return attr;
}

// Station b has one SRQ under the QPs that the QPs of station a send to.
struct Shared {
  VirtualNetwork net;
  nic::Srq* srq;
  std::vector<nic::Qp*> from, to;
  std::vector<std::uint8_t> near = pattern(8192);
  std::vector<std::uint8_t> far = std::vector<std::uint8_t>(65536);
  nic::Mr* local;
  nic::Mr* remote;

  explicit Shared(int qps, std::uint32_t max_wr = 16, const Connection& connection = {})
      : srq(create_srq(net.b, max_wr)),
        local(net.a.reg(near.data(), near.size())),
        remote(net.b.reg(far.data(), far.size())) {
    for (int i = 0; i < qps; ++i) {
      from.push_back(net.a.create_qp(IBV_QPT_RC));
      to.push_back(net.b.create_qp(IBV_QPT_RC, 64, srq));
      net.connect(from.back(), to.back(), connection);
    }
  }
  int post(std::uint64_t wr_id, std::uint32_t length = 4096) {
    return post_srq(net.b, srq, wr_id, {sge_of(far.data() + wr_id * 4096, length, remote)});
  }
  int send(int qp, std::uint32_t length, std::uint64_t wr_id = 7) {
    return post_send(net.a, from[static_cast<std::size_t>(qp)],
                     {.wr_id = wr_id, .sges = {sge_of(near.data(), length, local)}});
  }
};

}  // namespace

TEST_CASE("QPs dequeue requests of a shared queue in the order in which messages begin") {
  Shared shared(2);
  for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(shared.post(i) == 0);
  REQUIRE(shared.send(1, 100) == 0);
  shared.net.run();
  REQUIRE(shared.send(0, 200) == 0);
  shared.net.run();
  const auto received = shared.net.b.poll();
  REQUIRE(received.size() == 2);
  CHECK(received[0].wr_id == 0);
  CHECK(received[0].qp_num == shared.to[1]->number);
  CHECK(received[0].byte_len == 100);
  CHECK(received[1].wr_id == 1);
  CHECK(received[1].qp_num == shared.to[0]->number);
  CHECK(received[1].byte_len == 200);
  CHECK(std::equal(shared.near.begin(), shared.near.begin() + 200, shared.far.begin() + 4096));
}

TEST_CASE("requests of a shared queue complete out of order") {
  Shared shared(2);
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(shared.post(i) == 0);
  REQUIRE(shared.send(0, 4096) == 0);  // four packets, one at a time
  nic::Nic& sender = *shared.net.a.nic;
  // The whole of the long message leaves; the last packet is held back on the cable while the short one overtakes it.
  std::size_t seen = 0;
  std::vector<std::vector<std::uint8_t>> held;
  shared.net.a.cable.observe = [&](auto frame) {
    if (++seen == 4) held.emplace_back(frame.begin(), frame.end());
    shared.net.a.cable.unplugged = seen == 4;
  };
  sender.scheduler().pump(shared.net.now);
  REQUIRE(held.size() == 1);
  shared.net.a.cable.unplugged = false;
  REQUIRE(shared.send(1, 10) == 0);
  sender.scheduler().pump(shared.net.now);
  shared.net.now += kMicrosecond;
  shared.net.b.faults.receive(shared.net.b, 16);
  auto received = shared.net.b.poll();
  REQUIRE(received.size() == 1);
  CHECK(received[0].wr_id == 1);
  CHECK(received[0].qp_num == shared.to[1]->number);
  shared.net.b.deliver(held[0]);
  received = shared.net.b.poll();
  REQUIRE(received.size() == 1);
  CHECK(received[0].wr_id == 0);
  CHECK(received[0].byte_len == 4096);
  CHECK(std::equal(shared.near.begin(), shared.near.begin() + 4096, shared.far.begin()));
}

TEST_CASE("an empty shared queue asks for another try, and the message arrives when something is posted") {
  Shared shared(1);
  REQUIRE(shared.send(0, 64) == 0);
  shared.net.run(5 * kMillisecond);
  CHECK(shared.net.b.nic->counters().send_rnr_err > 0);
  CHECK(shared.net.b.poll().empty());
  REQUIRE(shared.post(3) == 0);
  shared.net.run();
  REQUIRE(shared.net.b.poll().size() == 1);
  CHECK(shared.net.a.poll().at(0).status == IBV_WC_SUCCESS);
}

TEST_CASE("the limit event comes once, when fewer requests are posted than the limit") {
  Shared shared(1);
  for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(shared.post(i) == 0);
  ibv_srq_attr attr{.max_wr = 0, .max_sge = 0, .srq_limit = 3};
  REQUIRE(shared.net.b.nic->srqs().modify(shared.srq, &attr, IBV_SRQ_LIMIT) == 0);
  CHECK(query(shared.net.b, shared.srq).srq_limit == 3);
  REQUIRE(shared.send(0, 8) == 0);
  shared.net.run();
  CHECK_FALSE(shared.net.b.saw(IBV_EVENT_SRQ_LIMIT_REACHED));
  REQUIRE(shared.send(0, 8) == 0);
  shared.net.run();
  REQUIRE(shared.net.b.saw(IBV_EVENT_SRQ_LIMIT_REACHED));
  CHECK(shared.net.b.events.back().srq == shared.srq);
  CHECK(query(shared.net.b, shared.srq).srq_limit == 0);
  shared.net.b.events.clear();
  REQUIRE(shared.send(0, 8) == 0);
  shared.net.run();
  CHECK_FALSE(shared.net.b.saw(IBV_EVENT_SRQ_LIMIT_REACHED));
  // Armed above the number of posted requests, the event is raised at once.
  attr.srq_limit = 2;
  REQUIRE(shared.net.b.nic->srqs().modify(shared.srq, &attr, IBV_SRQ_LIMIT) == 0);
  CHECK(shared.net.b.saw(IBV_EVENT_SRQ_LIMIT_REACHED));
}

TEST_CASE("a shared queue is resized with requests in it") {
  Shared shared(1, 4);
  nic::Nic& nic = *shared.net.b.nic;
  for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(shared.post(i) == 0);
  CHECK(shared.post(4) == ENOMEM);
  REQUIRE(shared.send(0, 8) == 0);  // so that the ring has wrapped when it is copied
  shared.net.run();
  CHECK(shared.post(4) == ENOMEM);  // the completion was not polled
  auto received = shared.net.b.poll();
  REQUIRE(shared.post(4) == 0);
  ibv_srq_attr attr{.max_wr = 9, .max_sge = 0, .srq_limit = 0};
  REQUIRE(nic.srqs().modify(shared.srq, &attr, IBV_SRQ_MAX_WR) == 0);
  CHECK(query(shared.net.b, shared.srq).max_wr == 16);
  CHECK(shared.post(5) == 0);
  attr.max_wr = 4;
  CHECK(nic.srqs().modify(shared.srq, &attr, IBV_SRQ_MAX_WR) == EINVAL);  // five are posted
  for (int i = 0; i < 5; ++i) REQUIRE(shared.send(0, 8) == 0);
  shared.net.run();
  CHECK(nic.srqs().modify(shared.srq, &attr, IBV_SRQ_MAX_WR) == EINVAL);  // their slots are taken until they are polled
  for (const ibv_wc& wc : shared.net.b.poll()) received.push_back(wc);
  REQUIRE(received.size() == 6);
  for (std::uint64_t i = 0; i < 6; ++i) CHECK(received[i].wr_id == i);
  REQUIRE(nic.srqs().modify(shared.srq, &attr, IBV_SRQ_MAX_WR) == 0);
  CHECK(query(shared.net.b, shared.srq).max_wr == 4);
}

TEST_CASE("attributes of a shared queue") {
  VirtualNetwork net;
  nic::Nic& nic = *net.a.nic;
  nic::Srq* srq = nullptr;
  for (const ibv_srq_attr& wrong : {ibv_srq_attr{(1 << 15) + 1, 1, 0}, ibv_srq_attr{1, 33, 0}}) {
    ibv_srq_attr attr = wrong;
    CHECK(nic.srqs().create(net.a.pd, &attr, nullptr, &srq) == EINVAL);
  }
  ibv_srq_attr least{.max_wr = 0, .max_sge = 1, .srq_limit = 0};
  REQUIRE(nic.srqs().create(net.a.pd, &least, nullptr, &srq) == 0);
  CHECK(least.max_wr == 1);
  CHECK(nic.srqs().destroy(srq) == 0);
  ibv_srq_attr attr{.max_wr = 5, .max_sge = 0, .srq_limit = 99};
  REQUIRE(nic.srqs().create(net.a.pd, &attr, &net.a, &srq) == 0);
  CHECK(attr.max_wr == 8);
  CHECK(attr.max_sge == 1);
  CHECK(query(net.a, srq).srq_limit == 0);
  attr.srq_limit = 9;
  CHECK(nic.srqs().modify(srq, &attr, IBV_SRQ_LIMIT) == EINVAL);
  attr.max_wr = 0;
  CHECK(nic.srqs().modify(srq, &attr, IBV_SRQ_MAX_WR) == EINVAL);
  CHECK(nic.srqs().modify(srq, &attr, 4) == EINVAL);
  std::uint8_t byte = 0;
  const nic::Mr* mr = net.a.reg(&byte, 1);
  CHECK(post_srq(net.a, srq, 1, {sge_of(&byte, 1, mr), sge_of(&byte, 1, mr)}) == EINVAL);

  nic::Qp* qp = net.a.create_qp(IBV_QPT_RC, 64, srq);
  ibv_qp_attr qp_attr = {};
  ibv_qp_init_attr init = {};
  REQUIRE(nic.qps().query(qp, &qp_attr, &init) == 0);
  CHECK(init.cap.max_recv_wr == 0);
  VirtualNetwork::to_rts(net.a, qp, 17, net.b.gid, {}, 0, 0);
  CHECK(post_recv(net.a, qp, 1, {sge_of(&byte, 1, mr)}) == EINVAL);
  CHECK(nic.srqs().destroy(srq) == EBUSY);
  CHECK(nic.pds().dealloc(net.a.pd) == EBUSY);
  REQUIRE(nic.qps().destroy(qp) == 0);
  CHECK(nic.srqs().destroy(srq) == 0);
}

TEST_CASE("a QP in error flushes its current request and reports that it dequeues no more") {
  Shared shared(2);
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(shared.post(i) == 0);
  REQUIRE(shared.send(0, 4096) == 0);
  // Only the first packet arrives.
  std::size_t seen = 0;
  shared.net.a.cable.observe = [&](auto) { shared.net.a.cable.unplugged = ++seen > 1; };
  shared.net.run(100 * kMicrosecond);
  ibv_qp_attr attr = {};
  attr.qp_state = IBV_QPS_ERR;
  REQUIRE(shared.net.b.nic->qps().modify(shared.to[0], &attr, IBV_QP_STATE) == 0);
  REQUIRE(shared.net.b.nic->qps().modify(shared.to[0], &attr, IBV_QP_STATE) == 0);
  const auto flushed = shared.net.b.poll();
  REQUIRE(flushed.size() == 1);
  CHECK(flushed[0].wr_id == 0);
  CHECK(flushed[0].status == IBV_WC_WR_FLUSH_ERR);
  REQUIRE(shared.net.b.events.size() > 0);
  int last = 0;
  for (const auto& event : shared.net.b.events) last += event.type == IBV_EVENT_QP_LAST_WQE_REACHED ? 1 : 0;
  CHECK(last == 1);
  // The other QP goes on with the next request.
  shared.net.a.cable.observe = nullptr;
  shared.net.a.cable.unplugged = false;
  REQUIRE(shared.send(1, 8) == 0);
  shared.net.run(shared.net.now + kMillisecond);
  CHECK(shared.net.b.poll().at(0).wr_id == 1);
}

TEST_CASE("datagrams use a shared queue too, with the keys of its own PD") {
  VirtualNetwork net;
  nic::Pd* pd = nullptr;
  REQUIRE(net.b.nic->pds().alloc(&pd) == 0);
  ibv_srq_attr attr{.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  nic::Srq* srq = nullptr;
  REQUIRE(net.b.nic->srqs().create(pd, &attr, &net.b, &srq) == 0);
  std::vector<std::uint8_t> near = pattern(64), far(256);
  nic::Mr* remote = nullptr;
  REQUIRE(net.b.nic->mrs().reg(pd, far.data(), far.size(), reinterpret_cast<std::uint64_t>(far.data()),
                               IBV_ACCESS_LOCAL_WRITE, &remote) == 0);
  const nic::Mr* local = net.a.reg(near.data(), near.size());
  nic::Qp* from = net.a.create_qp(IBV_QPT_UD);
  nic::Qp* to = net.b.create_qp(IBV_QPT_UD, 64, srq);
  VirtualNetwork::to_rts_ud(net.a, from, 5);
  VirtualNetwork::to_rts_ud(net.b, to, 5);
  ibv_ah_attr address = {};
  address.is_global = 1;
  address.port_num = 1;
  std::memcpy(address.grh.dgid.raw, net.b.gid.bytes.data(), 16);
  nic::Ah* ah = nullptr;
  REQUIRE(net.a.nic->ahs().create(net.a.pd, &address, &ah) == 0);
  REQUIRE(post_srq(net.b, srq, 9, {sge_of(far.data(), 256, remote)}) == 0);
  ibv_sge sge = sge_of(near.data(), 64, local);
  ibv_send_wr wr = {};
  ibv_send_wr* bad = nullptr;
  wr.opcode = IBV_WR_SEND;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.wr.ud = {&ah->ibv, to->number, 5};
  REQUIRE(net.a.nic->data_path().post_send(from, &wr, &bad) == 0);
  net.run();
  const auto received = net.b.poll();
  REQUIRE(received.size() == 1);
  CHECK(received[0].status == IBV_WC_SUCCESS);
  CHECK(received[0].wr_id == 9);
  CHECK(std::equal(near.begin(), near.end(), far.begin() + 40));
}
