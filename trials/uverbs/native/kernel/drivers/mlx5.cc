#include "kernel/drivers/mlx5.h"

#include <endian.h>
#include <infiniband/mlx5dv.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include <cstddef>

namespace verbs::uverbs {
namespace {

constexpr std::uint32_t kBasicBlock = 64;  // of a send queue
constexpr std::uint32_t kDoorbell = 4;     // a counter
constexpr std::uint32_t kDoorbells = 8;    // one for receiving, one for sending
constexpr std::uint32_t kSrqHeader = 16;   // of a work queue element of a shared receive queue
constexpr std::uint32_t kSegment = 16;
constexpr std::uint32_t kLeastSrqElement = 32;

std::uint64_t power_of_two(std::uint64_t value) {
  std::uint64_t power = 1;
  while (power < value) power <<= 1;
  return power;
}

void add_qp(Object& qp, Input request, Output response) {
  const auto given = request.as<mlx5_ib_create_qp>();
  qp.user_index = given.uidx;
  const std::uint64_t receive = std::uint64_t{given.rq_wqe_count} << given.rq_wqe_shift;
  const bool separate = given.sq_buf_addr != 0;  // RAW_PACKET
  if (given.rq_wqe_count != 0) qp.queues.push_back({"rq", given.buf_addr, receive, kBasicBlock, {}});
  if (given.sq_wqe_count != 0) {
    qp.queues.push_back({"sq",
                         separate ? given.sq_buf_addr : given.buf_addr + receive,
                         std::uint64_t{given.sq_wqe_count} * kBasicBlock,
                         kBasicBlock,
                         {}});
  }
  qp.queues.push_back({"doorbells", given.db_addr, kDoorbells, kDoorbells, {}});
  response.put(mlx5_ib_create_qp_resp{});
}

void add_srq(Object& srq, Input request, Output response) {
  const auto given = request.as<mlx5_ib_create_srq>();
  const std::uint64_t scatter = kSrqHeader + std::uint64_t{srq.numbers[1]} * kSegment;
  const std::uint64_t element = power_of_two(scatter < kLeastSrqElement ? kLeastSrqElement : scatter);
  srq.queues.push_back({"rq", given.buf_addr, power_of_two(srq.numbers[0] + 1) * element, element, {}});
  srq.queues.push_back({"doorbell", given.db_addr, kDoorbell, kDoorbell, {}});
  mlx5_ib_create_srq_resp answer{};
  answer.srqn = srq.number;
  response.put(answer);
}

void add_wq(Object& wq, Input request, Output response) {
  const auto given = request.as<mlx5_ib_create_wq>();
  wq.queues.push_back({"rq", given.buf_addr, std::uint64_t{given.rq_wqe_count} << given.rq_wqe_shift, kBasicBlock, {}});
  response.put(mlx5_ib_create_wq_resp{sizeof(mlx5_ib_create_wq_resp), 0});
}

}  // namespace

std::uint32_t Mlx5::id() const { return RDMA_DRIVER_MLX5; }

int Mlx5::get_context(Context& /*context*/, Input request, Output response) {
  const auto given = request.as<mlx5_ib_alloc_ucontext_req_v2>();
  mlx5_ib_alloc_ucontext_resp answer{};
  answer.qp_tab_size = 1U << 17;
  answer.bf_reg_size = 512;
  answer.tot_bfregs = given.total_num_bfregs;
  answer.cache_line_size = 64;
  answer.max_sq_desc_sz = 1024;
  answer.max_rq_desc_sz = 512;
  answer.max_send_wqebb = 32768;
  answer.max_recv_wr = 32768;
  answer.max_srq_recv_wr = 32767;
  answer.num_ports = 1;
  answer.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY | MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS;
  answer.response_length = sizeof(answer);
  answer.cqe_version = 1;
  answer.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
  answer.eth_min_inline = MLX5_USER_INLINE_MODE_NONE;
  answer.log_uar_size = 12;
  answer.num_uars_per_page = 1;
  answer.num_dyn_bfregs = 512;
  answer.dump_fill_mkey = 0x200;
  response.put(answer);
  return 0;
}

void Mlx5::query_device(Output response) {
  mlx5_ib_query_device_resp answer{};
  answer.response_length = sizeof(answer);
  answer.tso_caps.max_tso = 262144;
  answer.tso_caps.supported_qpts = 1U << 8;  // RAW_PACKET
  answer.rss_caps.rx_hash_fields_mask = 0xff;
  answer.rss_caps.rx_hash_function = MLX5_RX_HASH_FUNC_TOEPLITZ;
  answer.tunnel_offloads_caps = MLX5_IB_TUNNELED_OFFLOADS_VXLAN | MLX5_IB_TUNNELED_OFFLOADS_GRE;
  response.put(answer);
}

Addresses Mlx5::addresses(Type type) const {
  switch (type) {
    case Type::kQp:
      return {offsetof(mlx5_ib_create_qp, buf_addr), offsetof(mlx5_ib_create_qp, db_addr),
              offsetof(mlx5_ib_create_qp, sq_buf_addr)};
    case Type::kCq:
    case Type::kSrq:
    case Type::kWq:
      return {offsetof(mlx5_ib_create_cq, buf_addr), offsetof(mlx5_ib_create_cq, db_addr)};
    case Type::kFlow:
      return {sizeof(mlx5_ib_create_flow)};  // of the first description of counters
    case Type::kNewSize:
      return {offsetof(mlx5_ib_resize_cq, buf_addr)};
    default:
      return {};
  }
}

void Mlx5::complete_invalidation(Object& cq, const Object& qp, std::uint32_t rkey) {
  if (cq.address == 0) return;
  auto* entry = reinterpret_cast<mlx5_cqe64*>(cq.address);
  entry->srqn_uidx = htobe32(qp.user_index);
  entry->imm_inval_pkey = htobe32(rkey);
  entry->byte_cnt = htobe32(0);
  entry->sop_drop_qpn = htobe32(qp.number);
  // The owner of the first round is 0.
  entry->op_own = MLX5_CQE_RESP_SEND_INV << 4;
}

void Mlx5::created(Context& /*context*/, Object& object, std::uint32_t /*handle*/, Input request, Output response) {
  switch (object.type) {
    case Type::kPd:
      return response.put(mlx5_ib_alloc_pd_resp{object.number});
    case Type::kAh: {
      mlx5_ib_create_ah_resp answer{};
      answer.response_length = sizeof(answer);
      const unsigned char mac[] = {0x02, 0, 0, 0, 0, 0x02};
      std::memcpy(answer.dmac, mac, sizeof(mac));
      return response.put(answer);
    }
    case Type::kCq: {
      const auto given = request.as<mlx5_ib_create_cq>();
      if (given.cqe_size == sizeof(mlx5_cqe64)) object.address = given.buf_addr;
      return response.put(mlx5_ib_create_cq_resp{object.number, 0});
    }
    case Type::kQp:
      if (request.size == sizeof(mlx5_ib_create_qp_rss)) return response.put(mlx5_ib_create_qp_resp{});
      return add_qp(object, request, response);
    case Type::kSrq:
      return add_srq(object, request, response);
    case Type::kWq:
      return add_wq(object, request, response);
    case Type::kIndirectionTable:
      return response.put(mlx5_ib_create_rwq_ind_tbl_resp{sizeof(mlx5_ib_create_rwq_ind_tbl_resp), 0});
    default:
      return;
  }
}

}  // namespace verbs::uverbs
