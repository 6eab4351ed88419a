// Tunnelled RC traffic: the user's header on the wire, and which queue pair accepts which packets.
#include "wire/tunnel.h"

#include <array>

#include "test/nic/virtual_network.h"
#include "wire/icrc.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

using TunnelPointer = std::shared_ptr<wire::Tunnel>;

TunnelPointer udp_tunnel(std::uint16_t port, std::uint8_t header_size) {
  auto tunnel = std::make_shared<wire::Tunnel>();
  tunnel->type = wire::Tunnel::Type::kUdp;
  tunnel->udp_port = port;
  tunnel->header_size = header_size;
  for (std::uint8_t i = 0; i < header_size; ++i) tunnel->header[i] = static_cast<std::uint8_t>(0xa0 + i);
  return tunnel;
}

TunnelPointer ipv4_tunnel(std::uint8_t protocol, std::uint8_t header_size) {
  TunnelPointer tunnel = udp_tunnel(0, header_size);
  tunnel->type = wire::Tunnel::Type::kIpv4;
  tunnel->ip_protocol = protocol;
  return tunnel;
}

struct TunnelPair {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  std::vector<std::uint8_t> from = pattern(5000), to = std::vector<std::uint8_t>(5000);
  nic::Mr* source = net.a.reg(from.data(), from.size());
  nic::Mr* target = net.b.reg(to.data(), to.size());
  std::vector<std::vector<std::uint8_t>> sent_by_a;

  TunnelPair() {
    net.connect(qa, qb, {.retry_cnt = 1});
    net.a.cable.observe = [this](std::span<const std::uint8_t> frame) {
      sent_by_a.emplace_back(frame.begin(), frame.end());
    };
    net.b.cable.observe = nullptr;
  }

  static void use(Station& station, nic::Qp* qp, const TunnelPointer& tunnel) {
    station.nic->ports().open_tunnel(1, tunnel);
    station.nic->qps().set_tunnel(qp, true, tunnel);
    station.nic->qps().set_tunnel(qp, false, tunnel);
  }

  ibv_wc_status write(ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE) {
    REQUIRE(post_send(net.a, qa,
                      {.opcode = opcode,
                       .sges = {sge_of(from.data(), 5000, source)},
                       .remote_addr = reinterpret_cast<std::uint64_t>(to.data()),
                       .rkey = target->rkey()}) == 0);
    net.run();
    const auto completions = net.a.poll();
    REQUIRE(completions.size() == 1);
    return completions[0].status;
  }
};

}  // namespace

TEST_CASE("a UDP tunnel inserts its header behind the UDP header of every packet, and removes it again") {
  TunnelPair pair;
  pair.use(pair.net.a, pair.qa, udp_tunnel(4789, 8));
  pair.use(pair.net.b, pair.qb, udp_tunnel(4789, 8));
  CHECK(pair.write() == IBV_WC_SUCCESS);
  CHECK(pair.from == pair.to);
  CHECK(pair.write(IBV_WR_RDMA_READ) == IBV_WC_SUCCESS);
  REQUIRE(pair.sent_by_a.size() >= 6);
  for (const auto& frame : pair.sent_by_a) {
    const auto view = wire::parse_frame(frame);
    REQUIRE(view);
    CHECK(view->path().destination_port == 4789);
    CHECK(view->transport[0] == 0xa0);
    CHECK(view->transport[7] == 0xa7);
    CHECK(wire::check_icrc(frame, 28, 8));
    CHECK_FALSE(wire::check_icrc(frame));
  }
}

TEST_CASE("the ICRC of a tunnelled packet passes over the tunnel's header and nothing else") {
  TunnelPair pair;
  pair.use(pair.net.a, pair.qa, udp_tunnel(4789, 8));
  pair.use(pair.net.b, pair.qb, udp_tunnel(4789, 8));
  CHECK(pair.write() == IBV_WC_SUCCESS);
  std::vector<std::uint8_t> frame = pair.sent_by_a.at(0);
  for (std::size_t i = 28; i < 36; ++i) frame[i] ^= 0xff;
  CHECK(wire::check_icrc(frame, 28, 8));
  for (const std::size_t at : {12u, 19u, 20u, 23u, 36u, 48u, 100u}) {  // addresses, ports, BTH, payload
    CAPTURE(at);
    frame[at] ^= 1;
    CHECK_FALSE(wire::check_icrc(frame, 28, 8));
    frame[at] ^= 1;
  }
}

TEST_CASE("an IPv4 tunnel has no UDP header: protocol, header, BTH") {
  TunnelPair pair;
  pair.use(pair.net.a, pair.qa, ipv4_tunnel(47, 4));
  pair.use(pair.net.b, pair.qb, ipv4_tunnel(47, 4));
  CHECK(pair.write() == IBV_WC_SUCCESS);
  CHECK(pair.from == pair.to);
  const auto& frame = pair.sent_by_a.at(0);
  const auto view = wire::parse_ipv4_packet(frame, 47);
  REQUIRE(view);
  CHECK(view->transport[0] == 0xa0);
  CHECK(view->transport[3] == 0xa3);
  CHECK(view->transport[4] == wire::make_opcode(wire::Transport::kRc, wire::kWriteFirst));
  CHECK(wire::check_icrc(frame, 20, 4));
}

