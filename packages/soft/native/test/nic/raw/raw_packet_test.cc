// Raw packets in the NIC alone, with a steering that records its frames.
#include <doctest/doctest.h>

#include <algorithm>

#include "test/nic/raw/raw_station.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

TEST_CASE("raw packets: queue pairs are served round robin, and each one's frames leave in order") {
  RawStation station;
  nic::Qp *a = station.create_qp(), *b = station.create_qp();
  for (std::uint32_t i = 0; i < 100; ++i) {
    REQUIRE(station.post_send(a, 60 + i, 0) == 0);
    REQUIRE(station.post_send(b, 600 + i, 0) == 0);
  }
  while (!station.nic->scheduler().pump(0)) {
  }
  REQUIRE(station.frames.sent.size() == 200);
  CHECK(station.wire.sent.empty());
  std::size_t next_a = 60, next_b = 600;
  for (std::size_t i = 0; i < 200; ++i)
    CHECK(station.frames.sent[i].size() == (station.senders[i] == a ? next_a++ : next_b++));
  const auto first_of_b = std::ranges::find(station.senders, b);
  CHECK(first_of_b - station.senders.begin() == 64);
}

TEST_CASE("raw packets: received frames are scattered; frames of hostile sizes stop at the port") {
  RawStation station;
  nic::Qp* qp = station.create_qp();
  station.receivers = {qp};
  Bytes frame(100);
  for (std::size_t i = 0; i < frame.size(); ++i) frame[i] = static_cast<std::uint8_t>(i);
  station.post_recv(qp, {station.piece(0, 30), station.piece(1000, 70)}, 5);
  station.nic->raw_packets().receive(1, frame, false, 0);
  const std::vector<ibv_wc> got = completions(station);
  REQUIRE(got.size() == 1);
  CHECK(got[0].status == IBV_WC_SUCCESS);
  CHECK(got[0].byte_len == 100);
  CHECK(std::equal(frame.begin(), frame.begin() + 30, station.memory));
  CHECK(std::equal(frame.begin() + 30, frame.end(), station.memory + 1000));

  station.post_recv(qp, {station.piece(0, 8000)});
  for (const std::size_t size : {0u, 1u, 13u, 4609u, 60000u})
    station.nic->raw_packets().receive(1, Bytes(size, 0xff), false, 0);
  station.nic->raw_packets().receive(0, frame, false, 0);
  station.nic->raw_packets().receive(2, frame, false, 0);
  CHECK(completions(station).empty());
  CHECK(station.nic->frame_counters().raw_malformed == 5);
  station.nic->raw_packets().receive(1, Bytes(4608, 0xff), false, 0);
  CHECK(completions(station).size() == 1);
}

TEST_CASE("raw packets: memory that may not be written, and a queue that overruns, end the queue pair") {
  RawStation station;
  nic::Qp* qp = station.create_qp();
  station.receivers = {qp};
  ibv_sge wrong = station.piece(0, 200);
  wrong.lkey ^= 0xff00;
  station.post_recv(qp, {wrong}, 1);
  station.post_recv(qp, {station.piece(0, 200)}, 2);
  station.nic->raw_packets().receive(1, Bytes(64), false, 0);
  const std::vector<ibv_wc> got = completions(station);
  REQUIRE(got.size() == 2);
  CHECK(got[0].status == IBV_WC_LOC_PROT_ERR);
  CHECK(got[1].status == IBV_WC_WR_FLUSH_ERR);
  CHECK(qp->state == IBV_QPS_ERR);
  CHECK(station.events == std::vector{IBV_EVENT_QP_FATAL});
  // Sends are flushed, too.
  REQUIRE(station.post_send(qp, 64) == 0);
  CHECK(completions(station).at(0).status == IBV_WC_WR_FLUSH_ERR);
  CHECK(station.frames.sent.empty());

  nic::Cq* small = nullptr;
  REQUIRE(station.nic->cqs().create(1, &station, &small) == 0);
  nic::Qp* other = station.create_qp(small);
  station.receivers = {other};
  for (int i = 0; i < 2; ++i) station.post_recv(other, {station.piece(0, 200)});
  station.events.clear();
  for (int i = 0; i < 2; ++i) station.nic->raw_packets().receive(1, Bytes(64), false, 0);
  CHECK(station.events == std::vector{IBV_EVENT_CQ_ERR, IBV_EVENT_QP_FATAL});
}

