// mlx5dv_create_cq, mlx5dv_create_qp and mlx5dv_reg_dmabuf_mr: ordinary verbs with checks of the vendor's attributes.
#include <cstdlib>

#include "model/device/context.h"

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
