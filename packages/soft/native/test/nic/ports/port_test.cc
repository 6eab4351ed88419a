// What happens to a port while it runs: link down and up, GIDs that come and go, another MTU, a failing device.
#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

int count_of(const Station& station, ibv_event_type type) {
  int count = 0;
  for (const nic::AsyncEvent& event : station.events) count += event.type == type;
  return count;
}

wire::Gid other_address(std::uint8_t host) {
  const std::uint8_t bytes[4] = {10, 0, 1, host};
  return wire::Gid::from_ipv4(bytes);
}

// Keeps which addresses are used.
struct Claims final : link::Transmitter {
  std::uint8_t* reserve() override { return frame; }
  void commit(std::size_t) override {}
  void flush() override {}
  int use(const wire::Gid& source) override {
    used.push_back(source);
    return 0;
  }
  std::uint8_t frame[wire::kMaxFrame];
  std::vector<wire::Gid> used;
};

}  // namespace

TEST_CASE("a UD queue pair receives at the addresses that its program has asked for, before and after") {
  Claims claims;
  nic::PortConfig config;
  config.transmitter = &claims;
  config.gids = {other_address(1), other_address(2), other_address(3)};
  nic::Port port(config);
  port.ask(other_address(2));
  CHECK(claims.used.empty());  // it may just look
  port.receive_datagrams();
  CHECK(claims.used == std::vector{other_address(2)});
  port.receive_datagrams();
  port.ask(other_address(2));
  CHECK(claims.used.size() == 1);
  port.ask(other_address(3));
  CHECK(claims.used == std::vector{other_address(2), other_address(3)});
}

TEST_CASE("a link that goes down ends in retry errors; when it is back, new connections work") {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  REQUIRE(net.a.nic->ports().set_link(1, false) == 0);
  ibv_port_attr attr;
  REQUIRE(net.a.nic->ports().query(1, &attr) == 0);
  CHECK(attr.state == IBV_PORT_DOWN);
  CHECK(attr.phys_state == 3);
  REQUIRE(net.a.events.size() == 1);
  CHECK(net.a.events[0].type == IBV_EVENT_PORT_ERR);
  CHECK(net.a.events[0].port_num == 1);
  CHECK(net.a.nic->ports().set_link(1, false) == 0);  // it is down already
  CHECK(net.a.events.size() == 1);
  CHECK(qa->state == IBV_QPS_RTS);

  REQUIRE(post_send(net.a, qa, {.wr_id = 7}) == 0);
  REQUIRE(post_send(net.a, qa, {.wr_id = 8}) == 0);
  net.run();
  const auto completions = net.a.poll();
  REQUIRE(completions.size() == 2);
  CHECK(completions[0].wr_id == 7);
  CHECK(completions[0].status == IBV_WC_RETRY_EXC_ERR);
  CHECK(completions[1].status == IBV_WC_WR_FLUSH_ERR);
  CHECK(net.trace.empty());
  CHECK(net.a.nic->counters().link_downed == 1);
  CHECK(net.a.nic->counters().link_dropped >= 8);

  REQUIRE(net.a.nic->ports().set_link(1, true) == 0);
  CHECK(net.a.events.back().type == IBV_EVENT_PORT_ACTIVE);
  REQUIRE(net.a.nic->ports().query(1, &attr) == 0);
  CHECK(attr.state == IBV_PORT_ACTIVE);
  CHECK(attr.phys_state == 5);
  nic::Qp* again_a = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* again_b = net.b.create_qp(IBV_QPT_RC);
  net.connect(again_a, again_b);
  REQUIRE(post_recv(net.b, again_b, 1, {}) == 0);
  REQUIRE(post_send(net.a, again_a, {}) == 0);
  net.run();
  CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
}

TEST_CASE("a port promises connection management only where somebody answers on QP 1") {
  VirtualNetwork net;
  for (const bool management : {false, true}) {
    const nic::Port port({.transmitter = &net.a.cable, .gids = {net.a.gid}, .management = management});
    ibv_port_attr attr;
    port.query(&attr);
    CHECK(((attr.port_cap_flags & IBV_PORT_CM_SUP) != 0) == management);
    CHECK((attr.port_cap_flags & IBV_PORT_IP_BASED_GIDS) != 0);
  }
}

TEST_CASE("a link that is down for less than the retries take loses nothing, whichever side it is") {
  for (const bool near : {true, false}) {
    VirtualNetwork net;
    nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
    nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
    net.connect(qa, qb);
    Station& cut = near ? net.a : net.b;
    REQUIRE(cut.nic->ports().set_link(1, false) == 0);
    REQUIRE(post_recv(net.b, qb, 1, {}) == 0);
    REQUIRE(post_send(net.a, qa, {}) == 0);
    net.run(10 * kMillisecond);
    CHECK(net.a.poll().empty());
    CHECK(net.b.poll().empty());
    CHECK(cut.nic->counters().link_dropped > 1);
    REQUIRE(cut.nic->ports().set_link(1, true) == 0);
    net.run();
    CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
    CHECK(net.b.poll().at(0).status == IBV_WC_SUCCESS);
  }
}

