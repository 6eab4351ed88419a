// Two NICs on a cable in virtual time: nothing sleeps or reads a clock.
#pragma once

#include <doctest/doctest.h>
#include <infiniband/verbs.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "link/faults/fault_link.h"
#include "link/neighbour.h"
#include "nic/base/limits.h"
#include "nic/nic.h"
#include "wire/headers.h"
#include "wire/opcode.h"

namespace verbs::soft::test {

using link::Nanos;

inline constexpr Nanos kMicrosecond = 1'000;
inline constexpr Nanos kMillisecond = 1'000'000;

// One end of a cable with a latency of a microsecond.
class CableEnd final : public link::Link, public link::MessageWay, private link::SenderMemory {
 public:
  struct Flying {
    Nanos due;
    std::vector<std::uint8_t> frame;
    bool refers = false;
    int epoch = 0;
    bool message = false;
  };

  CableEnd* peer = nullptr;
  const Nanos* now = nullptr;
  std::function<void(std::span<const std::uint8_t>)> observe;
  bool unplugged = false;
  bool shares_memory = false;  // frames from here may refer to their payload
  bool readable = true;        // … and the other end can read it
  // … and has it mapped there
  std::function<const std::uint8_t*(const link::Reference&)> mapped = nullptr;
  int referring = 0;  // such frames that were sent
  // The other end has no room, until relieve() was called that many times.
  int full_for = 0;
  int epoch = 0;                            // how often the references were revoked
  std::shared_ptr<link::Neighbour> beyond;  // the NIC at the other end, if it takes whole messages
  bool carries = false;                     // packets may be messages
  link::MessageWay* way = nullptr;          // … on another way than this
  bool has_room = true;                     // … for them
  int carried = 0;                          // messages that were sent
  wire::Gid own, other;                     // the addresses of both ends

  std::uint8_t* reserve() override { return buffer_; }
  void commit(std::size_t size) override {
    if (observe) observe({buffer_, size});
    if (!unplugged) peer->inbox_.push_back({*now + kMicrosecond, {buffer_, buffer_ + size}});
  }
  bool takes_references(const wire::Gid& /*source*/, const wire::Gid& /*destination*/, std::uint32_t) override {
    return shares_memory;
  }
  void commit_referring(std::span<std::uint8_t> frame) override {
    ++referring;
    if (!unplugged) peer->inbox_.push_back({*now + kMicrosecond, {frame.begin(), frame.end()}, true, epoch});
  }
  void revoke_references() override { ++epoch; }
  std::shared_ptr<link::Neighbour> neighbour(const wire::Gid& /*source*/, const wire::Gid& /*destination*/) override {
    return beyond;
  }
  link::MessageWay* message_way(const wire::Gid& /*source*/, const wire::Gid& /*destination*/, std::uint32_t) override {
    if (way != nullptr) return way;
    return carries ? this : nullptr;
  }
  std::uint8_t* reserve(std::size_t /*size*/) override {
    return has_room && full_for == 0 ? record_ + sizeof(link::Message) : nullptr;
  }
  void commit(const link::Message& message, std::size_t size) override {
    ++carried;
    std::memcpy(record_, &message, sizeof message);
    if (unplugged) return;
    peer->inbox_.push_back({*now + kMicrosecond, {record_, record_ + sizeof message + size}, false, 0, true});
  }
  void flush() override {}
  bool congested(const wire::Gid& /*destination*/, std::uint32_t) override { return full_for > 0; }
  std::uint64_t relieve() override {
    if (full_for > 0 && --full_for == 0) ++relieved_;
    return relieved_;
  }
  std::size_t receive(link::Receiver& receiver, std::size_t budget) override {
    std::size_t count = 0;
    for (; count < budget && !inbox_.empty() && inbox_.front().due <= *now; ++count) {
      const Flying flying = std::move(inbox_.front());
      inbox_.pop_front();
      if (flying.refers) {
        peer->delivered_epoch_ = flying.epoch;
        receiver.deliver_referring(flying.frame, *peer);
      } else if (flying.message) {
        link::Message message;
        std::memcpy(&message, flying.frame.data(), sizeof message);
        const std::span<const std::uint8_t> payload = std::span(flying.frame).subspan(sizeof message);
        REQUIRE(receiver.deliver_message(message, payload, {other, own}));
      } else {
        receiver.deliver(flying.frame);
      }
    }
    return count;
  }
  Nanos next_deadline() const override { return inbox_.empty() ? nic::kNever : inbox_.front().due; }

