// Receive work queues, and queue pairs that spread frames over them.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "test/nic/raw/raw_station.h"
#include "wire/bytes.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

// The key and the results of the published verification of the Toeplitz hash for receive side scaling.
constexpr std::array<std::uint8_t, 40> kKey{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                            0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                            0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                            0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

ibv_rx_hash_conf hash_by(std::uint64_t fields) {
  static std::array<std::uint8_t, 40> key = kKey;
  return {.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
          .rx_hash_key_len = static_cast<std::uint8_t>(key.size()),
          .rx_hash_key = key.data(),
          .rx_hash_fields_mask = fields};
}

nic::Spread spread_by(std::uint64_t fields) {
  nic::Spread spread;
  REQUIRE(nic::read_hash(hash_by(fields), &spread) == 0);
  return spread;
}

Bytes udp_frame(std::uint8_t last_of_source) {
  Bytes frame(14 + 20 + 8 + 22);
  frame[0] = 1;
  frame[12] = 8;
  frame[14] = 0x45;
  frame[17] = static_cast<std::uint8_t>(frame.size() - 14);
  frame[23] = 17;
  frame[26] = 10;
  frame[29] = last_of_source;
  frame[30] = 10;
  frame[33] = 99;
  return frame;
}

struct QueueStation : RawStation {
  QueueStation() { by_flows = true; }

  nic::Qp* create_wq(std::uint32_t max_wr = 8) {
    ibv_wq_init_attr attr{};
    attr.max_wr = max_wr;
    attr.max_sge = 1;
    attr.wq_type = IBV_WQT_RQ;
    nic::Qp* made = nullptr;
    REQUIRE(nic->receive_queues().create({.pd = pd, .send_cq = cq, .recv_cq = cq}, &attr, this, &made) == 0);
    return made;
  }
  int to(nic::Qp* queue, ibv_wq_state state) {
    ibv_wq_attr attr{};
    attr.attr_mask = IBV_WQ_ATTR_STATE;
    attr.wq_state = state;
    return nic->receive_queues().modify(queue, attr);
  }
  int create_spreader(nic::IndirectionTable* table, nic::Qp** qp) {
    nic::Spread spread = spread_by(IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4);
    spread.table = table;
    ibv_qp_init_attr init{};
    init.qp_type = IBV_QPT_RAW_PACKET;
    return nic->qps().create({.pd = pd, .spread = &spread}, &init, this, qp);
  }
  nic::Flow* take_all(nic::Qp* qp) {
    ibv_flow_attr attr{};
    attr.type = IBV_FLOW_ATTR_ALL_DEFAULT;
    attr.port = 1;
    nic::Flow* flow = nullptr;
    REQUIRE(nic->flows().create(qp, attr, &flow) == 0);
    return flow;
  }
};

}  // namespace

TEST_CASE("spreading: the hash is that of the published verification") {
  nic::FrameFields fields{};
  nic::HeaderFields& outer = fields.outer;
  const auto set = [](auto& to, std::initializer_list<std::uint8_t> bytes) { std::ranges::copy(bytes, to.begin()); };
  outer.ip_version = 4;
  set(outer.src_ip, {66, 9, 149, 187});
  set(outer.dst_ip, {161, 142, 100, 80});
  outer.transport = 6;
  outer.src_port = htobe16(2794);
  outer.dst_port = htobe16(1766);
  const auto ipv4 = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4;
  const auto ports = IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP;
  CHECK(nic::hash_of(spread_by(ipv4), fields) == 0x323e8fc2);
  CHECK(nic::hash_of(spread_by(ipv4 | ports), fields) == 0x51ccc178);
  CHECK(nic::hash_of(spread_by(ipv4 | IBV_RX_HASH_SRC_PORT_UDP), fields) == 0x323e8fc2);
  CHECK(nic::hash_of(spread_by(0), fields) == 0);
  CHECK(nic::hash_of(spread_by(ipv4 | IBV_RX_HASH_INNER), fields) == 0);
  outer.ip_version = 6;
  set(outer.src_ip, {0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7});
  set(outer.dst_ip, {0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x00, 0x03, 0, 0, 0, 0, 0, 0, 0, 1});
  const auto ipv6 = IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6;
  CHECK(nic::hash_of(spread_by(ipv6), fields) == 0x2cc18cd5);
  CHECK(nic::hash_of(spread_by(ipv6 | ports), fields) == 0x40207d3d);
  CHECK(nic::hash_of(spread_by(ipv4), fields) == 0);
  fields.inner = outer;
  CHECK(nic::hash_of(spread_by(ipv6 | IBV_RX_HASH_INNER), fields) == 0x2cc18cd5);
}

