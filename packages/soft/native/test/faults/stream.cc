#include "test/faults/stream.h"

#include "host/configuration/configuration.h"
#include "nic/base/limits.h"

namespace verbs::soft::test::faults {

namespace {

std::string plan_text(const FaultCase& fault, const Operation& operation) {
  std::string text = fault.plan;
  const std::string placeholder = "{last}";
  for (std::size_t at; (at = text.find(placeholder)) != std::string::npos;) {
    text.replace(at, placeholder.size(), operation.last);
  }
  return text;
}

}  // namespace

Stream::Stream(const Cell& cell, std::uint64_t seed)
    : operation(*cell.operation), fault(*cell.fault), near(kMessages * kSlot), far(kMessages * kSlot) {
  Random random(seed);
  near = pattern(near.size(), static_cast<unsigned>(random.next()));
  far = pattern(far.size(), static_cast<unsigned>(random.next()));
  near_before = near;
  far_before = far;
  link::FaultPlan plan;
  const std::string error = host::read_faults(plan_text(fault, operation), &plan);
  require(error.empty(), error);
  plan.seed = random.next();
  net.a.faults.set_plan(plan);
  for (Station* station : {&net.a, &net.b}) {
    station->cable.observe = [this, station](std::span<const std::uint8_t> frame) {
      constexpr std::size_t kNetwork = 28;
      digest.add(static_cast<std::uint64_t>(net.now));
      digest.add(station == &net.a ? "a" : "b");
      digest.add(frame.size());
      // Opcode to PSN: the bytes after them hold addresses and keys, which differ from run to run.
      if (frame.size() >= kNetwork + 12) digest.add(frame.data() + kNetwork, 12);
    };
  }
  connect(random);
  plan_messages(random);
}

void Stream::connect(Random& random) {
  constexpr unsigned kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                               IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
  near_mr_ = net.a.reg(near.data(), near.size(), kAccess);
  far_mr_ = net.b.reg(far.data(), far.size(), kAccess);
  counter_mr_ = net.b.reg(&counter, sizeof counter, kAccess);
  turn_mr_ = net.b.reg(&turn, sizeof turn, kAccess);
  qa = net.a.create_qp(operation.type);
  qb = net.b.create_qp(operation.type);
  Connection connection;
  connection.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  connection.min_rnr_timer = static_cast<std::uint8_t>(1 + random.below(12));
  connection.rd_atomic = static_cast<std::uint8_t>(1 + random.below(4));
  late_receives_ = random.below(3) == 0;
  if (operation.type == IBV_QPT_UD) {
    net.to_rts_ud(net.a, qa, 0x1234);
    net.to_rts_ud(net.b, qb, 0x1234);
    ibv_ah_attr attr = {};
    attr.is_global = 1;
    attr.port_num = 1;
    std::memcpy(attr.grh.dgid.raw, net.b.gid.bytes.data(), 16);
    require(net.a.nic->ahs().create(net.a.pd, &attr, &ah_) == 0, "no address handle");
  } else {
    net.connect(qa, qb, connection);
  }
}

void Stream::plan_messages(Random& random) {
  static constexpr std::uint32_t kSizes[] = {8, 100, 1023, 1024, 1025, 2048, 3000, 5000, 8192, 10'000, 0, 1};
  static constexpr std::uint32_t kDatagrams[] = {8, 9, 100, 1023, 1024, 3001, 4096};
  std::uint64_t swaps = 0;
  for (int i = 0; i < kMessages; ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    const ibv_wr_opcode opcode = operation.opcodes[number % operation.opcodes.size()];
    Message message{.opcode = opcode, .size = 0, .imm = 0xabcd0000 | number};
    // Unreliable messages are identified by their content, so they must not be too short for that.
    message.size = operation.type == IBV_QPT_UD   ? kDatagrams[random.below(std::size(kDatagrams))]
                   : operation.type == IBV_QPT_UC ? kSizes[random.below(std::size(kSizes) - 2)]
                                                  : kSizes[random.below(std::size(kSizes))];
    if (is_atomic(opcode) || opcode == IBV_WR_ATOMIC_WRITE) message.size = 8;
    if (opcode == IBV_WR_SEND_WITH_INV) message.imm = bind_window(number);
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) message.operand = 1 + random.below(1000);
    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP) message.operand = swaps++;
    messages.push_back(message);
  }
}

