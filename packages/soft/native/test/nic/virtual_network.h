// Two NICs on a cable in virtual time: nothing sleeps or reads a clock.
#pragma once

#include <doctest/doctest.h>
#include <infiniband/verbs.h>

#include <cstdint>
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
  CableEnd();
  ~CableEnd() override;

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
  void commit(std::size_t size) override;
  bool takes_references(const wire::Gid& /*source*/, const wire::Gid& /*destination*/, std::uint32_t) override {
    return shares_memory;
  }
  void commit_referring(std::span<std::uint8_t> frame) override;
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
  void commit(const link::Message& message, std::size_t size) override;
  void flush() override {}
  bool congested(const wire::Gid& /*destination*/, std::uint32_t) override { return full_for > 0; }
  std::uint64_t relieve() override {
    if (full_for > 0 && --full_for == 0) ++relieved_;
    return relieved_;
  }
  std::size_t receive(link::Receiver& receiver, std::size_t budget) override;
  Nanos next_deadline() const override;

 private:
  bool read(std::span<const iovec> to, std::span<const link::Reference> from) override;

  const std::uint8_t* find_mapped(const link::Reference& reference) override;
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
  Station(std::uint8_t host, bool ipv6, int cqe, const nic::Rules& rules = {}, bool joined = false);
  ~Station();

  void completion(nic::Cq*) override { ++notifications; }
  void async(const nic::AsyncEvent& event) override;
  void deliver(std::span<const std::uint8_t> frame) override;
  void deliver_referring(std::span<const std::uint8_t> frame, link::SenderMemory& memory) override;
  // As a capture, which makes packets of messages.
  bool looks = false;
  bool deliver_message(const link::Message& message, std::span<const std::uint8_t> payload,
                       const link::MessageEnds& ends) override;

  bool saw(ibv_event_type type) const;

  nic::Mr* reg(void* memory, std::size_t size,
               unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);

  nic::Qp* create_qp(ibv_qp_type type, std::uint32_t depth = 64, nic::Srq* srq = nullptr);

  std::vector<ibv_wc> poll();
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
  explicit VirtualNetwork(bool ipv6 = false, int cqe = 4096, const nic::Rules& rules = {}, bool joined = false);
  ~VirtualNetwork();

  Station a, b;
  Nanos now = 0;
  std::vector<std::string> trace;

  // From now on, packets between the two may be messages, as between two processes. Of a joined network.
  void carry();

  // RC or UC, each with the attributes that it needs.
  static void to_rts(Station& self, nic::Qp* qp, std::uint32_t dest, const wire::Gid& dgid, const Connection& c,
                     std::uint32_t sq_psn, std::uint32_t rq_psn);

  void connect(nic::Qp* qa, nic::Qp* qb, const Connection& c = {});

  static void to_rts_ud(Station& self, nic::Qp* qp, std::uint32_t qkey);

  // Runs until nothing is on its way and no timer is armed, or until `limit`.
  void run(Nanos limit = 100'000 * kMillisecond);

 private:
  bool step(Station& station);

  static Nanos next_of(const Station& station);

  void record(char who, std::span<const std::uint8_t> bytes);
};

inline ibv_sge sge_of(void* memory, std::uint32_t length, const nic::Mr* mr) {
  return {reinterpret_cast<std::uint64_t>(memory), length, mr->lkey()};
}

int post_recv(Station& station, nic::Qp* qp, std::uint64_t wr_id, std::vector<ibv_sge> sges);

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

int post_send(Station& station, nic::Qp* qp, Send send);

std::vector<std::uint8_t> pattern(std::size_t size, unsigned seed = 1);

}  // namespace verbs::soft::test