TEST_CASE("spreading: frames of one address stay in one queue, and all queues get some") {
  QueueStation station;
  std::vector<nic::Qp*> queues;
  for (int i = 0; i < 4; ++i) queues.push_back(station.create_wq(128));
  nic::IndirectionTable table;
  REQUIRE(station.nic->receive_queues().make_table(queues, &table) == 0);
  nic::Qp* qp = nullptr;
  REQUIRE(station.create_spreader(&table, &qp) == 0);
  nic::Flow* flow = station.take_all(qp);
  // In RESET they receive nothing.
  station.nic->raw_packets().receive(1, udp_frame(1), false, 0);
  CHECK(station.nic->frame_counters().raw_not_receiving == 1);
  for (nic::Qp* queue : queues) {
    REQUIRE(station.to(queue, IBV_WQS_RDY) == 0);
    for (int i = 0; i < 128; ++i) station.post_recv(queue, {station.piece(0, 8000)});
  }
  std::map<std::uint32_t, int> counts;
  for (int address = 0; address < 64; ++address) {
    station.nic->raw_packets().receive(1, udp_frame(static_cast<std::uint8_t>(address)), false, 0);
    station.nic->raw_packets().receive(1, udp_frame(static_cast<std::uint8_t>(address)), false, 0);
    const std::vector<ibv_wc> got = completions(station);
    REQUIRE(got.size() == 2);
    CHECK(got[0].qp_num == got[1].qp_num);
    counts[got[0].qp_num] += 2;
  }
  CHECK(counts.size() == 4);
  for (const nic::Qp* queue : queues) CHECK(counts[queue->number] > 8);

  // Each part is held by the next one.
  CHECK(station.nic->receive_queues().destroy(queues[0]) == EBUSY);
  CHECK(station.nic->receive_queues().release_table(&table) == EBUSY);
  CHECK(station.nic->qps().destroy(qp) == EBUSY);
  station.nic->flows().destroy(flow);
  REQUIRE(station.nic->qps().destroy(qp) == 0);
  REQUIRE(station.nic->receive_queues().release_table(&table) == 0);
  for (nic::Qp* queue : queues) CHECK(station.nic->receive_queues().destroy(queue) == 0);
  CHECK_FALSE(station.in_use);
}

TEST_CASE("receive queues: states, what a failure does, and what is refused") {
  QueueStation station;
  nic::Qp* queue = station.create_wq();
  CHECK(station.to(queue, IBV_WQS_UNKNOWN) == EINVAL);
  CHECK(station.to(queue, IBV_WQS_RDY) == 0);
  CHECK(nic::wq_state_of(*queue) == IBV_WQS_RDY);
  CHECK(station.to(queue, IBV_WQS_RDY) == 0);
  CHECK(station.to(queue, IBV_WQS_ERR) == 0);
  CHECK(station.to(queue, IBV_WQS_RDY) == EINVAL);
  CHECK(station.to(queue, IBV_WQS_RESET) == 0);
  ibv_wq_attr attr{};
  attr.attr_mask = IBV_WQ_ATTR_CURR_STATE;
  attr.curr_wq_state = IBV_WQS_RDY;
  CHECK(station.nic->receive_queues().modify(queue, attr) == EINVAL);
  attr.attr_mask = IBV_WQ_ATTR_FLAGS;
  CHECK(station.nic->receive_queues().modify(queue, attr) == EOPNOTSUPP);
  attr.attr_mask = IBV_WQ_ATTR_RESERVED;
  CHECK(station.nic->receive_queues().modify(queue, attr) == EINVAL);

  // A request without room for the frame ends the queue.
  nic::IndirectionTable table;
  nic::Qp* const queues[] = {queue};
  REQUIRE(station.nic->receive_queues().make_table(queues, &table) == 0);
  nic::Qp* qp = nullptr;
  REQUIRE(station.create_spreader(&table, &qp) == 0);
  station.take_all(qp);
  REQUIRE(station.to(queue, IBV_WQS_RDY) == 0);
  station.post_recv(queue, {station.piece(0, 10)});
  station.nic->raw_packets().receive(1, udp_frame(1), false, 0);
  CHECK(completions(station).at(0).status == IBV_WC_LOC_LEN_ERR);
  CHECK(nic::wq_state_of(*queue) == IBV_WQS_ERR);
  CHECK(station.events == std::vector{IBV_EVENT_WQ_FATAL});
  // The queue pair has no states of its own, and survives a failure of the device.
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_INIT;
  CHECK(station.nic->qps().modify(qp, &to, IBV_QP_STATE) == EOPNOTSUPP);
  station.nic->fail();
  station.nic->raw_packets().receive(1, udp_frame(1), false, 0);

  const nic::QpParts parts{.pd = station.pd, .send_cq = station.cq, .recv_cq = station.cq};
  const auto create = [&](ibv_wq_init_attr init) {
    nic::Qp* made = nullptr;
    return station.nic->receive_queues().create(parts, &init, &station, &made);
  };
  ibv_wq_init_attr good{};
  good.wq_type = IBV_WQT_RQ;
  good.max_wr = good.max_sge = 1;
  ibv_wq_init_attr bad = good;
  bad.max_wr = 0;
  CHECK(create(bad) == EINVAL);
  bad.max_wr = 1u << 30;
  CHECK(create(bad) == EINVAL);
  bad = good;
  bad.wq_type = static_cast<ibv_wq_type>(1);
  CHECK(create(bad) == EINVAL);
  bad = good;
  bad.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
  bad.create_flags = IBV_WQ_FLAGS_CVLAN_STRIPPING;
  CHECK(create(bad) == EOPNOTSUPP);
  bad.comp_mask = IBV_WQ_INIT_ATTR_RESERVED;
  CHECK(create(bad) == EINVAL);
  nic::IndirectionTable other;
  nic::Qp* const three[] = {queue, queue, queue};
  CHECK(station.nic->receive_queues().make_table(three, &other) == EINVAL);
  CHECK(station.nic->receive_queues().make_table({}, &other) == EINVAL);
  CHECK(station.nic->receive_queues().make_table(std::vector<nic::Qp*>(2048, queue), &other) == EINVAL);
  nic::Spread spread;
  ibv_rx_hash_conf conf = hash_by(IBV_RX_HASH_IPSEC_SPI);
  CHECK(nic::read_hash(conf, &spread) == EOPNOTSUPP);
  conf = hash_by(IBV_RX_HASH_SRC_IPV4);
  conf.rx_hash_function = 2;
  CHECK(nic::read_hash(conf, &spread) == EOPNOTSUPP);
  conf = hash_by(IBV_RX_HASH_SRC_IPV4);
  conf.rx_hash_key_len = 39;
  CHECK(nic::read_hash(conf, &spread) == EINVAL);
}
