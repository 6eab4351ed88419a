// UD: address handles, Q_Keys, the 40 bytes of the network header, and dropped datagrams.
#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

ibv_ah_attr to(const wire::Gid& gid) {
  ibv_ah_attr attr = {};
  attr.is_global = 1;
  attr.port_num = 1;
  attr.grh.hop_limit = 3;
  attr.grh.traffic_class = 0x20;
  std::memcpy(attr.grh.dgid.raw, gid.bytes.data(), 16);
  return attr;
}

struct DatagramPair {
  VirtualNetwork net;
  nic::Qp* qa;
  nic::Qp* qb;
  std::vector<std::uint8_t> near = pattern(8192);
  std::vector<std::uint8_t> far = std::vector<std::uint8_t>(8192);
  nic::Mr* local;
  nic::Mr* remote;
  nic::Ah* ah = nullptr;
  explicit DatagramPair(bool ipv6 = false)
      : net(ipv6), qa(net.a.create_qp(IBV_QPT_UD)), qb(net.b.create_qp(IBV_QPT_UD)) {
    VirtualNetwork::to_rts_ud(net.a, qa, 0x1111);
    VirtualNetwork::to_rts_ud(net.b, qb, 0x2222);
    local = net.a.reg(near.data(), near.size());
    remote = net.b.reg(far.data(), far.size());
    const ibv_ah_attr attr = to(net.b.gid);
    REQUIRE(net.a.nic->ahs().create(net.a.pd, &attr, &ah) == 0);
  }

  int send(std::uint32_t size, std::uint32_t qkey = 0x2222, std::uint32_t imm = 0) {
    ibv_sge sge = sge_of(near.data(), size, local);
    ibv_send_wr wr = {};
    ibv_send_wr* bad = nullptr;
    wr.wr_id = 3;
    wr.opcode = imm != 0 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
    wr.imm_data = imm;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.wr.ud.ah = &ah->ibv;
    wr.wr.ud.remote_qpn = qb->number;
    wr.wr.ud.remote_qkey = qkey;
    const int error = net.a.nic->data_path().post_send(qa, &wr, &bad);
    net.run();
    return error;
  }
};

}  // namespace

TEST_CASE("a datagram arrives behind its network header") {
  for (const bool ipv6 : {false, true}) {
    DatagramPair pair(ipv6);
    REQUIRE(post_recv(pair.net.b, pair.qb, 8, {sge_of(pair.far.data(), 8192, pair.remote)}) == 0);
    REQUIRE(pair.send(1000, 0x2222, 77) == 0);
    CHECK(pair.net.a.poll().at(0).status == IBV_WC_SUCCESS);
    const auto received = pair.net.b.poll();
    REQUIRE(received.size() == 1);
    CHECK(received[0].byte_len == 1040);
    CHECK(received[0].src_qp == pair.qa->number);
    CHECK(received[0].imm_data == 77);
    CHECK(received[0].wc_flags == (IBV_WC_GRH | IBV_WC_WITH_IMM));
    CHECK(received[0].sl == (ipv6 ? 1 : 2));  // the type of its network header, as adapters report it
    CHECK(received[0].slid == 0);
    CHECK(received[0].dlid_path_bits == 0);
    CHECK(received[0].pkey_index == 0);
    CHECK(std::equal(pair.near.begin(), pair.near.begin() + 1000, pair.far.begin() + 40));
    if (ipv6) {
      CHECK((pair.far[0] & 0xf0) == 0x60);
      CHECK(std::memcmp(&pair.far[8], pair.net.a.gid.bytes.data(), 16) == 0);
      CHECK(std::memcmp(&pair.far[24], pair.net.b.gid.bytes.data(), 16) == 0);
    } else {
      CHECK(pair.far[20] == 0x45);
      CHECK(pair.far[21] == 0x20);
      CHECK(std::memcmp(&pair.far[32], pair.net.a.gid.ipv4(), 4) == 0);
      CHECK(std::memcmp(&pair.far[36], pair.net.b.gid.ipv4(), 4) == 0);
    }
  }
}

TEST_CASE("datagrams that cannot be received are dropped, and the receive request stays posted") {
  DatagramPair pair;
  REQUIRE(pair.send(100) == 0);  // no receive posted
  REQUIRE(post_recv(pair.net.b, pair.qb, 8, {sge_of(pair.far.data(), 139, pair.remote)}) == 0);
  REQUIRE(pair.send(100, 0x2223) == 0);  // wrong Q_Key
  CHECK(pair.net.b.poll().empty());
  CHECK(pair.net.b.nic->counters().dropped_pkts == 2);
  REQUIRE(pair.send(99) == 0);
  CHECK(pair.net.b.poll().size() == 1);
  for (const ibv_wc& wc : pair.net.a.poll()) CHECK(wc.status == IBV_WC_SUCCESS);
}

