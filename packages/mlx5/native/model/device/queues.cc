#include "model/device/queues.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <type_traits>
#include <utility>

#include "model/device/device.h"
#include "steering/headers/checksum.h"
#include "verbs_soft_boundary.h"

// mlx5dv_create_cq, mlx5dv_create_qp and mlx5dv_reg_dmabuf_mr: ordinary verbs with checks of the vendor's attributes.

using namespace verbs::mlx5::model;

namespace {

constexpr std::uint64_t kCqMask =
    MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE | MLX5DV_CQ_INIT_ATTR_MASK_FLAGS | MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE;

bool is_entry_size(unsigned long size) { return size == 64 || size == 128; }

// As in the vendor's library, the environment sets the entry size if the attributes do not.
bool has_bad_environment(const mlx5dv_cq_init_attr* attr) {
  if (attr && (attr->comp_mask & MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE) != 0) return false;
  const char* size = std::getenv("MLX5_CQE_SIZE");
  return size && !is_entry_size(std::strtoul(size, nullptr, 10));
}

int check(const mlx5dv_cq_init_attr& attr) {
  if ((attr.comp_mask & ~kCqMask) != 0) return EINVAL;
  // Programs cannot see the NIC's queues, so compressed or padded entries are not supported.
  if ((attr.comp_mask & MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE) != 0) return EOPNOTSUPP;
  if ((attr.comp_mask & MLX5DV_CQ_INIT_ATTR_MASK_FLAGS) != 0 && attr.flags != 0) return EOPNOTSUPP;
  const bool sized = (attr.comp_mask & MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE) != 0;
  return sized && !is_entry_size(attr.cqe_size) ? EINVAL : 0;
}

constexpr std::uint64_t kQpMask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS | MLX5DV_QP_INIT_ATTR_MASK_DC |
                                  MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS | MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;

int check(const ibv_qp_init_attr_ex& qp, const mlx5dv_qp_init_attr& attr) {
  if ((attr.comp_mask & ~kQpMask) != 0) return EINVAL;
  constexpr std::uint64_t kDynamic = MLX5DV_QP_INIT_ATTR_MASK_DC | MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
  if ((attr.comp_mask & kDynamic) != 0) return EOPNOTSUPP;
  const bool sends = (attr.comp_mask & MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS) != 0;
  if (sends && attr.send_ops_flags != 0) return EOPNOTSUPP;
  if ((attr.comp_mask & MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS) == 0) return 0;
  // Scatter-to-CQE has no effect that a program could see.
  constexpr std::uint32_t kScatter = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE | MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE;
  if ((attr.create_flags & kScatter) == kScatter) return EINVAL;
  const std::uint32_t rest = attr.create_flags & ~kScatter;
  if (rest == 0) return 0;
  // The model always parses tunnels, and always loops multicast frames back.
  constexpr std::uint32_t kRaw = MLX5DV_QP_CREATE_TUNNEL_OFFLOADS | MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC |
                                 MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC;
  return qp.qp_type == IBV_QPT_RAW_PACKET && (rest & ~kRaw) == 0 ? 0 : EOPNOTSUPP;
}

}  // namespace

namespace verbs::mlx5::model {

ibv_cq_ex* mlx5dv_create_cq(ibv_context* verbs, ibv_cq_init_attr_ex* attr, mlx5dv_cq_init_attr* mlx5_attr) {
  if (!verbs || !attr) return null_with<ibv_cq_ex>(EINVAL);
  if (!context_of(verbs)) return null_with<ibv_cq_ex>(EOPNOTSUPP);
  if (mlx5_attr) {
    if (const int error = check(*mlx5_attr)) return null_with<ibv_cq_ex>(error);
  }
  if (has_bad_environment(mlx5_attr)) return null_with<ibv_cq_ex>(EINVAL);
  return verbs_get_ctx(verbs)->create_cq_ex(verbs, attr);
}

ibv_qp* mlx5dv_create_qp(ibv_context* verbs, ibv_qp_init_attr_ex* attr, mlx5dv_qp_init_attr* mlx5_attr) {
  if (!verbs || !attr) return null_with<ibv_qp>(EINVAL);
  if (!context_of(verbs)) return null_with<ibv_qp>(EOPNOTSUPP);
  if (mlx5_attr) {
    if (const int error = check(*attr, *mlx5_attr)) return null_with<ibv_qp>(error);
  }
  ibv_qp* qp = verbs_get_ctx(verbs)->create_qp_ex(verbs, attr);
  const bool loops = mlx5_attr && (mlx5_attr->comp_mask & MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS) != 0 &&
                     (mlx5_attr->create_flags & MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC) != 0;
  if (qp && loops) soft()->set_self_loopback(qp, 1);
  return qp;
}

// There is no data direct function, past which the device could reach the memory.
ibv_mr* mlx5dv_reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova, int fd,
                             int access, int mlx5_access) {
  constexpr int kDataDirect = 1 << 0;
  if (!pd || (mlx5_access & ~kDataDirect) != 0) return null_with<ibv_mr>(EINVAL);
  if (!context_of(pd->context) || mlx5_access != 0) return null_with<ibv_mr>(EOPNOTSUPP);
  return soft()->reg_dmabuf_mr(pd, offset, length, iova, fd, access);
}

}  // namespace verbs::mlx5::model