// The receiver opens a window over the slot, for the message to invalidate: returns its key.
std::uint32_t Stream::bind_window(std::size_t i) {
  nic::Mw* window = nullptr;
  require(net.b.nic->mws().alloc(net.b.pd, IBV_MW_TYPE_2, &window) == 0, "no memory window");
  const std::uint32_t key = window->rkey() ^ 1;
  ibv_mw face = {};
  face.rkey = window->rkey();
  face.type = IBV_MW_TYPE_2;
  ibv_mr region = {};
  region.lkey = far_mr_->lkey();
  ibv_send_wr wr = {};
  ibv_send_wr* bad = nullptr;
  wr.opcode = IBV_WR_BIND_MW;
  wr.bind_mw.mw = &face;
  wr.bind_mw.rkey = key;
  wr.bind_mw.bind_info = {&region, reinterpret_cast<std::uint64_t>(far_at(i)), kRoom, IBV_ACCESS_REMOTE_WRITE};
  require(net.b.nic->data_path().post_send(qb, &wr, &bad) == 0, "a window cannot be bound");
  net.run();
  return key;
}

std::uint32_t Stream::window(std::size_t i) const {
  return messages[i].size + (operation.type == IBV_QPT_UD ? kGrh : 0);
}

std::uint64_t Stream::remote_address(std::size_t i) {
  switch (messages[i].opcode) {
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return reinterpret_cast<std::uint64_t>(&counter);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return reinterpret_cast<std::uint64_t>(&turn);
    default:
      return reinterpret_cast<std::uint64_t>(far_at(i));
  }
}

void Stream::post_receives() {
  // A lost message does not use up its receive request: an unreliable message may come into any later slot's request.
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!is_received(messages[i].opcode)) continue;
    std::vector<ibv_sge> sges;
    if (is_send(messages[i].opcode))
      sges.push_back(sge_of(far_at(i), reliable(operation) ? window(i) : kRoom, far_mr_));
    require(post_recv(net.b, qb, i, sges) == 0, "a receive request was refused");
  }
}

void Stream::post(std::size_t i) {
  const Message& message = messages[i];
  ibv_sge sge = sge_of(near_at(i), message.size, near_mr_);
  ibv_send_wr wr = {};
  ibv_send_wr* bad = nullptr;
  wr.wr_id = i;
  wr.opcode = message.opcode;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.imm_data = message.imm;
  if (operation.type == IBV_QPT_UD) {
    wr.wr.ud = {&ah_->ibv, qb->number, 0x1234};
  } else if (is_atomic(message.opcode)) {
    const nic::Mr* mr = message.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? counter_mr_ : turn_mr_;
    wr.wr.atomic = {remote_address(i), message.operand, message.operand + 1, mr->rkey()};
  } else {
    wr.wr.rdma.remote_addr = remote_address(i);
    wr.wr.rdma.rkey = far_mr_->rkey();
  }
  require(net.a.nic->data_path().post_send(qa, &wr, &bad) == 0, "a send request was refused");
}

void Stream::collect() {
  const auto take = [this](Station& station, std::vector<ibv_wc>* all) {
    for (const ibv_wc& wc : station.poll()) {
      all->push_back(wc);
      digest.add(wc.wr_id);
      digest.add(wc.status);
      if (wc.status != IBV_WC_SUCCESS) continue;  // else the other fields are undefined
      digest.add(wc.opcode);
      digest.add(wc.byte_len);
      if ((wc.wc_flags & IBV_WC_WITH_IMM) != 0) digest.add(wc.imm_data);
    }
  };
  take(net.a, &sent);
  take(net.b, &received);
}

void Stream::run() {
  if (!late_receives_) post_receives();
  for (std::size_t i = 0; i < messages.size(); ++i) post(i);
  if (late_receives_) {
    net.run(150 * kMicrosecond);
    collect();
    post_receives();
  }
  net.run();
  collect();
  digest.add(static_cast<std::uint64_t>(net.now));
  for (const Station* station : {&net.a, &net.b}) {
    digest.add(&station->nic->counters(), sizeof(nic::Counters));
    for (const nic::AsyncEvent& event : station->events) digest.add(event.type);
  }
}

}  // namespace verbs::soft::test::faults