 private:
  bool read(std::span<const iovec> to, std::span<const link::Reference> from) override {
    std::vector<std::uint8_t> bytes;
    for (const link::Reference& piece : from) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr)
      const auto* at = reinterpret_cast<const std::uint8_t*>(piece.address);
      bytes.insert(bytes.end(), at, at + piece.size);
    }
    std::size_t done = 0;
    for (const iovec& piece : to) {
      std::memcpy(piece.iov_base, bytes.data() + done, piece.iov_len);
      done += piece.iov_len;
    }
    REQUIRE(done == bytes.size());
    return readable;
  }

  const std::uint8_t* find_mapped(const link::Reference& reference) override {
    return mapped ? mapped(reference) : nullptr;
  }
  bool confirm(bool copied) override { return copied && epoch == delivered_epoch_; }

  std::uint8_t buffer_[wire::kMaxFrame] = {};
  std::uint8_t record_[wire::kMaxFrame] = {};
  std::deque<Flying> inbox_;
  int delivered_epoch_ = 0;
  std::uint64_t relieved_ = 0;
};

// The way into the NIC at the other end, in the same thread.
class Gate final : public link::Neighbour {
 public:
  std::unique_ptr<nic::Nic>* nic = nullptr;
  bool busy = false;
  int visits = 0;

  nic::Core* enter() override {
    if (busy) return nullptr;
    ++visits;
    return &(*nic)->core();
  }
  void leave() override {}
};

// A NIC with a port, its event log, and a protection domain and completion queue to work with.
class Station final : public nic::EventSink, public link::Receiver {
 public:
  CableEnd cable;
  link::FaultLink faults{cable};
  std::unique_ptr<nic::Nic> nic;
  nic::Pd* pd = nullptr;
  nic::Cq* cq = nullptr;
  wire::Gid gid;
  Nanos now = 0;
  std::vector<nic::AsyncEvent> events;
  int notifications = 0;
  const std::shared_ptr<Gate> gate = std::make_shared<Gate>();

  // `joined`: it hands over messages where its cable leads to a NIC, past the fault plan.
  Station(std::uint8_t host, bool ipv6, int cqe, const nic::Rules& rules = {}, bool joined = false) {
    const std::uint8_t v4[4] = {10, 0, 0, host};
    gid = wire::Gid::from_ipv4(v4);
    if (ipv6) {
      gid = {};
      gid.bytes[0] = 0xfd;
      gid.bytes[15] = host;
    }
    nic::NicConfig config;
    config.guid = 0x0200000000000000ull + host;
    config.rules = rules;
    config.self = gate.get();
    gate->nic = &nic;
    link::Link* first = joined ? static_cast<link::Link*>(&cable) : &faults;
    config.ports.push_back({first, {gid}, IBV_MTU_4096, IBV_MTU_4096});
    nic = std::make_unique<nic::Nic>(config, *this);
    REQUIRE(nic->pds().alloc(&pd) == 0);
    REQUIRE(nic->cqs().create(cqe, this, &cq) == 0);
  }

  void completion(nic::Cq*) override { ++notifications; }
  void async(const nic::AsyncEvent& event) override { events.push_back(event); }
  void deliver(std::span<const std::uint8_t> frame) override { nic->ingress().deliver(1, frame, now); }
  void deliver_referring(std::span<const std::uint8_t> frame, link::SenderMemory& memory) override {
    nic->ingress().deliver_referring(1, frame, now, memory);
  }
  // As a capture, which makes packets of messages.
  bool looks = false;
  bool deliver_message(const link::Message& message, std::span<const std::uint8_t> payload,
                       const link::MessageEnds& ends) override {
    if (looks) return link::Receiver::deliver_message(message, payload, ends);
    return nic->ingress().deliver_message(1, message, payload, ends, now);
  }

  bool saw(ibv_event_type type) const {
    for (const nic::AsyncEvent& event : events) {
      if (event.type == type) return true;
    }
    return false;
  }