TEST_CASE("raw packets: a queue pair of another type is given none; destroying one with frames queued") {
  RawStation station;
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_UD;
  init.cap = {4, 4, 1, 1, 0};
  nic::Qp* datagrams = nullptr;
  REQUIRE(station.nic->qps().create({.pd = station.pd, .send_cq = station.cq, .recv_cq = station.cq}, &init, &station,
                                    &datagrams) == 0);
  Bytes bytes(100);
  const verbs_soft_frame frame{.data = bytes.data(), .size = 64, .headroom = 0, .tailroom = 36};
  CHECK(station.nic->raw_packets().deliver(datagrams, frame, {}) == EINVAL);
  CHECK(station.nic->qps().set_self_loopback(datagrams, true) == EINVAL);
  CHECK(station.nic->raw_packets().transmit(2, frame) == EINVAL);
  for (const std::uint32_t size : {0u, 13u, 4609u, UINT32_MAX}) {
    CHECK(station.nic->raw_packets().transmit(1, {.data = bytes.data(), .size = size, .headroom = 0, .tailroom = 0}) ==
          EMSGSIZE);
  }

  nic::Qp* qp = station.create_qp();
  CHECK(station.post_send(qp, 64, IBV_SEND_IP_CSUM) == EINVAL);  // not with this steering
  REQUIRE(station.post_send(qp, 64) == 0);
  CHECK(station.nic->scheduler().has_output());
  REQUIRE(station.nic->qps().destroy(qp) == 0);
  CHECK_FALSE(station.nic->scheduler().has_output());
  CHECK(station.nic->scheduler().pump(0));
  CHECK(station.frames.sent.empty());
}

TEST_CASE("raw packets: a RoCE packet does not reach such a queue pair, whatever its opcode") {
  RawStation station;
  const auto attack = [&station](const nic::Qp* qp) {
    constexpr std::uint8_t kUdp = 17, kFrom[4] = {10, 0, 0, 2}, kTo[4] = {10, 0, 0, 1};
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
      Bytes packet(20 + 8 + 64);
      packet[0] = 0x45;
      packet[3] = static_cast<std::uint8_t>(packet.size());
      packet[8] = 64;
      packet[9] = kUdp;
      std::copy_n(kFrom, 4, packet.begin() + 12);
      std::copy_n(kTo, 4, packet.begin() + 16);
      wire::store_be(&packet[22], wire::kRocePort);
      packet[25] = static_cast<std::uint8_t>(packet.size() - 20);
      wire::Bth bth;
      bth.opcode = static_cast<std::uint8_t>(opcode);
      bth.dest_qpn = qp->number;
      bth.emit(&packet[28]);
      station.nic->ingress().deliver(1, packet, 0);
    }
  };
  attack(station.create_qp());
  CHECK(station.nic->counters().dropped_pkts == 256);
  CHECK(station.nic->counters().icrc_err == 0);
  // Some of them reach a UD queue pair, and fail the check of the ICRC.
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_UD;
  init.cap = {4, 4, 1, 1, 0};
  nic::Qp* datagrams = nullptr;
  REQUIRE(station.nic->qps().create({.pd = station.pd, .send_cq = station.cq, .recv_cq = station.cq}, &init, &station,
                                    &datagrams) == 0);
  ibv_qp_attr attr{};
  attr.port_num = 1;
  attr.qp_state = IBV_QPS_INIT;
  const int basis = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY;
  REQUIRE(station.nic->qps().modify(datagrams, &attr, basis) == 0);
  attr.qp_state = IBV_QPS_RTR;
  REQUIRE(station.nic->qps().modify(datagrams, &attr, IBV_QP_STATE) == 0);
  attack(datagrams);
  CHECK(station.nic->counters().icrc_err > 0);
}
