#include "nic/receive_queues.h"

#include <algorithm>
#include <bit>
#include <cerrno>

#include "wire/bytes.h"

namespace verbs::soft::nic {

int read_hash(const ibv_rx_hash_conf& conf, Spread* spread) {
  if (conf.rx_hash_function != IBV_RX_HASH_FUNC_TOEPLITZ || (conf.rx_hash_fields_mask & ~kHashFields) != 0) {
    return EOPNOTSUPP;
  }
  if (conf.rx_hash_key_len != Spread::kKeySize || conf.rx_hash_key == nullptr) return EINVAL;
  std::copy_n(conf.rx_hash_key, Spread::kKeySize, spread->key.begin());
  spread->fields = conf.rx_hash_fields_mask;
  return 0;
}

namespace {

// Takes the bytes of the input one after another: each bit that is set adds the 32 bits of the key that begin at its
// place.
class Toeplitz {
 public:
  explicit Toeplitz(const std::array<std::uint8_t, Spread::kKeySize>& key) : key_(key) {}

  void add(const void* bytes, std::size_t size) {
    const auto* from = static_cast<const std::uint8_t*>(bytes);
    for (std::size_t i = 0; i < size; ++i, ++at_) {
      const std::uint64_t window =
          std::uint64_t{wire::load_be<std::uint32_t>(&key_[at_])} << 8 | key_[at_ + sizeof(std::uint32_t)];
      for (unsigned bit = 0; bit < 8; ++bit) {
        if ((from[i] & 0x80u >> bit) != 0) hash_ ^= static_cast<std::uint32_t>(window >> (8 - bit));
      }
    }
  }
  std::uint32_t hash() const { return hash_; }

 private:
  const std::array<std::uint8_t, Spread::kKeySize>& key_;
  std::size_t at_ = 0;  // at most 36: two addresses and two ports
  std::uint32_t hash_ = 0;
};

}  // namespace

std::uint32_t hash_of(const Spread& spread, const FrameFields& fields) {
  constexpr std::uint8_t kTcp = 6;
  const HeaderFields& headers = (spread.fields & IBV_RX_HASH_INNER) != 0 ? fields.inner : fields.outer;
  const bool ipv4 = headers.ip_version == 4, tcp = headers.transport == kTcp;
  const auto has = [&](std::uint64_t field) { return (spread.fields & field) != 0; };
  Toeplitz hash(spread.key);
  if (headers.ip_version != 0) {
    const std::size_t size = ipv4 ? 4 : 16;
    if (has(ipv4 ? IBV_RX_HASH_SRC_IPV4 : IBV_RX_HASH_SRC_IPV6)) hash.add(headers.src_ip.data(), size);
    if (has(ipv4 ? IBV_RX_HASH_DST_IPV4 : IBV_RX_HASH_DST_IPV6)) hash.add(headers.dst_ip.data(), size);
  }
  if (headers.transport != 0) {
    if (has(tcp ? IBV_RX_HASH_SRC_PORT_TCP : IBV_RX_HASH_SRC_PORT_UDP)) hash.add(&headers.src_port, 2);
    if (has(tcp ? IBV_RX_HASH_DST_PORT_TCP : IBV_RX_HASH_DST_PORT_UDP)) hash.add(&headers.dst_port, 2);
  }
  return hash.hash();
}

Qp* queue_of(const Spread& spread, std::span<const std::uint8_t> frame) {
  const std::vector<Qp*>& queues = spread.table->queues;
  return queues[hash_of(spread, fields_of(frame)) & (queues.size() - 1)];
}

int ReceiveQueues::create(const QpParts& parts, ibv_wq_init_attr* attr, void* owner, Qp** queue) {
  constexpr std::uint32_t kKnown = IBV_WQ_INIT_ATTR_FLAGS;
  if (core_.config.steering == nullptr) return EOPNOTSUPP;
  if ((attr->comp_mask & ~kKnown) != 0 || attr->wq_type != IBV_WQT_RQ || attr->max_wr == 0) return EINVAL;
  if ((attr->comp_mask & IBV_WQ_INIT_ATTR_FLAGS) != 0 && attr->create_flags != 0) return EOPNOTSUPP;
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_RAW_PACKET;
  init.cap.max_recv_wr = attr->max_wr;
  init.cap.max_recv_sge = attr->max_sge;
  if (const int error = qps_.create(parts, &init, owner, queue)) return error;
  (*queue)->is_receive_queue = true;
  attr->max_wr = init.cap.max_recv_wr;
  attr->max_sge = init.cap.max_recv_sge;
  return 0;
}

int ReceiveQueues::modify(Qp* queue, const ibv_wq_attr& attr) {
  constexpr std::uint32_t kKnown = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE | IBV_WQ_ATTR_FLAGS;
  const ibv_wq_state state = wq_state_of(*queue);
  if ((attr.attr_mask & ~kKnown) != 0) return EINVAL;
  if ((attr.attr_mask & IBV_WQ_ATTR_FLAGS) != 0) return EOPNOTSUPP;
  if ((attr.attr_mask & IBV_WQ_ATTR_CURR_STATE) != 0 && attr.curr_wq_state != state) return EINVAL;
  if ((attr.attr_mask & IBV_WQ_ATTR_STATE) == 0 || attr.wq_state == state) return 0;
  ibv_qp_attr to{};
  switch (attr.wq_state) {
    case IBV_WQS_RESET:
      to.qp_state = IBV_QPS_RESET;
      return qps_.modify(queue, &to, IBV_QP_STATE);
    case IBV_WQS_ERR:
      to.qp_state = IBV_QPS_ERR;
      return qps_.modify(queue, &to, IBV_QP_STATE);
    case IBV_WQS_RDY:
      if (state != IBV_WQS_RESET) return EINVAL;
      // Frames of every port: the flow chooses it.
      to.port_num = 1;
      to.qp_state = IBV_QPS_INIT;
      if (const int error = qps_.modify(queue, &to, IBV_QP_STATE | IBV_QP_PORT)) return error;
      to.qp_state = IBV_QPS_RTR;
      return qps_.modify(queue, &to, IBV_QP_STATE);
    default:
      return EINVAL;
  }
}

int ReceiveQueues::make_table(std::span<Qp* const> queues, IndirectionTable* table) {
  if (!std::has_single_bit(queues.size()) || queues.size() > kMaxIndirection) return EINVAL;
  table->queues.assign(queues.begin(), queues.end());
  for (Qp* queue : table->queues) ++queue->holders;
  return 0;
}

int ReceiveQueues::release_table(IndirectionTable* table) {
  if (table->users > 0) return EBUSY;
  for (Qp* queue : table->queues) --queue->holders;
  table->queues.clear();
  return 0;
}

}  // namespace verbs::soft::nic
