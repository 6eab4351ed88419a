#include "nic/nic.h"

#include <algorithm>
#include <cstdio>

#include "nic/device/qp_error.h"
#include "wire/bytes.h"

namespace verbs::soft::nic {

void Nic::query_device(ibv_device_attr* attr) const {
  const NicConfig& config = core_.config;
  const Limits& limits = config.limits;
  *attr = {};
  std::snprintf(attr->fw_ver, sizeof attr->fw_ver, "1.0.0");
  attr->node_guid = attr->sys_image_guid = wire::swap_if_little(config.guid);
  attr->max_mr_size = UINT64_MAX;
  attr->page_size_cap = 0xfffff000;
  attr->vendor_id = 0xffffff;
  attr->max_qp = limits.max_qp;
  attr->max_qp_wr = limits.max_qp_wr;
  attr->device_cap_flags = IBV_DEVICE_CHANGE_PHY_PORT | IBV_DEVICE_UD_AV_PORT_ENFORCE | IBV_DEVICE_SYS_IMAGE_GUID |
                           IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_MEM_WINDOW |
                           IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_XRC;
  attr->max_sge = limits.max_sge;
  attr->max_sge_rd = limits.max_sge_rd;
  attr->max_cq = limits.max_cq;
  attr->max_cqe = limits.max_cqe;
  attr->max_mr = limits.max_mr;
  attr->max_mw = limits.max_mw;
  attr->max_pd = limits.max_pd;
  attr->max_qp_rd_atom = limits.max_qp_rd_atom;
  attr->max_qp_init_rd_atom = limits.max_qp_init_rd_atom;
  attr->max_res_rd_atom =
      static_cast<int>(std::min<std::int64_t>(std::int64_t{limits.max_qp_rd_atom} * limits.max_qp, INT32_MAX));
  attr->atomic_cap = IBV_ATOMIC_HCA;
  attr->max_ah = limits.max_ah;
  attr->max_mcast_grp = limits.max_mcast_grp;
  attr->max_mcast_qp_attach = limits.max_mcast_qp_attach;
  attr->max_total_mcast_qp_attach = static_cast<int>(
      std::min<std::int64_t>(std::int64_t{limits.max_mcast_grp} * limits.max_mcast_qp_attach, INT32_MAX));
  attr->max_srq = limits.max_srq;
  attr->max_srq_wr = limits.max_srq_wr;
  attr->max_srq_sge = limits.max_srq_sge;
  attr->max_pkeys = 1;
  attr->local_ca_ack_delay = 15;
  attr->phys_port_cnt = static_cast<std::uint8_t>(core_.ports.size());
}

void Nic::fail() {
  core_.qps.for_each([this](Qp& qp) {
    if (qp.state != IBV_QPS_RESET && qp.state != IBV_QPS_ERR) enter_error(core_, qp);
  });
  core_.events.async({IBV_EVENT_DEVICE_FATAL, nullptr, nullptr, 0});
}

}  // namespace verbs::soft::nic