// mlx5dv_modify_qp_udp_sport, mlx5dv_query_qp_lag_port and mlx5dv_modify_qp_lag_port.

using namespace verbs::mlx5::model;

namespace {

// The NIC keeps it with the queue pair: the port as a pointer, null without a choice of the program.
std::uint8_t chosen_port(ibv_qp* qp) {
  return static_cast<std::uint8_t>(reinterpret_cast<std::uintptr_t>(soft()->get_data(qp, VERBS_SOFT_QP)));
}

// How many ports the queue pair's device bonds, 0 if it bonds none.
std::uint32_t bonded_ports(const ibv_qp& qp) {
  const Context* context = context_of(qp.context);
  if (!context || context->device->capabilities.lag_ports < 2) return 0;
  return context->device->capabilities.lag_ports;
}

}  // namespace

namespace verbs::mlx5::model {

int mlx5dv_modify_qp_udp_sport(ibv_qp* qp, std::uint16_t udp_sport) {
  if (!qp) return EINVAL;
  const bool connected = qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_UC;
  if (!context_of(qp->context) || !connected || qp->state != IBV_QPS_RTS) return EOPNOTSUPP;
  return soft()->set_source_port(qp, udp_sport);
}

// All ports of the bond are up, so each queue pair uses its own. They lead to one network: the choice has no other
// effect.
int mlx5dv_query_qp_lag_port(ibv_qp* qp, std::uint8_t* port_num, std::uint8_t* active_port_num) {
  if (!qp || !port_num || !active_port_num) return EINVAL;
  const std::uint32_t ports = bonded_ports(*qp);
  if (ports == 0) return EOPNOTSUPP;
  const std::uint8_t chosen = chosen_port(qp);
  // As the kernel's driver does, queue pairs take the ports in turn.
  *port_num = chosen != 0 ? chosen : static_cast<std::uint8_t>(1 + qp->qp_num % ports);
  *active_port_num = *port_num;
  return 0;
}

int mlx5dv_modify_qp_lag_port(ibv_qp* qp, std::uint8_t port_num) {
  if (!qp) return EINVAL;
  const std::uint32_t ports = bonded_ports(*qp);
  if (ports == 0) return EOPNOTSUPP;
  if (port_num < 1 || port_num > ports) return EINVAL;
  soft()->set_data(qp, VERBS_SOFT_QP, reinterpret_cast<void*>(std::uintptr_t{port_num}), nullptr);
  return 0;
}

namespace {

using Known = std::map<const void*, std::unique_ptr<RawQp>>;  // by the ibv_qp or ibv_wq

Known& known() { return lasting<Known>(); }

bool lacks_privilege(const Context& context) { return context.device->capabilities.cap_net_raw != 0 && !has_net_raw(); }

// What the NIC makes by create(), with an entry that shows it by set(entry). The entry first, so that nothing fails
// when the NIC has made the object.
template <typename Create, typename Set>
auto create_known(Context& context, Create&& create, Set&& set) -> decltype(create()) {
  if (lacks_privilege(context)) return null_with<std::remove_pointer_t<decltype(create())>>(EPERM);
  Known one;
  one.emplace(nullptr, std::make_unique<RawQp>(context));
  auto* ibv = create();
  if (!ibv) return nullptr;
  Known::node_type entry = one.extract(one.begin());
  entry.key() = ibv;
  set(*entry.mapped(), ibv);
  const ModelLock guard(model_mutex());
  known().insert(std::move(entry));
  return ibv;
}

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  Context* context = context_of(pd->context);
  const auto create = [&] { return context->base.create_qp(pd, attr); };
  if (attr->qp_type != IBV_QPT_RAW_PACKET) return create();
  return create_known(*context, create, [](RawQp& qp, ibv_qp* ibv) { qp.ibv = ibv; });
}

// The NIC makes a queue pair that spreads its frames without the verb above.
ibv_qp* create_qp_ex(ibv_context* verbs, ibv_qp_init_attr_ex* attr) {
  Context* context = context_of(verbs);
  if (!context) return null_with<ibv_qp>(EINVAL);
  const auto create = [&] { return context->create_qp_ex(verbs, attr); };
  if ((attr->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE) == 0) return create();
  return create_known(*context, create, [](RawQp& qp, ibv_qp* ibv) { qp.ibv = ibv, qp.spreads = true; });
}

ibv_wq* create_wq(ibv_context* verbs, ibv_wq_init_attr* attr) {
  Context* context = context_of(verbs);
  if (!context) return null_with<ibv_wq>(EINVAL);
  return create_known(
      *context, [&] { return context->create_wq(verbs, attr); }, [](RawQp& qp, ibv_wq* wq) { qp.wq = wq; });
}

// Destroys what the NIC has made, by destroy(what the model knows of it, or null). That waits until the program has
// acknowledged its events, so not under the lock: the thread that has one may call the model before it acknowledges.
// Nobody finds the object meanwhile.
template <typename Destroy>
int destroy_known(const void* ibv, Destroy&& destroy) {
  Known::node_type entry;
  {
    const ModelLock guard(model_mutex());
    const auto found = known().find(ibv);
    if (found != known().end() && found->second->in_use()) return EBUSY;
    if (found != known().end()) entry = known().extract(found);
  }
  const int error = destroy(entry.empty() ? nullptr : entry.mapped().get());
  if (error == 0 || entry.empty()) return error;
  const ModelLock guard(model_mutex());
  known().insert(std::move(entry));
  return error;
}

int destroy_wq(ibv_wq* wq) {
  return destroy_known(wq, [&](const RawQp* is) { return is ? is->owner->destroy_wq(wq) : EINVAL; });
}

int modify_qp(ibv_qp* ibv, ibv_qp_attr* attr, int mask) {
  Context* context = context_of(ibv->context);
  if (const int error = context->base.modify_qp(ibv, attr, mask)) return error;
  if ((mask & IBV_QP_PORT) == 0) return 0;
  const ModelLock guard(model_mutex());
  RawQp* qp = find_qp(ibv);
  if (!qp) return 0;
  const DeviceLock lock(*context);
  qp->port_num = attr->port_num;
  return 0;
}

int destroy_qp(ibv_qp* ibv) {
  return destroy_known(ibv, [&](const RawQp*) { return context_of(ibv->context)->base.destroy_qp(ibv); });
}

}  // namespace

