// A NIC with raw packets and nothing around it: its steering records what it sends.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "test/nic/virtual_network.h"

namespace verbs::soft::test {

using Bytes = std::vector<std::uint8_t>;

class Wire final : public link::Transmitter {
 public:
  std::uint8_t* reserve() override { return buffer_; }
  void commit(std::size_t size) override { sent.emplace_back(buffer_, buffer_ + size); }
  void flush() override {}
  std::vector<Bytes> sent;

 private:
  std::uint8_t buffer_[wire::kMaxFrame];
};

// A NIC whose steering transmits every sent frame unchanged and delivers every received one to `receivers`.
class RawStation : public nic::EventSink, public nic::FrameSteering {
 public:
  virtual ~RawStation() = default;
  RawStation() {
    nic::NicConfig config;
    config.steering = this;
    const std::uint8_t address[4] = {10, 0, 0, 1};
    config.ports.push_back({.transmitter = &wire, .gids = {wire::Gid::from_ipv4(address)}, .frames = &frames});
    nic = std::make_unique<nic::Nic>(config, *this);
    REQUIRE(nic->pds().alloc(&pd) == 0);
    REQUIRE(nic->cqs().create(256, this, &cq) == 0);
    REQUIRE(nic->mrs().reg(pd, memory, sizeof memory, reinterpret_cast<std::uint64_t>(memory), IBV_ACCESS_LOCAL_WRITE,
                           &mr) == 0);
  }

  nic::Qp* create_qp(nic::Cq* to = nullptr) {
    ibv_qp_init_attr init{};
    init.qp_type = IBV_QPT_RAW_PACKET;
    init.cap = {256, 16, 2, 2, 128};
    nic::Qp* qp = nullptr;
    nic::Cq* its = to != nullptr ? to : cq;
    REQUIRE(nic->qps().create({.pd = pd, .send_cq = its, .recv_cq = its}, &init, this, &qp) == 0);
    ibv_qp_attr attr{};
    attr.port_num = 1;
    for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
      attr.qp_state = state;
      const int mask = IBV_QP_STATE | (state == IBV_QPS_INIT ? int{IBV_QP_PORT} : 0);
      REQUIRE(nic->qps().modify(qp, &attr, mask) == 0);
    }
    return qp;
  }

  int post_send(nic::Qp* qp, std::uint32_t size, unsigned flags = IBV_SEND_SIGNALED) {
    ibv_sge sge{reinterpret_cast<std::uint64_t>(memory), size, mr->lkey()};
    ibv_send_wr wr{}, *bad = nullptr;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = flags;
    return nic->data_path().post_send(qp, &wr, &bad);
  }

  void post_recv(nic::Qp* qp, std::vector<ibv_sge> sges, std::uint64_t wr_id = 0) {
    ibv_recv_wr wr{}, *bad = nullptr;
    wr.wr_id = wr_id;
    wr.sg_list = sges.data();
    wr.num_sge = static_cast<int>(sges.size());
    REQUIRE(nic->data_path().post_recv(qp, &wr, &bad) == 0);
  }

  ibv_sge piece(std::size_t at, std::uint32_t size) const {
    return {reinterpret_cast<std::uint64_t>(memory + at), size, mr->lkey()};
  }

  void completion(nic::Cq*) override {}
  void async(const nic::AsyncEvent& event) override { events.push_back(event.type); }
  void send(std::uint8_t port_num, nic::Qp* qp, verbs_soft_frame* frame) override {
    senders.push_back(qp);
    CHECK(frame->headroom >= VERBS_SOFT_FRAME_HEADROOM);
    CHECK(nic->raw_packets().transmit(port_num, *frame) == 0);
  }
  void use(bool any) override { in_use = any; }
  void receive(std::uint8_t port_num, verbs_soft_frame* frame) override {
    if (by_flows) return nic->flows().receive(port_num, *frame);
    // All of the room is the steering's.
    std::fill_n(frame->data - frame->headroom, frame->headroom, 0xee);
    std::fill_n(frame->data + frame->size, frame->tailroom, 0xee);
    for (nic::Qp* qp : receivers) CHECK(nic->raw_packets().deliver(qp, *frame, {}) == 0);
  }

  Wire wire, frames;
  std::unique_ptr<nic::Nic> nic;
  nic::Pd* pd = nullptr;
  nic::Cq* cq = nullptr;
  nic::Mr* mr = nullptr;
  std::vector<nic::Qp*> senders, receivers;
  bool by_flows = false;  // received frames go where the NIC's own flows say
  bool in_use = false;
  std::vector<ibv_event_type> events;
  alignas(64) std::uint8_t memory[16384] = {};
};

inline std::vector<ibv_wc> completions(RawStation& station, nic::Cq* cq = nullptr) {
  std::vector<ibv_wc> found(512);
  found.resize(static_cast<std::size_t>((cq != nullptr ? cq : station.cq)->poll(512, found.data())));
  return found;
}

}  // namespace verbs::soft::test