  nic::Mr* reg(void* memory, std::size_t size,
               unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ) {
    nic::Mr* mr = nullptr;
    REQUIRE(nic::check_region(memory, size, access) == 0);
    REQUIRE(nic->mrs().reg(pd, memory, size, reinterpret_cast<std::uint64_t>(memory), access, &mr) == 0);
    return mr;
  }

  nic::Qp* create_qp(ibv_qp_type type, std::uint32_t depth = 64, nic::Srq* srq = nullptr) {
    ibv_qp_init_attr init = {};
    init.qp_type = type;
    init.cap = {depth, depth, 4, 4, 128};
    init.sq_sig_all = 0;
    nic::Qp* qp = nullptr;
    REQUIRE(nic->qps().create({.pd = pd, .send_cq = cq, .recv_cq = cq, .srq = srq}, &init, this, &qp) == 0);
    return qp;
  }

  std::vector<ibv_wc> poll() {
    std::vector<ibv_wc> all;
    ibv_wc wc;
    while (cq->poll(1, &wc) == 1) all.push_back(wc);
    return all;
  }
};

// How a pair of RC QPs is connected; the fields of ibv_qp_attr that tests vary.
struct Connection {
  ibv_mtu mtu = IBV_MTU_1024;
  std::uint8_t timeout = 10;  // 4.2 ms
  std::uint8_t retry_cnt = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 1;
  std::uint8_t rd_atomic = 4;
  unsigned access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  std::uint32_t psn_a = 0xfffff0;  // so that every test crosses the wrap of the PSN
  std::uint32_t psn_b = 0x000123;
};

class VirtualNetwork {
 public:
  // `joined`: the two hand messages to each other.
  explicit VirtualNetwork(bool ipv6 = false, int cqe = 4096, const nic::Rules& rules = {}, bool joined = false)
      : a(1, ipv6, cqe, rules, joined), b(2, ipv6, cqe, rules, joined) {
    if (joined) {
      a.cable.beyond = b.gate;
      b.cable.beyond = a.gate;
    }
    a.cable.peer = &b.cable;
    b.cable.peer = &a.cable;
    a.cable.own = b.cable.other = a.gid;
    b.cable.own = a.cable.other = b.gid;
    a.cable.now = b.cable.now = &now;
    a.cable.observe = [this](auto frame) { record('a', frame); };
    b.cable.observe = [this](auto frame) { record('b', frame); };
  }

  Station a, b;
  Nanos now = 0;
  std::vector<std::string> trace;

  // From now on, packets between the two may be messages, as between two processes. Of a joined network.
  void carry() {
    for (Station* each : {&a, &b}) {
      each->cable.beyond = nullptr;
      each->cable.carries = true;
    }
    link::Neighbourhood::changed();
  }

