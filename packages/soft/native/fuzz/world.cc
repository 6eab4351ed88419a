#include "fuzz/world.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "fuzz/arena.h"
#include "fuzz/check.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/opcode.h"

namespace verbs::soft::fuzz {
namespace {

constexpr std::uint32_t kQkey = 0x1234;
constexpr std::uint32_t kDepth = 8;
constexpr std::uint32_t kMaxInline = 64;
constexpr int kRemote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr int kOpenAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | kRemote;

}  // namespace

World::World() {
  nic::NicConfig config;
  config.guid = 1;
  config.limits.max_qp = 1000;
  config.ports.push_back({this, {ipv4_gid(1), ipv6_gid(1)}, IBV_MTU_4096, IBV_MTU_4096});
  nic_ = std::make_unique<nic::Nic>(config, *this);
  FUZZ_CHECK(nic_->pds().alloc(&pd_) == 0 && nic_->pds().alloc(&control_pd_) == 0);
  FUZZ_CHECK(nic_->xrcds().open(nullptr, true, false, &xrcd_) == 0);
  register_region(kOpen, pd_, kOpenAccess);
  register_region(kLocal, pd_, IBV_ACCESS_LOCAL_WRITE);
  register_region(kReadOnly, pd_, IBV_ACCESS_REMOTE_READ);
  register_region(kVanishing, pd_, IBV_ACCESS_LOCAL_WRITE | kRemote);
  register_region(kControl, control_pd_, IBV_ACCESS_LOCAL_WRITE | kRemote);
  FUZZ_CHECK(mprotect(arena().region(kVanishing) + kRegionSize / 2, kRegionSize / 2, PROT_NONE) == 0);
  for (std::size_t i = 0; i < ahs_.size(); ++i) {
    const ibv_ah_attr attr = peer(i == 1, false);
    FUZZ_CHECK(nic_->ahs().create(pd_, &attr, &ahs_[i]) == 0);
  }
}

World::~World() {
  for (nic::Ah* ah : ahs_) FUZZ_CHECK(nic_->ahs().destroy(ah) == 0);
  for (nic::Mr* mr : regions_) FUZZ_CHECK(nic_->mrs().dereg(mr) == 0);
  FUZZ_CHECK(nic_->xrcds().close(xrcd_) == 0);
  FUZZ_CHECK(nic_->pds().dealloc(pd_) == 0 && nic_->pds().dealloc(control_pd_) == 0);
}

void World::begin() {
  FUZZ_CHECK(nic_->cqs().create(64, nullptr, &cq_) == 0 && nic_->cqs().create(64, nullptr, &control_cq_) == 0);
  ibv_srq_attr attr = {kDepth, 2, 0};
  FUZZ_CHECK(nic_->srqs().create(pd_, &attr, nullptr, &srqs_[0]) == 0);
  FUZZ_CHECK(nic_->srqs().create(pd_, &attr, nullptr, &srqs_[1], {.cq = cq_, .xrcd = xrcd_}) == 0);
  for (std::vector<bool>& open : shared_open_) open.clear();
  alloc_windows();
  for (nic::Qp*& qp : control_) qp = create({control_pd_, control_cq_, control_cq_, nullptr}, IBV_QPT_RC);
  for (std::size_t i = 0; i < 2; ++i) control_numbers_[i] = control_[i]->number;
  for (std::size_t i = 0; i < 2; ++i) {
    connect(control_[i], control_numbers_[1 - i], peer(false, true), IBV_QPT_RC, IBV_QPS_RTS);
  }
}

void World::end() {
  check_memory();
  check_progress();
  for (Slot& slot : slots_) {
    destroy(slot);
    slot = {};
  }
  dealloc_windows();
  for (nic::Qp* qp : control_) FUZZ_CHECK(nic_->qps().destroy(qp) == 0);
  // Nothing uses them any more, or the count of the users is wrong.
  for (nic::Srq* srq : srqs_) FUZZ_CHECK(nic_->srqs().destroy(srq) == 0);
  FUZZ_CHECK(nic_->cqs().destroy(cq_) == 0 && nic_->cqs().destroy(control_cq_) == 0);
  FUZZ_CHECK(!nic_->scheduler().has_output() && nic_->scheduler().next_deadline() == nic::kNever);
  looping_.clear();
  heard_.clear();
}

std::uint64_t World::address(std::size_t region) {
  return reinterpret_cast<std::uint64_t>(arena().region(region % kRegions));
}

void World::register_region(std::size_t index, nic::Pd* pd, unsigned access) {
  FUZZ_CHECK(nic::check_region(arena().region(index), kRegionSize, access) == 0);
  FUZZ_CHECK(nic_->mrs().reg(pd, arena().region(index), kRegionSize, address(index), access, &regions_[index]) == 0);
}

void World::register_again() {
  // A region with a window bound to it stays.
  dealloc_windows();
  FUZZ_CHECK(nic_->mrs().dereg(regions_[kOpen]) == 0);
  register_region(kOpen, pd_, kOpenAccess);
  alloc_windows();
}

void World::alloc_windows() {
  FUZZ_CHECK(nic_->mws().alloc(pd_, IBV_MW_TYPE_1, &windows_[0]) == 0);
  FUZZ_CHECK(nic_->mws().alloc(pd_, IBV_MW_TYPE_2, &windows_[1]) == 0);
}

void World::dealloc_windows() {
  for (nic::Mw* mw : windows_) FUZZ_CHECK(nic_->mws().dealloc(mw) == 0);
}

void World::change_membership(Slot& slot) {
  if (slot.qp == nullptr) return;
  bool edge = false;
  const int error = slot.member ? nic_->multicast().detach(slot.qp, ipv4_group(), &edge)
                                : nic_->multicast().attach(slot.qp, ipv4_group(), &edge);
  FUZZ_CHECK(error == 0 || slot.type != IBV_QPT_UD);
  if (error == 0) slot.member = !slot.member;
}

std::uint32_t World::key(Input& input, bool remote) {
  const std::size_t choice = input.byte();
  nic::Mr* mr = region(choice);
  const std::uint32_t right = remote ? mr->rkey() : mr->lkey();
  if (remote && choice >= 192 && choice < 216) return window(choice)->rkey();
  if (choice < 224) return right;
  if (choice < 240) return right ^ (1u << (choice % 16));
  return input.take<std::uint32_t>();
}

bool World::is_control(std::uint32_t qpn) const {
  return std::find(control_numbers_.begin(), control_numbers_.end(), qpn) != control_numbers_.end();
}

ibv_ah_attr World::peer(bool ipv6, bool self) {
  const std::uint8_t host = self ? 1 : 2;
  const wire::Gid gid = ipv6 ? ipv6_gid(host) : ipv4_gid(host);
  ibv_ah_attr attr = {};
  attr.is_global = 1;
  attr.port_num = 1;
  attr.grh.hop_limit = 64;
  attr.grh.sgid_index = ipv6 ? 1 : 0;
  std::memcpy(attr.grh.dgid.raw, gid.bytes.data(), gid.bytes.size());
  return attr;
}

nic::Qp* World::create(const nic::QpParts& parts, ibv_qp_type type) {
  ibv_qp_init_attr init = {};
  init.qp_type = type;
  init.cap = {kDepth, kDepth, 3, 3, kMaxInline};
  nic::Qp* qp = nullptr;
  return nic_->qps().create(parts, &init, nullptr, &qp) == 0 ? qp : nullptr;
}

void World::destroy(Slot& slot) {
  if (slot.qp == nullptr) return;
  if (slot.member) {
    FUZZ_CHECK(nic_->qps().destroy(slot.qp) == EBUSY);
    change_membership(slot);
  }
  FUZZ_CHECK(nic_->qps().destroy(slot.qp) == 0);
}

void World::make(Slot& slot, Input& input) {
  static constexpr ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UD,       IBV_QPT_UC,
                                          IBV_QPT_RC, IBV_QPT_UD, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV};
  destroy(slot);
  const std::uint8_t choice = input.byte();
  slot.type = types[choice % std::size(types)];
  slot.ipv6 = (choice & 0x40) != 0;
  slot.shared = (choice & 0x80) != 0;
  if (slot.type == IBV_QPT_XRC_RECV) {
    slot.qp = create({.xrcd = xrcd_}, slot.type);
  } else if (slot.type == IBV_QPT_XRC_SEND) {
    slot.qp = create({.pd = pd_, .send_cq = cq_}, slot.type);
  } else {
    slot.qp = create({pd_, cq_, cq_, slot.shared ? srqs_[0] : nullptr}, slot.type);
  }
  // Most are ready to work.
  static constexpr ibv_qp_state states[] = {IBV_QPS_RTS, IBV_QPS_RTS, IBV_QPS_RTS,   IBV_QPS_RTR,
                                            IBV_QPS_SQD, IBV_QPS_ERR, IBV_QPS_RESET, IBV_QPS_INIT};
  if (slot.qp != nullptr) set_state(slot, states[(choice >> 2) % std::size(states)]);
}

