#include "test/nic/virtual_network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace verbs::soft::test {

CableEnd::CableEnd() = default;
CableEnd::~CableEnd() = default;

void CableEnd::commit(std::size_t size) {
  if (observe) observe({buffer_, size});
  if (!unplugged) peer->inbox_.push_back({*now + kMicrosecond, {buffer_, buffer_ + size}});
}

void CableEnd::commit_referring(std::span<std::uint8_t> frame) {
  ++referring;
  if (!unplugged) peer->inbox_.push_back({*now + kMicrosecond, {frame.begin(), frame.end()}, true, epoch});
}

void CableEnd::commit(const link::Message& message, std::size_t size) {
  ++carried;
  std::memcpy(record_, &message, sizeof message);
  if (unplugged) return;
  peer->inbox_.push_back({*now + kMicrosecond, {record_, record_ + sizeof message + size}, false, 0, true});
}

std::size_t CableEnd::receive(link::Receiver& receiver, std::size_t budget) {
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

Nanos CableEnd::next_deadline() const { return inbox_.empty() ? nic::kNever : inbox_.front().due; }

bool CableEnd::read(std::span<const iovec> to, std::span<const link::Reference> from) {
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

const std::uint8_t* CableEnd::find_mapped(const link::Reference& reference) {
  return mapped ? mapped(reference) : nullptr;
}

Station::Station(std::uint8_t host, bool ipv6, int cqe, const nic::Rules& rules, bool joined) {
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

Station::~Station() = default;

void Station::async(const nic::AsyncEvent& event) { events.push_back(event); }

void Station::deliver(std::span<const std::uint8_t> frame) { nic->ingress().deliver(1, frame, now); }

void Station::deliver_referring(std::span<const std::uint8_t> frame, link::SenderMemory& memory) {
  nic->ingress().deliver_referring(1, frame, now, memory);
}

bool Station::deliver_message(const link::Message& message, std::span<const std::uint8_t> payload,
                              const link::MessageEnds& ends) {
  if (looks) return link::Receiver::deliver_message(message, payload, ends);
  return nic->ingress().deliver_message(1, message, payload, ends, now);
}

bool Station::saw(ibv_event_type type) const {
  for (const nic::AsyncEvent& event : events) {
    if (event.type == type) return true;
  }
  return false;
}

nic::Mr* Station::reg(void* memory, std::size_t size, unsigned access) {
  nic::Mr* mr = nullptr;
  REQUIRE(nic::check_region(memory, size, access) == 0);
  REQUIRE(nic->mrs().reg(pd, memory, size, reinterpret_cast<std::uint64_t>(memory), access, &mr) == 0);
  return mr;
}

nic::Qp* Station::create_qp(ibv_qp_type type, std::uint32_t depth, nic::Srq* srq) {
  ibv_qp_init_attr init = {};
  init.qp_type = type;
  init.cap = {depth, depth, 4, 4, 128};
  init.sq_sig_all = 0;
  nic::Qp* qp = nullptr;
  REQUIRE(nic->qps().create({.pd = pd, .send_cq = cq, .recv_cq = cq, .srq = srq}, &init, this, &qp) == 0);
  return qp;
}

std::vector<ibv_wc> Station::poll() {
  std::vector<ibv_wc> all;
  ibv_wc wc;
  while (cq->poll(1, &wc) == 1) all.push_back(wc);
  return all;
}

VirtualNetwork::VirtualNetwork(bool ipv6, int cqe, const nic::Rules& rules, bool joined)
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

VirtualNetwork::~VirtualNetwork() = default;

void VirtualNetwork::carry() {
  for (Station* each : {&a, &b}) {
    each->cable.beyond = nullptr;
    each->cable.carries = true;
  }
  link::Neighbourhood::changed();
}

void VirtualNetwork::to_rts(Station& self, nic::Qp* qp, std::uint32_t dest, const wire::Gid& dgid, const Connection& c,
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
  REQUIRE(self.nic->qps().modify(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
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

void VirtualNetwork::connect(nic::Qp* qa, nic::Qp* qb, const Connection& c) {
  to_rts(a, qa, qb->number, b.gid, c, c.psn_a, c.psn_b);
  to_rts(b, qb, qa->number, a.gid, c, c.psn_b, c.psn_a);
}

void VirtualNetwork::to_rts_ud(Station& self, nic::Qp* qp, std::uint32_t qkey) {
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

void VirtualNetwork::run(Nanos limit) {
  for (;;) {
    while (step(a) | step(b)) {
    }
    const Nanos next = std::min(next_of(a), next_of(b));
    if (next == nic::kNever || next > limit) return;
    now = std::max(now, next);
  }
}

bool VirtualNetwork::step(Station& station) {
  station.now = now;
  station.faults.advance(now);
  const bool received = station.faults.receive(station, 16) > 0;
  const bool output = station.nic->scheduler().has_output() || station.nic->scheduler().next_deadline() <= now;
  station.nic->scheduler().pump(now);
  return received || output;
}

Nanos VirtualNetwork::next_of(const Station& station) {
  return std::min(
      {station.nic->scheduler().next_deadline(), station.faults.next_deadline(), station.cable.next_deadline()});
}

void VirtualNetwork::record(char who, std::span<const std::uint8_t> bytes) {
  const auto frame = wire::parse_frame(bytes);
  REQUIRE(frame);
  const wire::Bth bth = wire::Bth::parse(frame->transport.data());
  const wire::OpcodeInfo* info = wire::opcode_info(bth.opcode);
  char line[128];
  std::snprintf(line, sizeof line, "%lld %c %s psn %06x size %zu", static_cast<long long>(now), who,
                info != nullptr ? info->name : "a damaged opcode", bth.psn, bytes.size());
  trace.emplace_back(line);
}

int post_recv(Station& station, nic::Qp* qp, std::uint64_t wr_id, std::vector<ibv_sge> sges) {
  ibv_recv_wr wr = {};
  ibv_recv_wr* bad = nullptr;
  wr.wr_id = wr_id;
  wr.sg_list = sges.data();
  wr.num_sge = static_cast<int>(sges.size());
  return station.nic->data_path().post_recv(qp, &wr, &bad);
}

int post_send(Station& station, nic::Qp* qp, Send send) {
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

std::vector<std::uint8_t> pattern(std::size_t size, unsigned seed) {
  std::vector<std::uint8_t> bytes(size);
  std::uint32_t value = seed * 2654435761u + 1;
  for (std::uint8_t& byte : bytes) {
    value = value * 1664525 + 1013904223;
    byte = static_cast<std::uint8_t>(value >> 24);
  }
  return bytes;
}

}  // namespace verbs::soft::test
