// The limits that the device advertises and enforces (ibv_device_attr). Defaults follow the kernel's soft-RoCE where it
// has a figure.
#pragma once

#include <cstdint>

namespace verbs::soft::nic {

struct Limits {
  int max_qp = 1 << 20;
  int max_qp_wr = 1 << 15;
  int max_sge = 32;
  int max_sge_rd = 32;
  int max_inline_data = 512;
  int max_cq = 1 << 20;
  int max_cqe = 1 << 20;
  int max_mr = (1 << 19) - 1;
  int max_mw = (1 << 19) - 1;
  int max_pd = 1 << 20;
  int max_ah = 1 << 20;
  int max_mcast_grp = 8192;
  int max_mcast_qp_attach = 56;  // per group
  int max_dm_size = 256 << 10;   // bytes in total
  int max_srq = 1 << 20;
  int max_srq_wr = 1 << 15;
  int max_srq_sge = 32;
  int max_qp_rd_atom = 128;
  int max_qp_init_rd_atom = 128;
  std::uint32_t max_msg_size = 1u << 31;
};

}  // namespace verbs::soft::nic