TEST_CASE("a Q_Key with its top bit set stands for the QP's own") {
  DatagramPair pair;
  REQUIRE(post_recv(pair.net.b, pair.qb, 8, {sge_of(pair.far.data(), 8192, pair.remote)}) == 0);
  REQUIRE(pair.send(10, 0x80000000) == 0);
  CHECK(pair.net.b.poll().empty());  // 0x1111 is not 0x2222
  ibv_qp_attr attr = {};
  attr.qkey = 0x2222;
  REQUIRE(pair.net.a.nic->qps().modify(pair.qa, &attr, IBV_QP_QKEY) == 0);
  REQUIRE(pair.send(10, 0x80000000) == 0);
  CHECK(pair.net.b.poll().size() == 1);
}

TEST_CASE("a datagram longer than the MTU is a local length error") {
  DatagramPair pair;
  REQUIRE(pair.send(4097) == 0);
  CHECK(pair.net.a.poll().at(0).status == IBV_WC_LOC_LEN_ERR);
  CHECK(pair.qa->state == IBV_QPS_SQE);
}

TEST_CASE("a datagram does not leave by one port from the address of another") {
  DatagramPair pair;
  pair.ah->port_num = 2;
  CHECK(pair.send(64) == EINVAL);
  CHECK(pair.net.a.poll().empty());
  const nic::ReasonEvent* event = pair.net.a.nic->reasons().find_last(
      [](const nic::ReasonEvent& each) { return each.place == nic::Place::kPostSend; });
  REQUIRE(event != nullptr);
  CHECK(event->why.reason == nic::Reason::kHandlePort);
  pair.ah->port_num = 1;
  CHECK(pair.send(64) == 0);
  CHECK(pair.net.a.poll().size() == 1);
}

TEST_CASE("the upper bits of a flow label and a dlid are ignored, unless the port is strict") {
  for (const bool strict : {false, true}) {
    CAPTURE(strict);
    DatagramPair pair(true);
    nic::PortConfig config{.transmitter = &pair.net.a.cable, .gids = {pair.net.a.gid}, .strict = strict};
    const nic::Port port(config);
    wire::Path path;
    ibv_ah_attr attr = to(pair.net.b.gid);
    attr.grh.flow_label = 0xfffff;
    CHECK(port.resolve(attr, &path) == 0);
    attr.grh.flow_label = 0xffffffff;
    CHECK(port.resolve(attr, &path) == (strict ? EINVAL : 0));
    CHECK(path.flow_label == 0xfffff);
    attr.grh.flow_label = 0;
    attr.dlid = 0xc000;
    CHECK(port.resolve(attr, &path) == (strict ? EINVAL : 0));
  }
  // As UCX gives it.
  DatagramPair pair;
  ibv_ah_attr attr = to(pair.net.b.gid);
  attr.grh.flow_label = 0xffffffff;
  attr.dlid = 0xc000;
  REQUIRE(pair.net.a.nic->ahs().destroy(pair.ah) == 0);
  REQUIRE(pair.net.a.nic->ahs().create(pair.net.a.pd, &attr, &pair.ah) == 0);
  REQUIRE(post_recv(pair.net.b, pair.qb, 8, {sge_of(pair.far.data(), 8192, pair.remote)}) == 0);
  REQUIRE(pair.send(10) == 0);
  CHECK(pair.net.b.poll().size() == 1);
}

TEST_CASE("address handles are checked, counted, and belong to their PD") {
  DatagramPair pair;
  nic::Nic& nic = *pair.net.a.nic;
  nic::Ah* ah = nullptr;
  ibv_ah_attr attr = to(pair.net.b.gid);
  attr.is_global = 0;  // the port requires a GRH
  CHECK(nic.ahs().create(pair.net.a.pd, &attr, &ah) == EINVAL);
  attr = to(pair.net.b.gid);
  attr.grh.sgid_index = 1;
  CHECK(nic.ahs().create(pair.net.a.pd, &attr, &ah) == EINVAL);
  attr = to(pair.net.b.gid);
  attr.port_num = 2;
  CHECK(nic.ahs().create(pair.net.a.pd, &attr, &ah) == EINVAL);
  attr = to(wire::Gid{});
  CHECK(nic.ahs().create(pair.net.a.pd, &attr, &ah) == EINVAL);
  wire::Gid other_version;
  other_version.bytes[0] = 0xfd;
  attr = to(other_version);
  CHECK(nic.ahs().create(pair.net.a.pd, &attr, &ah) == EINVAL);

  nic::Pd* pd = nullptr;
  REQUIRE(nic.pds().alloc(&pd) == 0);
  attr = to(pair.net.b.gid);
  REQUIRE(nic.ahs().create(pd, &attr, &ah) == 0);
  CHECK(nic.pds().dealloc(pd) == EBUSY);
  std::swap(ah, pair.ah);
  CHECK(pair.send(10) == 0);  // of another domain: rules_test.cc
  REQUIRE(nic.ahs().destroy(pair.ah) == 0);
  CHECK(nic.pds().dealloc(pd) == 0);
}