TEST_CASE("GIDs come into the first empty entry and leave a hole") {
  VirtualNetwork net;
  nic::Nic& nic = *net.a.nic;
  ibv_port_attr attr;
  REQUIRE(nic.ports().query(1, &attr) == 0);
  CHECK(attr.gid_tbl_len == 16);
  std::uint32_t index = 0;
  for (std::uint32_t i = 1; i < 16; ++i) {
    REQUIRE(nic.ports().add_gid(1, other_address(static_cast<std::uint8_t>(i)), &index) == 0);
    CHECK(index == i);
  }
  CHECK(nic.ports().add_gid(1, other_address(99), &index) == ENOSPC);
  CHECK(nic.ports().add_gid(1, other_address(3), &index) == EEXIST);
  CHECK(nic.ports().add_gid(1, {}, &index) == EINVAL);
  CHECK(nic.ports().add_gid(2, other_address(99), &index) == EINVAL);
  REQUIRE(nic.ports().remove_gid(1, other_address(5)) == 0);
  CHECK(nic.ports().remove_gid(1, other_address(5)) == ENOENT);
  CHECK(nic.ports().remove_gid(1, {}) == ENOENT);
  wire::Gid gid;
  REQUIRE(nic.ports().query_gid(1, 5, &gid) == 0);
  CHECK(gid.is_zero());
  REQUIRE(nic.ports().query_gid(1, 6, &gid) == 0);
  CHECK(gid == other_address(6));
  REQUIRE(nic.ports().add_gid(1, other_address(99), &index) == 0);
  CHECK(index == 5);
  CHECK(count_of(net.a, IBV_EVENT_GID_CHANGE) == 17);
}

TEST_CASE("a GID table in the shape of other devices: packets leave from the entries of the addresses") {
  const wire::Gid one = other_address(1), two = other_address(2);
  const auto kinds = [](const nic::Port& port) {
    std::string text;
    for (std::size_t i = 0; !port.gids()[i].is_zero(); ++i) {
      text += port.gids()[i].is_ipv4() ? 'a' + port.gids()[i].bytes[15] - 1 : 'l';
      text += port.gid_kind(i).roce_v1 ? "1 " : "2 ";
      ibv_ah_attr attr = {};
      attr.is_global = 1;
      attr.grh.sgid_index = static_cast<std::uint8_t>(i);
      attr.grh.dgid.raw[0] = 0xfd;
      if (port.gids()[i].is_ipv4()) std::memcpy(attr.grh.dgid.raw, port.gids()[i].bytes.data(), 16);
      wire::Path path;
      CHECK(port.resolve(attr, &path) == (port.gid_kind(i).holds_place ? EINVAL : 0));
    }
    return text;
  };
  nic::PortConfig config;
  config.gids = {one, two};
  config.guid = 0x0200'0000'0000'0007;
  config.gid_shape = nic::GidShape::kPlain;
  CHECK(kinds(nic::Port(config)) == "a2 b2 ");
  config.gid_shape = nic::GidShape::kRxe;
  CHECK(kinds(nic::Port(config)) == "l2 a2 b2 ");
  CHECK(nic::Port(config).gids()[0].bytes ==
        std::array<std::uint8_t, 16>{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 7});
  config.gid_shape = nic::GidShape::kMlx5;
  nic::Port port(config);
  CHECK(kinds(port) == "l1 l2 a1 a2 b1 b2 ");
  CHECK(port.first_gid() == one);
  std::uint32_t index = 0;
  REQUIRE(port.add_gid(other_address(3), &index) == 0);
  CHECK(index == 7);
  REQUIRE(port.remove_gid(two) == 0);
  CHECK(port.gids()[4].is_zero());
  CHECK(port.gids()[5].is_zero());
  CHECK(!port.owns(two));
  REQUIRE(port.add_gid(other_address(4), &index) == 0);
  CHECK(index == 5);
  for (std::uint8_t i = 5; i < 9; ++i) REQUIRE(port.add_gid(other_address(i), &index) == 0);
  CHECK(port.add_gid(other_address(9), &index) == ENOSPC);
  // As many addresses as the configuration has find room.
  for (std::uint8_t i = 3; i < 40; ++i) config.gids.push_back(other_address(i));
  CHECK(nic::Port(config).gids().size() == 2 * 40);
}

