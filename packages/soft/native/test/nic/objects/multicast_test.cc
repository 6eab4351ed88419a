// Multicast: which queue pairs get a datagram to a group.
#include "nic/objects/multicast.h"

#include <doctest/doctest.h>

#include <cerrno>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr std::uint32_t kQkey = 77;

wire::Gid ipv4_group(std::uint8_t last) {
  const std::uint8_t address[4] = {239, 0, 0, last};
  return wire::Gid::from_ipv4(address);
}

nic::Ah* address_of(Station& from, const wire::Gid& group) {
  ibv_ah_attr attr{};
  attr.is_global = 1;
  attr.port_num = 1;
  std::memcpy(attr.grh.dgid.raw, group.bytes.data(), 16);
  nic::Ah* ah = nullptr;
  REQUIRE(from.nic->ahs().create(from.pd, &attr, &ah) == 0);
  return ah;
}

void send(Station& from, nic::Qp* qp, nic::Ah* ah, std::uint32_t qpn, const ibv_sge& sge) {
  ibv_sge list = sge;
  ibv_send_wr wr{}, *bad = nullptr;
  wr.opcode = IBV_WR_SEND;
  wr.sg_list = &list;
  wr.num_sge = 1;
  wr.wr.ud.ah = &ah->ibv;
  wr.wr.ud.remote_qpn = qpn;
  wr.wr.ud.remote_qkey = kQkey;
  REQUIRE(from.nic->data_path().post_send(qp, &wr, &bad) == 0);
}

}  // namespace

TEST_CASE("a datagram to a group reaches the members that may receive it, and no other queue pair") {
  VirtualNetwork net;
  std::vector<std::uint8_t> data = pattern(200), memory(4096);
  nic::Mr* from = net.a.reg(data.data(), data.size());
  nic::Mr* to = net.b.reg(memory.data(), memory.size());
  nic::Qp* sender = net.a.create_qp(IBV_QPT_UD);
  VirtualNetwork::to_rts_ud(net.a, sender, kQkey);
  nic::Qp* members[4];
  bool first = false;
  for (int i = 0; i < 4; ++i) {
    members[i] = net.b.create_qp(IBV_QPT_UD);
    if (i < 3) VirtualNetwork::to_rts_ud(net.b, members[i], i == 2 ? kQkey + 1 : kQkey);  // the last stays in RESET
    if (i == 1) continue;
    CHECK(net.b.nic->multicast().attach(members[i], ipv4_group(1), &first) == 0);
    CHECK(first == (i == 0));
  }
  for (int i = 0; i < 3; ++i) {
    REQUIRE(post_recv(net.b, members[i], static_cast<std::uint64_t>(i), {sge_of(memory.data() + i * 1024, 1024, to)}) ==
            0);
  }
  const ibv_sge sge = sge_of(data.data(), 200, from);
  nic::Ah* ah = address_of(net.a, ipv4_group(1));
  send(net.a, sender, ah, nic::kMulticastQpn, sge);
  net.run();
  std::vector<ibv_wc> done = net.b.poll();
  REQUIRE(done.size() == 1);
  CHECK(done[0].wr_id == 0);
  CHECK(std::memcmp(memory.data() + 40, data.data(), data.size()) == 0);
  CHECK(std::memcmp(memory.data() + 36, ipv4_group(1).ipv4(), 4) == 0);

  // Not to another group, nor to a member's own number at the group's address, nor to the group's number elsewhere.
  REQUIRE(post_recv(net.b, members[0], 5, {sge_of(memory.data(), 1024, to)}) == 0);
  send(net.a, sender, address_of(net.a, ipv4_group(2)), nic::kMulticastQpn, sge);
  send(net.a, sender, ah, members[0]->number, sge);
  send(net.a, sender, address_of(net.a, net.b.gid), nic::kMulticastQpn, sge);
  net.run();
  CHECK(net.b.poll().empty());

  bool last = false;
  CHECK(net.b.nic->qps().destroy(members[0]) == EBUSY);
  CHECK(net.b.nic->multicast().detach(members[0], ipv4_group(1), &last) == 0);
  CHECK_FALSE(last);
  CHECK(net.b.nic->multicast().detach(members[2], ipv4_group(1), &last) == 0);
  CHECK(net.b.nic->multicast().detach(members[3], ipv4_group(1), &last) == 0);
  CHECK(last);
  CHECK(net.b.nic->multicast().detach(members[3], ipv4_group(1), &last) == EINVAL);
  CHECK(net.b.nic->qps().destroy(members[0]) == 0);
}

TEST_CASE("a member of two groups with one IPv4 address gets one copy") {
  VirtualNetwork net;
  nic::Qp* both = net.b.create_qp(IBV_QPT_UD);
  nic::Qp* one = net.b.create_qp(IBV_QPT_UD);
  wire::Gid same;  // 239.0.0.1 in IPv4 packets
  same.bytes = {0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 1};
  REQUIRE(nic::group_on_wire(same, true) == ipv4_group(1));
  nic::MulticastTable& table = net.b.nic->multicast();
  bool first = false;
  for (const wire::Gid& group : {ipv4_group(1), same, ipv4_group(2)}) REQUIRE(table.attach(both, group, &first) == 0);
  REQUIRE(table.attach(one, same, &first) == 0);
  std::vector<nic::Qp*> visited;
  table.for_each_member(ipv4_group(1), [&](nic::Qp& member) { visited.push_back(&member); });
  CHECK(visited == std::vector<nic::Qp*>{both, one});
}

TEST_CASE("groups of IPv6 form have a name in IPv4 packets, and not the reverse") {
  wire::Gid group;
  group.bytes = {0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 1, 2, 3};
  const std::uint8_t expected[4] = {239, 1, 2, 3};
  CHECK(nic::group_on_wire(group, true) == wire::Gid::from_ipv4(expected));
  CHECK(nic::group_on_wire(group, false) == group);
  CHECK(nic::group_on_wire(ipv4_group(9), true) == ipv4_group(9));
  VirtualNetwork net(true);  // IPv6 addresses
  ibv_ah_attr attr{};
  attr.is_global = 1;
  attr.port_num = 1;
  std::memcpy(attr.grh.dgid.raw, ipv4_group(1).bytes.data(), 16);
  nic::Ah* ah = nullptr;
  CHECK(net.a.nic->ahs().create(net.a.pd, &attr, &ah) == EINVAL);
}