RawQp* find_qp(const ibv_qp* ibv) {
  const auto found = known().find(ibv);
  return found == known().end() || found->second->wq ? nullptr : found->second.get();
}

RawQp* find_receive_queue(const Context& context, std::uint32_t number) {
  for (const auto& [ibv, qp] : known()) {
    if (qp->owner == &context && !qp->spreads && qp->number() == number) return qp.get();
  }
  return nullptr;
}

void install_qp_verbs(Context& context, verbs_soft_verbs& control, verbs_context& verbs) {
  context.create_qp_ex = std::exchange(verbs.create_qp_ex, soft::kGuarded<create_qp_ex>);
  context.create_wq = std::exchange(verbs.create_wq, soft::kGuarded<create_wq>);
  context.destroy_wq = std::exchange(verbs.destroy_wq, soft::kGuarded<destroy_wq>);
  control.create_qp = create_qp;
  control.modify_qp = modify_qp;
  control.destroy_qp = destroy_qp;
}

void forget_qps(Context& context) {
  std::erase_if(known(), [&](const auto& entry) { return entry.second->owner == &context; });
}

namespace {

steering::Frame frame_of(const verbs_soft_frame& frame) {
  return {.data = frame.data, .size = frame.size, .headroom = frame.headroom, .tailroom = frame.tailroom};
}

verbs_soft_frame frame_of(const steering::Packet& packet) {
  const steering::Frame& frame = packet.frame();
  return {.data = frame.data, .size = frame.size, .headroom = frame.headroom, .tailroom = frame.tailroom};
}

// As mlx5 reports it: set for an IPv4 packet whose header and payload checksums are correct.
std::uint32_t checksums_of(const steering::Packet& packet) {
  const auto [ipv4_ok, l4_ok] = steering::check_checksums(packet.frame().data, packet.layers().outer);
  return ipv4_ok && l4_ok ? static_cast<std::uint32_t>(IBV_WC_IP_CSUM_OK) : 0;
}

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// Delivers the frames of one port.
class PortSink final : public steering::Sink {
 public:
  PortSink(Device& device, std::uint8_t port_num) : device_(device), port_num_(port_num) {}