TEST_CASE("an empty GID entry is no source, and no packet is for it") {
  VirtualNetwork net;
  ibv_ah_attr attr = {};
  attr.is_global = 1;
  attr.port_num = 1;
  attr.grh.sgid_index = 3;
  std::memcpy(attr.grh.dgid.raw, net.b.gid.bytes.data(), 16);
  nic::Ah* ah = nullptr;
  CHECK(net.a.nic->ahs().create(net.a.pd, &attr, &ah) == EINVAL);
  std::uint32_t index = 0;
  for (std::uint8_t i = 1; i <= 3; ++i) REQUIRE(net.a.nic->ports().add_gid(1, other_address(i), &index) == 0);
  CHECK(net.a.nic->ahs().create(net.a.pd, &attr, &ah) == 0);
}

TEST_CASE("a queue pair whose GID is removed is cut off; others are not") {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  std::uint32_t index = 0;
  REQUIRE(net.a.nic->ports().add_gid(1, other_address(1), &index) == 0);
  REQUIRE(net.a.nic->ports().remove_gid(1, other_address(1)) == 0);
  REQUIRE(post_recv(net.b, qb, 1, {}) == 0);
  REQUIRE(post_send(net.a, qa, {}) == 0);
  net.run();
  CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);

  REQUIRE(net.a.nic->ports().remove_gid(1, net.a.gid) == 0);
  net.trace.clear();
  REQUIRE(post_send(net.a, qa, {}) == 0);
  net.run();
  CHECK(net.trace.empty());
  CHECK(net.a.poll().at(0).status == IBV_WC_RETRY_EXC_ERR);
}

TEST_CASE("a smaller MTU is for datagrams and for connections to come") {
  VirtualNetwork net;
  nic::Qp* rc_a = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* rc_b = net.b.create_qp(IBV_QPT_RC);
  net.connect(rc_a, rc_b, {.mtu = IBV_MTU_4096});
  nic::Qp* ud_a = net.a.create_qp(IBV_QPT_UD);
  net.to_rts_ud(net.a, ud_a, 1);
  CHECK(net.a.nic->ports().set_mtu(1, static_cast<ibv_mtu>(9)) == EINVAL);
  CHECK(net.a.nic->ports().set_mtu(2, IBV_MTU_512) == EINVAL);
  REQUIRE(net.a.nic->ports().set_mtu(1, IBV_MTU_512) == 0);
  CHECK(net.a.events.empty());
  ibv_port_attr attr;
  REQUIRE(net.a.nic->ports().query(1, &attr) == 0);
  CHECK(attr.active_mtu == IBV_MTU_512);
  CHECK(attr.max_mtu == IBV_MTU_4096);

  auto bytes = pattern(4096);
  std::vector<std::uint8_t> there(4096);
  nic::Mr* local = net.a.reg(bytes.data(), bytes.size());
  nic::Mr* remote = net.b.reg(there.data(), there.size());
  REQUIRE(post_send(net.a, rc_a,
                    {.opcode = IBV_WR_RDMA_WRITE,
                     .sges = {sge_of(bytes.data(), 4096, local)},
                     .remote_addr = reinterpret_cast<std::uint64_t>(there.data()),
                     .rkey = remote->rkey()}) == 0);
  net.run();
  CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
  CHECK(net.trace.at(0).find("RC RDMA WRITE Only") != std::string::npos);
  CHECK(there == bytes);

  ibv_ah_attr to = {};
  to.is_global = 1;
  to.port_num = 1;
  std::memcpy(to.grh.dgid.raw, net.b.gid.bytes.data(), 16);
  nic::Ah* ah = nullptr;
  REQUIRE(net.a.nic->ahs().create(net.a.pd, &to, &ah) == 0);
  for (const std::uint32_t size : {512u, 513u}) {
    ibv_sge sge = sge_of(bytes.data(), size, local);
    ibv_send_wr wr = {};
    ibv_send_wr* bad = nullptr;
    wr.opcode = IBV_WR_SEND;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.ud.ah = &ah->ibv;
    wr.wr.ud.remote_qpn = 17;
    REQUIRE(net.a.nic->data_path().post_send(ud_a, &wr, &bad) == 0);
    net.run();
    CHECK(net.a.poll().at(0).status == (size == 512 ? IBV_WC_SUCCESS : IBV_WC_LOC_LEN_ERR));
  }
}

TEST_CASE("a device that fails flushes everything and says so") {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  nic::Qp* unused = net.a.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  REQUIRE(post_recv(net.a, qa, 4, {}) == 0);
  REQUIRE(post_send(net.a, qa, {.wr_id = 5}) == 0);
  net.a.nic->fail();
  CHECK(net.a.saw(IBV_EVENT_DEVICE_FATAL));
  CHECK(qa->state == IBV_QPS_ERR);
  CHECK(unused->state == IBV_QPS_RESET);
  const auto completions = net.a.poll();
  CHECK(completions.size() == 2);
  for (const ibv_wc& wc : completions) CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
}
