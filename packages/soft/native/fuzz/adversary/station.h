// A NIC with a queue pair that is connected to the other station's, its memory, and what it sent and got.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "fuzz/adversary/board.h"
#include "fuzz/input.h"
#include "link/link.h"
#include "nic/nic.h"

namespace verbs::soft::fuzz {

using Bytes = std::vector<std::uint8_t>;

struct Message {
  ibv_wr_opcode opcode = IBV_WR_SEND;
  std::uint32_t size = 0;
  std::uint32_t imm = 0;
  std::uint64_t operand = 0;  // the addend, or the compare value, of an atomic

  bool is_atomic() const { return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP; }
  bool is_send() const { return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM; }
  bool is_write() const { return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM; }
  bool has_imm() const { return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM; }
  // Whether it uses a receive request.
  bool is_received() const { return is_send() || has_imm(); }
};

// How both ends of a connection are set up.
struct Terms {
  ibv_qp_type type = IBV_QPT_RC;
  bool ipv6 = false;
  std::uint8_t retry_cnt = 3;
  std::uint8_t rnr_retry = 3;
  std::uint32_t psn[2] = {};
};

class Station final : public nic::EventSink, public link::Transmitter {
 public:
  static constexpr std::uint32_t kQkey = 0x1234;
  static constexpr std::uint32_t kGrh = 40;

  explicit Station(std::uint8_t number);

  // A new queue pair, which open() of both stations and then connect() make ready.
  void open(const Terms& terms);
  void connect(const Terms& terms, Station& peer);
  void close();

  nic::Qp* qp() { return qp_; }
  wire::Gid gid(bool ipv6) const;
  // Posts the next planned message, if there is one, or the next receive request.
  void post_next(Station& peer);
  void post_receive();
  // Takes all completions.
  void poll();

  Board board;
  std::vector<Message> messages;
  std::size_t posted = 0, receives = 0;
  std::vector<ibv_wc> sent, received;
  std::deque<Bytes> outbox;  // frames on their way to the other station
  nic::Nic& nic() { return *nic_; }

  // nic::EventSink and link::Transmitter: the events and frames of the NIC.
  void completion(nic::Cq*) override {}
  void async(const nic::AsyncEvent&) override {}
  std::uint8_t* reserve() override { return buffer_; }
  void commit(std::size_t size) override;
  void flush() override {}

 private:
  nic::Mr* reg(void* memory, std::size_t size, unsigned access);
  void modify(ibv_qp_attr& attr, ibv_qp_state to, int mask);

  const std::uint8_t number_;
  std::unique_ptr<nic::Nic> nic_;
  nic::Pd* pd_ = nullptr;
  std::array<nic::Mr*, kAreas> regions_{};
  nic::Mr* words_ = nullptr;
  nic::Cq* send_cq_ = nullptr;
  nic::Cq* recv_cq_ = nullptr;
  nic::Qp* qp_ = nullptr;
  nic::Ah* ah_ = nullptr;
  std::uint8_t buffer_[wire::kMaxFrame] = {};
};

}  // namespace verbs::soft::fuzz