void World::set_state(Slot& slot, ibv_qp_state state) {
  if (slot.qp == nullptr) return;
  connect(slot.qp, 100, peer(slot.ipv6, false), slot.type, state);
}

// Moves a QP from RESET towards `state`. A QP of a type without a transition stays where it is.
void World::connect(nic::Qp* qp, std::uint32_t dest, const ibv_ah_attr& path, ibv_qp_type type, ibv_qp_state state) {
  const bool datagrams = type == IBV_QPT_UD;
  const bool requests = type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
  const bool responds = type == IBV_QPT_RC || type == IBV_QPT_XRC_RECV;
  ibv_qp_attr attr = {};
  const auto step = [&](ibv_qp_state to, int mask) {
    attr.qp_state = to;
    nic_->qps().modify(qp, &attr, IBV_QP_STATE | mask);
  };
  attr.port_num = 1;
  attr.qkey = kQkey;
  attr.qp_access_flags = kRemote;
  attr.path_mtu = IBV_MTU_256;
  attr.dest_qp_num = dest;
  attr.ah_attr = path;
  attr.max_dest_rd_atomic = attr.max_rd_atomic = 2;
  attr.min_rnr_timer = 1;
  attr.timeout = 10;
  attr.retry_cnt = 3;
  attr.rnr_retry = 3;
  step(IBV_QPS_RESET, 0);
  if (state == IBV_QPS_RESET) return;
  step(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | (datagrams ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
  if (state == IBV_QPS_INIT) return;
  const int connected = datagrams ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  step(IBV_QPS_RTR, connected | (responds ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0));
  if (state == IBV_QPS_RTR) return;
  const int retries = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  step(IBV_QPS_RTS, IBV_QP_SQ_PSN | (requests ? retries : 0));
  if (state == IBV_QPS_SQD || state == IBV_QPS_ERR) step(state, 0);
}

void World::commit(std::size_t size) {
  const std::span<const std::uint8_t> frame(buffer_, size);
  const auto view = wire::parse_frame(frame);
  // What the NIC sends is well-formed, whatever it was sent.
  FUZZ_CHECK(view && wire::check_icrc(frame));
  FUZZ_CHECK(wire::opcode_info(view->transport[0]) != nullptr);
  const bool to_self = view->is_to(ipv4_gid(1)) || view->is_to(ipv6_gid(1));
  std::deque<std::vector<std::uint8_t>>& frames = to_self ? looping_ : heard_;
  frames.emplace_back(frame.begin(), frame.end());
  if (!to_self && heard_.size() > 4) heard_.pop_front();
}

void World::pass(nic::Nanos time, int turns) {
  now_ += time;
  for (int turn = 0; turn < turns; ++turn) {
    nic_->scheduler().pump(now_);
    for (std::size_t count = looping_.size(); count > 0; --count) {
      const std::vector<std::uint8_t> frame = std::move(looping_.front());
      looping_.pop_front();
      nic_->ingress().deliver(1, frame, now_);
    }
    if (!nic_->scheduler().has_output() && looping_.empty()) return;
  }
}

void World::poll(int most) {
  ibv_wc wcs[16];
  const int wanted = std::min<int>(most, std::size(wcs));
  const int count = cq_->poll(wanted, wcs);
  FUZZ_CHECK(count >= 0 && count <= wanted);
  for (int i = 0; i < count; ++i) check_completion(wcs[i]);
}

}  // namespace verbs::soft::fuzz