  // RC or UC, each with the attributes that it needs.
  static void to_rts(Station& self, nic::Qp* qp, std::uint32_t dest, const wire::Gid& dgid, const Connection& c,
                     std::uint32_t sq_psn, std::uint32_t rq_psn) {
    ibv_qp_attr attr = {};
    ibv_qp_init_attr init = {};
    REQUIRE(self.nic->qps().query(qp, &attr, &init) == 0);
    const bool reliable = init.qp_type == IBV_QPT_RC;
    const int responder = reliable ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0;
    const int retries = reliable ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0;
    attr = {};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = c.access;
    REQUIRE(self.nic->qps().modify(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
            0);
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = c.mtu;
    attr.dest_qp_num = dest;
    attr.rq_psn = rq_psn;
    attr.max_dest_rd_atomic = c.rd_atomic;
    attr.min_rnr_timer = c.min_rnr_timer;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.hop_limit = 64;
    std::memcpy(attr.ah_attr.grh.dgid.raw, dgid.bytes.data(), 16);
    REQUIRE(self.nic->qps().modify(
                qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | responder) ==
            0);
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = sq_psn;
    attr.timeout = c.timeout;
    attr.retry_cnt = c.retry_cnt;
    attr.rnr_retry = c.rnr_retry;
    attr.max_rd_atomic = c.rd_atomic;
    REQUIRE(self.nic->qps().modify(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | retries) == 0);
  }

  void connect(nic::Qp* qa, nic::Qp* qb, const Connection& c = {}) {
    to_rts(a, qa, qb->number, b.gid, c, c.psn_a, c.psn_b);
    to_rts(b, qb, qa->number, a.gid, c, c.psn_b, c.psn_a);
  }

  static void to_rts_ud(Station& self, nic::Qp* qp, std::uint32_t qkey) {
    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qkey = qkey;
    REQUIRE(self.nic->qps().modify(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
    attr.qp_state = IBV_QPS_RTR;
    REQUIRE(self.nic->qps().modify(qp, &attr, IBV_QP_STATE) == 0);
    attr.qp_state = IBV_QPS_RTS;
    REQUIRE(self.nic->qps().modify(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
  }

  // Runs until nothing is on its way and no timer is armed, or until `limit`.
  void run(Nanos limit = 100'000 * kMillisecond) {
    for (;;) {
      while (step(a) | step(b)) {
      }
      const Nanos next = std::min(next_of(a), next_of(b));
      if (next == nic::kNever || next > limit) return;
      now = std::max(now, next);
    }
  }

 private:
  bool step(Station& station) {
    station.now = now;
    station.faults.advance(now);
    const bool received = station.faults.receive(station, 16) > 0;
    const bool output = station.nic->scheduler().has_output() || station.nic->scheduler().next_deadline() <= now;
    station.nic->scheduler().pump(now);
    return received || output;
  }

  static Nanos next_of(const Station& station) {
    return std::min(
        {station.nic->scheduler().next_deadline(), station.faults.next_deadline(), station.cable.next_deadline()});
  }

  void record(char who, std::span<const std::uint8_t> bytes) {
    const auto frame = wire::parse_frame(bytes);
    REQUIRE(frame);
    const wire::Bth bth = wire::Bth::parse(frame->transport.data());
    const wire::OpcodeInfo* info = wire::opcode_info(bth.opcode);
    char line[128];
    std::snprintf(line, sizeof line, "%lld %c %s psn %06x size %zu", static_cast<long long>(now), who,
                  info != nullptr ? info->name : "a damaged opcode", bth.psn, bytes.size());
    trace.emplace_back(line);
  }
};

inline ibv_sge sge_of(void* memory, std::uint32_t length, const nic::Mr* mr) {
  return {reinterpret_cast<std::uint64_t>(memory), length, mr->lkey()};
}

inline int post_recv(Station& station, nic::Qp* qp, std::uint64_t wr_id, std::vector<ibv_sge> sges) {
  ibv_recv_wr wr = {};
  ibv_recv_wr* bad = nullptr;
  wr.wr_id = wr_id;
  wr.sg_list = sges.data();
  wr.num_sge = static_cast<int>(sges.size());
  return station.nic->data_path().post_recv(qp, &wr, &bad);
}

struct Send {
  std::uint64_t wr_id = 1;
  ibv_wr_opcode opcode = IBV_WR_SEND;
  std::vector<ibv_sge> sges = {};
  unsigned flags = IBV_SEND_SIGNALED;
  std::uint64_t remote_addr = 0;
  std::uint32_t rkey = 0;
  std::uint32_t imm = 0;
  std::uint64_t compare_add = 0;  // atomics
  std::uint64_t swap = 0;
};

inline int post_send(Station& station, nic::Qp* qp, Send send) {
  ibv_send_wr wr = {};
  ibv_send_wr* bad = nullptr;
  wr.wr_id = send.wr_id;
  wr.opcode = send.opcode;
  wr.sg_list = send.sges.data();
  wr.num_sge = static_cast<int>(send.sges.size());
  wr.send_flags = send.flags;
  wr.imm_data = send.imm;
  if (send.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || send.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    wr.wr.atomic = {send.remote_addr, send.compare_add, send.swap, send.rkey};
  } else {
    wr.wr.rdma.remote_addr = send.remote_addr;
    wr.wr.rdma.rkey = send.rkey;
  }
  return station.nic->data_path().post_send(qp, &wr, &bad);
}

inline std::vector<std::uint8_t> pattern(std::size_t size, unsigned seed = 1) {
  std::vector<std::uint8_t> bytes(size);
  std::uint32_t value = seed * 2654435761u + 1;
  for (std::uint8_t& byte : bytes) {
    value = value * 1664525 + 1013904223;
    byte = static_cast<std::uint8_t>(value >> 24);
  }
  return bytes;
}

}  // namespace verbs::soft::test