  void to_receiver(void* receiver, const steering::Packet& packet) override {
    const auto& qp = *static_cast<const RawQp*>(receiver);
    if (!qp.wq && !qp.spreads && qp.port_num != port_num_) return;
    const verbs_soft_frame frame = frame_of(packet);
    const verbs_soft_delivery delivery{.flow_tag = packet.flow_tag, .wc_flags = checksums_of(packet), .cvlan = 0};
    if (qp.wq) {
      soft()->deliver_to_wq(qp.wq, &frame, &delivery);
    } else {
      soft()->deliver_frame(qp.ibv, &frame, &delivery);
    }
  }
  void to_wire(const steering::Packet& packet) override {
    const verbs_soft_frame frame = frame_of(packet);
    soft()->transmit_frame(device_.ibv, port_num_, &frame);
  }
  // Vports belong to the FDB, which the model does not have.
  void to_vport(std::uint32_t, const steering::Packet&) override {}
  void dropped(steering::DropReason reason, const steering::Packet&) override {
    ++*device_.drops[static_cast<std::size_t>(reason)];
  }

 private:
  Device& device_;
  const std::uint8_t port_num_;
};

void run(Device& device, Direction direction, std::uint8_t port_num, std::uint32_t source_sqn,
         const verbs_soft_frame& frame) {
  const bool receive = direction == Direction::kReceive;
  steering::Pipeline& pipeline = receive ? device.receive_pipeline : device.transmit_pipeline;
  const bool limited = device.capabilities.mtu_check != 0;
  pipeline.set_max_frame_size(limited ? soft()->frame_limit(device.ibv, port_num) : VERBS_SOFT_FRAME_MAX);
  const steering::Origin origin{.source_sqn = source_sqn, .source_vhca_port = port_num};
  steering::Packet packet(frame_of(frame), origin, device.clocked != 0 ? now() : 0);
  PortSink sink(device, port_num);
  pipeline.run(device.root(direction).first(), receive ? steering::Domain::kNicRx : steering::Domain::kNicTx, packet,
               sink);
}

}  // namespace

namespace {

// What becomes of a RoCE packet: its tables end with a drop, or anywhere else.
class PassSink final : public steering::Sink {
 public:
  explicit PassSink(Device& device) : device_(device) {}
  void to_receiver(void*, const steering::Packet&) override {}
  void to_wire(const steering::Packet&) override {}
  void to_vport(std::uint32_t, const steering::Packet&) override {}
  void dropped(steering::DropReason reason, const steering::Packet&) override {
    ++*device_.drops[static_cast<std::size_t>(reason)];
    passes = false;
  }
  bool passes = true;

 private:
  Device& device_;
};

// The tables see a frame; the packet begins with its IP header.
bool passes(Device& device, Direction direction, std::uint8_t port_num, const std::uint8_t* packet,
            std::uint32_t size) {
  constexpr std::uint32_t kHeader = 14, kTypeAt = 12;
  static thread_local std::uint8_t bytes[VERBS_SOFT_FRAME_MAX];
  if (size > sizeof bytes - kHeader) return true;
  std::fill_n(bytes, kTypeAt, std::uint8_t{0});
  const bool ipv6 = size > 0 && packet[0] >> 4 == 6;
  bytes[kTypeAt] = ipv6 ? 0x86 : 0x08;
  bytes[kTypeAt + 1] = ipv6 ? 0xdd : 0x00;
  std::copy_n(packet, size, bytes + kHeader);
  const steering::Frame frame{.data = bytes, .size = kHeader + size, .headroom = 0, .tailroom = 0};
  steering::Packet seen(frame, {.source_vhca_port = port_num}, device.clocked != 0 ? now() : 0);
  PassSink sink(device);
  // A miss passes, as on the transmit side.
  device.rdma_pipeline.run(device.root(direction).first(), steering::Domain::kNicTx, seen, sink);
  return sink.passes;
}

}  // namespace

std::uint32_t rdma_send(void*, ibv_device* ibv, std::uint8_t port_num, std::uint8_t* packet, std::uint32_t size,
                        std::uint32_t) {
  return passes(*find_device(ibv), Direction::kRdmaTransmit, port_num, packet, size) ? size : 0;
}

std::uint32_t rdma_receive(void*, ibv_device* ibv, std::uint8_t port_num, std::uint8_t* packet, std::uint32_t size,
                           std::uint32_t) {
  return passes(*find_device(ibv), Direction::kRdmaReceive, port_num, packet, size) ? size : 0;
}

void raw_send(void*, ibv_device* ibv, std::uint8_t port_num, ibv_qp* qp, verbs_soft_frame* frame) {
  run(*find_device(ibv), Direction::kTransmit, port_num, qp->qp_num, *frame);
}

void raw_receive(void*, ibv_device* ibv, std::uint8_t port_num, verbs_soft_frame* frame) {
  run(*find_device(ibv), Direction::kReceive, port_num, 0, *frame);
}

}  // namespace verbs::mlx5::model