TEST_CASE("packets arrive only where both ends agree on the tunnel") {
  SUBCASE("only the sender has one") {
    TunnelPair pair;
    pair.use(pair.net.a, pair.qa, udp_tunnel(4789, 8));
    CHECK(pair.write() == IBV_WC_RETRY_EXC_ERR);
    CHECK(pair.to == std::vector<std::uint8_t>(5000));
  }
  SUBCASE("only the receiver has one") {
    TunnelPair pair;
    pair.use(pair.net.b, pair.qb, udp_tunnel(4789, 8));
    CHECK(pair.write() == IBV_WC_RETRY_EXC_ERR);
    CHECK(pair.to == std::vector<std::uint8_t>(5000));
  }
  SUBCASE("they differ in port, header size or kind") {
    for (const TunnelPointer& other : {udp_tunnel(4790, 8), udp_tunnel(4789, 12), ipv4_tunnel(47, 8)}) {
      TunnelPair pair;
      pair.use(pair.net.a, pair.qa, udp_tunnel(4789, 8));
      pair.use(pair.net.b, pair.qb, other);
      CHECK(pair.write() == IBV_WC_RETRY_EXC_ERR);
    }
  }
  SUBCASE("the port listens, but the queue pair does not use it") {
    TunnelPair pair;
    pair.use(pair.net.a, pair.qa, udp_tunnel(4789, 8));
    pair.net.b.nic->ports().open_tunnel(1, udp_tunnel(4789, 8));
    CHECK(pair.write() == IBV_WC_RETRY_EXC_ERR);
  }
  SUBCASE("the header's bytes may differ") {
    TunnelPair pair;
    const TunnelPointer tunnel = udp_tunnel(4789, 8);
    tunnel->header[3] = 0;
    pair.use(pair.net.a, pair.qa, udp_tunnel(4789, 8));
    pair.use(pair.net.b, pair.qb, tunnel);
    CHECK(pair.write() == IBV_WC_SUCCESS);
  }
}

TEST_CASE("the queue pair distinguishes several tunnels of one UDP port") {
  TunnelPair pair;
  pair.net.b.nic->ports().open_tunnel(1, udp_tunnel(4789, 8));
  pair.use(pair.net.a, pair.qa, udp_tunnel(4789, 16));
  pair.use(pair.net.b, pair.qb, udp_tunnel(4789, 16));
  CHECK(pair.write() == IBV_WC_SUCCESS);
}

TEST_CASE("a tunnel to the RoCE port itself works, beside plain queue pairs") {
  TunnelPair pair;
  pair.use(pair.net.a, pair.qa, udp_tunnel(4791, 8));
  pair.use(pair.net.b, pair.qb, udp_tunnel(4791, 8));
  CHECK(pair.write() == IBV_WC_SUCCESS);
  nic::Qp* plain_a = pair.net.a.create_qp(IBV_QPT_RC);
  nic::Qp* plain_b = pair.net.b.create_qp(IBV_QPT_RC);
  pair.net.connect(plain_a, plain_b);
  REQUIRE(post_send(pair.net.a, plain_a,
                    {.opcode = IBV_WR_RDMA_WRITE,
                     .sges = {sge_of(pair.from.data(), 8, pair.source)},
                     .remote_addr = reinterpret_cast<std::uint64_t>(pair.to.data()),
                     .rkey = pair.target->rkey()}) == 0);
  pair.net.run();
  CHECK(pair.net.a.poll().at(0).status == IBV_WC_SUCCESS);
}

TEST_CASE("a tunnel's source address stands in the outer header, and is nothing that the peer compares") {
  for (const auto type : {wire::Tunnel::Type::kPlain, wire::Tunnel::Type::kUdp, wire::Tunnel::Type::kIpv4}) {
    TunnelPair pair;
    const std::array<std::uint8_t, 4> address{192, 0, 2, 7};
    TunnelPointer tunnel = type == wire::Tunnel::Type::kPlain ? std::make_shared<wire::Tunnel>()
                           : type == wire::Tunnel::Type::kUdp ? udp_tunnel(4789, 8)
                                                              : ipv4_tunnel(47, 8);
    auto peer = std::make_shared<wire::Tunnel>(*tunnel);
    tunnel->source = wire::Gid::from_ipv4(address.data());
    pair.use(pair.net.a, pair.qa, tunnel);
    pair.use(pair.net.b, pair.qb, peer);
    CHECK(pair.write() == IBV_WC_SUCCESS);
    CHECK(std::equal(address.begin(), address.end(), pair.sent_by_a.at(0).begin() + 12));
  }
}

TEST_CASE("a closed tunnel lets nothing out and nothing in") {
  TunnelPair pair;
  const TunnelPointer tunnel = udp_tunnel(4789, 8);
  pair.use(pair.net.a, pair.qa, tunnel);
  pair.use(pair.net.b, pair.qb, udp_tunnel(4789, 8));
  tunnel->open = false;
  pair.net.a.nic->ports().close_tunnel(1, tunnel);
  CHECK(pair.write() == IBV_WC_RETRY_EXC_ERR);
  CHECK(pair.sent_by_a.empty());
}

TEST_CASE("truncated and foreign packets on a tunnel's port are dropped") {
  TunnelPair pair;
  pair.use(pair.net.a, pair.qa, udp_tunnel(4789, 8));
  pair.use(pair.net.b, pair.qb, udp_tunnel(4789, 8));
  CHECK(pair.write() == IBV_WC_SUCCESS);
  const std::uint64_t before = pair.net.b.nic->counters().dropped_pkts;
  const std::vector<std::uint8_t> frame = pair.sent_by_a.at(0);
  for (std::size_t size = 0; size < 60; ++size) {
    std::vector<std::uint8_t> cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
    if (size >= 28) {
      cut[2] = 0, cut[3] = static_cast<std::uint8_t>(size);
      cut[24] = 0, cut[25] = static_cast<std::uint8_t>(size - 20);
    }
    pair.net.b.nic->ingress().deliver(1, cut, pair.net.now);
  }
  CHECK(pair.net.b.nic->counters().dropped_pkts == before + 60);
}
