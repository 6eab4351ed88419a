// The flows of a NIC that steers raw packets itself: what they match, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <random>
#include <set>
#include <string>

#include "test/nic/raw/raw_station.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

// The attributes of a flow with its specifications behind them.
class Request {
 public:
  Request() : bytes_(sizeof(ibv_flow_attr)) {
    attr().type = IBV_FLOW_ATTR_NORMAL;
    attr().port = 1;
  }
  ibv_flow_attr& attr() { return *reinterpret_cast<ibv_flow_attr*>(bytes_.data()); }

  template <typename Spec>
  Request& add(Spec spec, std::uint32_t type) {
    constexpr auto kSize = static_cast<std::uint16_t>(sizeof spec);
    auto* head = reinterpret_cast<std::uint8_t*>(&spec);
    std::memcpy(head, &type, sizeof type);
    std::memcpy(head + sizeof type, &kSize, sizeof kSize);
    return add_bytes(&spec, sizeof spec);
  }
  Request& add_bytes(const void* bytes, std::size_t size) {
    const auto* from = static_cast<const std::uint8_t*>(bytes);
    bytes_.insert(bytes_.end(), from, from + size);
    ++attr().num_of_specs;
    return *this;
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

struct FlowStation : RawStation {
  FlowStation() { by_flows = true; }

  int create(nic::Qp* qp, Request request, nic::Flow** flow = nullptr) {
    nic::Flow* made = nullptr;
    const int error = nic->flows().create(qp, request.attr(), &made);
    if (flow != nullptr) *flow = made;
    return error;
  }
  // Whether the frame reaches the queue pair.
  bool reaches(nic::Qp* qp, const Bytes& frame, bool looped = false) {
    if (waiting_.insert(qp->number).second) post_recv(qp, {piece(0, 8000)});
    nic->raw_packets().receive(1, frame, looped, 0);
    const std::vector<ibv_wc> got = completions(*this);
    for (const ibv_wc& wc : got) waiting_.erase(wc.qp_num);
    return got.size() == 1 && got[0].qp_num == qp->number;
  }

 private:
  std::set<std::uint32_t> waiting_;  // queue pairs with a receive request
};

Bytes bytes_of(const std::string& hex) {
  Bytes result;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    result.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return result;
}

const std::string kMacs = "0150561920a7248a07a528c8";
// 1.1.1.1:1234 to 2.2.2.2:5678 with four bytes of data.
const std::string kUdpPacket =
    "4500002000004000401100000101010102020202"
    "04d2162e000c000001020304";
// a0a1::…:1234 to b0b1::…:5678, flow label 0xabcde, class 0x12, hop limit 64.
const std::string kAddresses6 = "a0a1000000000000a2a3a4a5a6a7a8a9b0b1000000000000b2b3b4b5b6b7b8b9";
const std::string kTcp = "04d2162e00000001000000025018020000000000616263";
const std::string kTcpPacket6 = "612abcde00170640" + kAddresses6 + kTcp;

template <typename Spec>
Spec all_of() {
  Spec spec{};
  std::memset(&spec.mask, 0xff, sizeof spec.mask);
  return spec;
}

ibv_flow_spec_ipv4_ext ipv4_spec() {
  auto spec = all_of<ibv_flow_spec_ipv4_ext>();
  spec.mask.flags = 0;
  std::memset(&spec.val.src_ip, 1, 4);
  std::memset(&spec.val.dst_ip, 2, 4);
  spec.val.proto = 17;
  spec.val.ttl = 64;
  return spec;
}

ibv_flow_spec_tcp_udp ports_spec() {
  auto spec = all_of<ibv_flow_spec_tcp_udp>();
  spec.val.src_port = htobe16(1234);
  spec.val.dst_port = htobe16(5678);
  return spec;
}

ibv_flow_spec_ipv6 ipv6_spec() {
  auto spec = all_of<ibv_flow_spec_ipv6>();
  const Bytes addresses = bytes_of(kAddresses6);
  std::copy_n(addresses.begin(), 16, spec.val.src_ip);
  std::copy_n(addresses.begin() + 16, 16, spec.val.dst_ip);
  spec.mask.flow_label = htobe32(0xfffff);
  spec.val.flow_label = htobe32(0xabcde);
  spec.val.next_hdr = 6;
  spec.val.traffic_class = 0x12;
  spec.val.hop_limit = 64;
  return spec;
}

ibv_flow_spec_eth eth_spec() {
  ibv_flow_spec_eth spec{};
  std::memset(spec.mask.dst_mac, 0xff, 6);
  const Bytes macs = bytes_of(kMacs);
  std::copy_n(macs.begin(), 6, spec.val.dst_mac);
  spec.mask.ether_type = 0xffff;
  spec.val.ether_type = htobe16(0x0800);
  return spec;
}

}  // namespace

TEST_CASE("flows: each field of the headers decides") {
  const Bytes udp = bytes_of(kMacs + "0800" + kUdpPacket), tcp6 = bytes_of(kMacs + "86dd" + kTcpPacket6);
  const Bytes tagged = bytes_of(kMacs + "8100ac0c0800" + kUdpPacket);
  const auto check = [](const Request& request, const Bytes& frame, std::initializer_list<std::size_t> matched) {
    FlowStation station;
    nic::Qp* qp = station.create_qp();
    REQUIRE(station.create(qp, request) == 0);
    CHECK(station.reaches(qp, frame));
    for (const std::size_t at : matched) {
      CAPTURE(at);
      Bytes other = frame;
      other[at] ^= 1;
      CHECK_FALSE(station.reaches(qp, other));
    }
  };
  check(Request().add(eth_spec(), IBV_FLOW_SPEC_ETH), udp, {0, 5, 12, 13});
  check(Request().add(eth_spec(), IBV_FLOW_SPEC_ETH), tagged, {0, 5, 12, 16, 17});
  check(Request().add(ipv4_spec(), IBV_FLOW_SPEC_IPV4_EXT), udp, {13, 14, 15, 22, 23, 26, 29, 30, 33});
  ibv_flow_spec_ipv4 plain{};
  plain.mask.dst_ip = 0xffffffff;
  std::memset(&plain.val.dst_ip, 2, 4);
  check(Request().add(plain, IBV_FLOW_SPEC_IPV4), udp, {30, 33});
  check(Request().add(ports_spec(), IBV_FLOW_SPEC_UDP), udp, {23, 34, 35, 36, 37});
  check(Request().add(ipv6_spec(), IBV_FLOW_SPEC_IPV6), tcp6, {13, 14, 15, 17, 20, 21, 22, 37, 38, 53});
  check(Request().add(ports_spec(), IBV_FLOW_SPEC_TCP), tcp6, {20, 54, 55, 56, 57});
  ibv_flow_spec_eth vlan{};
  vlan.mask.vlan_tag = htobe16(0x0fff);
  vlan.val.vlan_tag = htobe16(0x0c0c);
  check(Request().add(vlan, IBV_FLOW_SPEC_ETH), tagged, {12, 14 + 1});
  FlowStation station;
  nic::Qp* qp = station.create_qp();
  REQUIRE(station.create(qp, Request().add(vlan, IBV_FLOW_SPEC_ETH)) == 0);
  CHECK_FALSE(station.reaches(qp, udp));
  // The length in the network header is not looked at.
  FlowStation other;
  nic::Qp* one = other.create_qp();
  REQUIRE(other.create(one, Request().add(ports_spec(), IBV_FLOW_SPEC_UDP)) == 0);
  REQUIRE(other.create(one, Request().add(ports_spec(), IBV_FLOW_SPEC_TCP)) == 0);
  for (const Bytes& frame : {udp, tcp6}) {
    Bytes longer = frame;
    longer[frame == udp ? 16 : 18] = 0x10;
    CHECK(other.reaches(one, longer));
  }
  // A later fragment has no ports.
  REQUIRE(station.create(qp, Request().add(ports_spec(), IBV_FLOW_SPEC_UDP)) == 0);
  Bytes fragment = udp;
  fragment[21] = 1;
  CHECK_FALSE(station.reaches(qp, fragment));
}

TEST_CASE("flows: in a VXLAN tunnel the network and the inner headers decide") {
  const std::string inner = "0250561920a7248a07a528c80800" + kUdpPacket;
  const std::string outer =
      "45000052000040004011000003030303040404040a0012b5003e0000"
      "0800000076adf100" +
      inner;
  const Bytes frame = bytes_of(kMacs + "0800" + outer);
  FlowStation station;
  nic::Qp* qp = station.create_qp();
  ibv_flow_spec_tunnel tunnel{};
  tunnel.mask.tunnel_id = 0xffffffff;
  tunnel.val.tunnel_id = htobe32(0x76adf1);
  REQUIRE(station.create(qp, Request()
                                 .add(tunnel, IBV_FLOW_SPEC_VXLAN_TUNNEL)
                                 .add(ipv4_spec(), IBV_FLOW_SPEC_INNER | IBV_FLOW_SPEC_IPV4_EXT)
                                 .add(ports_spec(), IBV_FLOW_SPEC_INNER | IBV_FLOW_SPEC_UDP)) == 0);
  CHECK(station.reaches(qp, frame));
  constexpr std::size_t kVxlan = 14 + 20 + 8, kInnerIp = kVxlan + 8 + 14;
  for (const std::size_t at : {std::size_t{37}, kVxlan + 4, kVxlan + 6, kInnerIp + 12, kInnerIp + 22}) {
    CAPTURE(at);
    Bytes other = frame;
    other[at] ^= 1;
    CHECK_FALSE(station.reaches(qp, other));
  }
  Bytes without = frame;
  without[kVxlan] = 0;  // no VNI
  CHECK_FALSE(station.reaches(qp, without));
  CHECK_FALSE(station.reaches(qp, bytes_of(kMacs + "0800" + kUdpPacket)));
}

TEST_CASE("flows: priority, age, the default flows, and a flow that lets the frame go on") {
  const Bytes group = bytes_of(kMacs + "0800" + kUdpPacket);
  Bytes single = group;
  single[0] = 2;
  FlowStation station;
  nic::Qp *low = station.create_qp(), *high = station.create_qp(), *rest = station.create_qp();
  Request all;
  all.attr().type = IBV_FLOW_ATTR_ALL_DEFAULT;
  REQUIRE(station.create(rest, all) == 0);
  CHECK(station.reaches(rest, group));
  Request multicast;
  multicast.attr().type = IBV_FLOW_ATTR_MC_DEFAULT;
  nic::Flow* groups = nullptr;
  REQUIRE(station.create(low, multicast, &groups) == 0);
  CHECK(station.reaches(low, group));
  CHECK(station.reaches(rest, single));
  station.nic->flows().destroy(groups);
  Request udp;
  udp.add(ports_spec(), IBV_FLOW_SPEC_UDP).attr().priority = 7;
  REQUIRE(station.create(low, udp) == 0);
  CHECK(station.reaches(low, group));
  Request ip;
  ip.add(ipv4_spec(), IBV_FLOW_SPEC_IPV4_EXT).attr().priority = 7;
  REQUIRE(station.create(high, ip) == 0);
  CHECK(station.reaches(low, group));  // the older one
  ip.attr().priority = 6;
  nic::Flow* first = nullptr;
  REQUIRE(station.create(high, ip, &first) == 0);
  CHECK(station.reaches(high, group));
  station.nic->flows().destroy(first);
  ip.attr().flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP;
  REQUIRE(station.create(high, ip) == 0);
  for (nic::Qp* qp : {low, high}) station.post_recv(qp, {station.piece(0, 8000)});
  station.nic->raw_packets().receive(1, group, false, 0);
  CHECK(completions(station).size() == 2);
}

TEST_CASE("flows: those with one match share it, and each queue pair gets one copy") {
  const Bytes frame = bytes_of(kMacs + "0800" + kUdpPacket);
  FlowStation station;
  nic::Qp *a = station.create_qp(), *b = station.create_qp();
  const Request request = Request().add(eth_spec(), IBV_FLOW_SPEC_ETH);
  nic::Flow *of_a = nullptr, *again = nullptr;
  REQUIRE(station.create(a, request, &of_a) == 0);
  REQUIRE(station.create(a, request, &again) == 0);
  REQUIRE(station.create(b, request) == 0);
  std::vector<nic::Qp*> receivers{a, b};
  const auto copies = [&] {
    for (nic::Qp* qp : receivers) station.post_recv(qp, {station.piece(0, 8000)});
    station.nic->raw_packets().receive(1, frame, false, 0);
    return completions(station).size();
  };
  CHECK(copies() == 2);
  station.nic->flows().destroy(of_a);
  CHECK(copies() == 2);
  CHECK(station.nic->qps().destroy(a) == EBUSY);
  station.nic->flows().destroy(again);
  CHECK(copies() == 1);
  CHECK(station.nic->qps().destroy(a) == 0);
  receivers = {b};
  // Another action for the same frames.
  ibv_flow_spec_action_tag tag{};
  tag.tag_id = 7;
  Request tagged = request;
  CHECK(station.create(b, tagged.add(tag, IBV_FLOW_SPEC_ACTION_TAG)) == EEXIST);
  Request dropping = request;
  dropping.add(ibv_flow_spec_action_drop{}, IBV_FLOW_SPEC_ACTION_DROP);
  CHECK(station.create(b, dropping) == EEXIST);
  dropping.attr().priority = 1;
  tagged.attr().priority = 1;
  REQUIRE(station.create(b, dropping) == 0);
  CHECK(copies() == 1);  // of the first, with priority 0
}

TEST_CASE("flows: a drop, the frames of the own port, and a queue pair at no port or in another state") {
  const Bytes frame = bytes_of(kMacs + "0800" + kUdpPacket);
  FlowStation station;
  CHECK_FALSE(station.in_use);
  nic::Qp* qp = station.create_qp();
  CHECK(station.in_use);
  Request drop = Request().add(ipv4_spec(), IBV_FLOW_SPEC_IPV4_EXT);
  drop.add(ibv_flow_spec_action_drop{}, IBV_FLOW_SPEC_ACTION_DROP);
  Request all;
  all.attr().type = IBV_FLOW_ATTR_ALL_DEFAULT;
  nic::Flow *dropping = nullptr, *taking = nullptr;
  REQUIRE(station.create(qp, all, &taking) == 0);
  REQUIRE(station.create(qp, drop, &dropping) == 0);
  CHECK_FALSE(station.reaches(qp, frame));
  station.nic->flows().destroy(dropping);
  CHECK(station.reaches(qp, frame));
  CHECK(station.reaches(qp, frame, true));
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RESET;
  REQUIRE(station.nic->qps().modify(qp, &attr, IBV_QP_STATE) == 0);
  station.nic->raw_packets().receive(1, frame, false, 0);
  CHECK(station.nic->frame_counters().raw_not_receiving == 1);
  station.nic->flows().destroy(taking);
  REQUIRE(station.nic->qps().destroy(qp) == 0);
  CHECK_FALSE(station.in_use);
  station.nic->raw_packets().receive(1, frame, false, 0);
}

TEST_CASE("flows: what is refused, and why") {
  FlowStation station;
  nic::Qp* qp = station.create_qp();
  const auto refused = [&](Request request, int error, nic::Reason reason) {
    CHECK(station.create(qp, std::move(request)) == error);
    const nic::ReasonEvent* event = station.nic->reasons().find_last([](const auto&) { return true; });
    REQUIRE(event != nullptr);
    CHECK(event->why.reason == reason);
    CHECK(std::string(nic::call_of(*event)) == "ibv_create_flow");
    CHECK(qp->holders == 0);
  };
  const auto with = [](auto&& change) {
    Request request;
    change(request.attr());
    return request;
  };
  using nic::Reason;
  refused(with([](ibv_flow_attr& attr) { attr.comp_mask = 1; }), EINVAL, Reason::kFlowAttributes);
  refused(with([](ibv_flow_attr& attr) { attr.flags = 1; }), EINVAL, Reason::kFlowAttributes);
  refused(with([](ibv_flow_attr& attr) { attr.flags = 8; }), EINVAL, Reason::kFlowAttributes);
  refused(with([](ibv_flow_attr& attr) {
            attr.type = IBV_FLOW_ATTR_ALL_DEFAULT;
            attr.flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP;
          }),
          EINVAL, Reason::kFlowAttributes);
  refused(with([](ibv_flow_attr& attr) { attr.port = 0; }), EINVAL, Reason::kFlowPort);
  refused(with([](ibv_flow_attr& attr) { attr.port = 2; }), EINVAL, Reason::kFlowPort);
  refused(with([](ibv_flow_attr& attr) { attr.flags = IBV_FLOW_ATTR_FLAGS_EGRESS; }), EOPNOTSUPP, Reason::kFlowForm);
  refused(with([](ibv_flow_attr& attr) { attr.type = IBV_FLOW_ATTR_SNIFFER; }), EOPNOTSUPP, Reason::kFlowForm);
  Request many;
  for (int i = 0; i < 11; ++i) many.add(eth_spec(), IBV_FLOW_SPEC_ETH);
  refused(many, EINVAL, Reason::kFlowAttributes);
  Request defaults = Request().add(eth_spec(), IBV_FLOW_SPEC_ETH);
  defaults.attr().type = IBV_FLOW_ATTR_MC_DEFAULT;
  refused(defaults, EINVAL, Reason::kFlowAttributes);
  // Specifications of wrong sizes, of types that there are not, and that the device does not match.
  for (std::uint32_t type :
       {IBV_FLOW_SPEC_ETH, IBV_FLOW_SPEC_IPV4, IBV_FLOW_SPEC_IPV6, IBV_FLOW_SPEC_IPV4_EXT, IBV_FLOW_SPEC_TCP,
        IBV_FLOW_SPEC_UDP, IBV_FLOW_SPEC_VXLAN_TUNNEL, IBV_FLOW_SPEC_ACTION_TAG, IBV_FLOW_SPEC_ACTION_DROP}) {
    for (const std::uint16_t size : std::initializer_list<std::uint16_t>{0, 4, 7, 1000}) {
      struct {
        std::uint32_t type;
        std::uint16_t size;
        std::uint8_t rest[120];
      } wrong{.type = type, .size = size, .rest = {}};
      refused(Request().add_bytes(&wrong, sizeof wrong), EINVAL, Reason::kFlowSpecification);
    }
  }
  for (std::uint32_t type : {0x00u, 0x21u, 0x33u, 0x61u, 0x150u, 0x1004u, 0x1100u, 0xffffffffu}) {
    refused(Request().add(ibv_flow_spec_action_tag{}, type), EINVAL, Reason::kFlowSpecification);
  }
  refused(Request().add(ibv_flow_spec_esp{}, IBV_FLOW_SPEC_ESP), EOPNOTSUPP, Reason::kFlowSpecification);
  refused(Request().add(ibv_flow_spec_gre{}, IBV_FLOW_SPEC_GRE), EOPNOTSUPP, Reason::kFlowSpecification);
  refused(Request().add(ibv_flow_spec_mpls{}, IBV_FLOW_SPEC_MPLS), EOPNOTSUPP, Reason::kFlowSpecification);
  refused(Request().add(ibv_flow_spec_action_handle{}, IBV_FLOW_SPEC_ACTION_HANDLE), EOPNOTSUPP,
          Reason::kFlowSpecification);
  refused(Request().add(ibv_flow_spec_counter_action{}, IBV_FLOW_SPEC_ACTION_COUNT), EOPNOTSUPP,
          Reason::kFlowSpecification);
  refused(Request().add(all_of<ibv_flow_spec_ipv4_ext>(), IBV_FLOW_SPEC_IPV4_EXT), EOPNOTSUPP,
          Reason::kFlowSpecification);
  ibv_flow_spec_action_tag tag{};
  tag.tag_id = 1u << 24;
  refused(Request().add(tag, IBV_FLOW_SPEC_ACTION_TAG), EINVAL, Reason::kFlowTag);

  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_UD;
  init.cap = {4, 4, 1, 1, 0};
  nic::Qp* datagrams = nullptr;
  REQUIRE(station.nic->qps().create({.pd = station.pd, .send_cq = station.cq, .recv_cq = station.cq}, &init, &station,
                                    &datagrams) == 0);
  CHECK(station.create(datagrams, Request()) == EINVAL);
}

TEST_CASE("flows: whatever the frame is, nothing outside of it is read") {
  FlowStation station;
  nic::Qp* qp = station.create_qp();
  REQUIRE(station.create(qp, Request().add(ports_spec(), IBV_FLOW_SPEC_INNER | IBV_FLOW_SPEC_UDP)) == 0);
  std::mt19937 random(5);
  const std::string vxlan =
      "0800"
      "45000052000040004011000003030303040404040a0012b5003e0000"
      "0800000076adf100";
  const std::string starts[] = {"86dd60", "080045", "81000c0c0800", vxlan + "0250561920a7248a07a528c80800"};
  for (int i = 0; i < 40'000; ++i) {
    Bytes frame = bytes_of(kMacs + starts[i % 4]);
    const std::size_t size = random() % 160;
    while (frame.size() < size) frame.push_back(static_cast<std::uint8_t>(random() % (i % 8 < 4 ? 256 : 8)));
    if (i % 3 == 0) frame.resize(std::max<std::size_t>(14, random() % frame.size() + 1));
    if (i % 5 == 0) frame[random() % frame.size()] = static_cast<std::uint8_t>(random());
    frame.shrink_to_fit();
    (void)nic::fields_of(frame);
    station.nic->raw_packets().receive(1, frame, false, 0);
  }
  CHECK(completions(station).empty());
}
