#include "nic/device/send_request.h"

#include <algorithm>

#include "nic/device/scatter.h"
#include "nic/device/work_request.h"

namespace verbs::soft::nic {

ibv_wc_status check_request(const Core& core, Qp& qp, std::uint32_t position) {
  const SendWqe& wqe = qp.sq.at(position);
  if (wqe.length > core.config.limits.max_msg_size) return IBV_WC_LOC_LEN_ERR;
  const WorkRequestInfo& info = info_of(wqe.opcode);
  if (info.has_own_response() && qp.attr.max_rd_atomic == 0) return IBV_WC_LOC_QP_OP_ERR;
  if ((wqe.flags & IBV_SEND_INLINE) != 0) return IBV_WC_SUCCESS;
  // Devices look at the local keys of a READ or an atomic when they write its answer.
  if (info.writes_local() && !core.config.rules.strict) return IBV_WC_SUCCESS;
  const unsigned access = info.writes_local() ? static_cast<unsigned>(IBV_ACCESS_LOCAL_WRITE) : 0u;
  return check_sges(core.mrs, qp.pd, qp.sq.sges(position), wqe.num_sge, access);
}

bool load_payload(const Core& core, Qp& qp, std::uint32_t position, std::size_t offset, std::uint8_t* to,
                  std::size_t size) {
  const SendWqe& wqe = qp.sq.at(position);
  if ((wqe.flags & IBV_SEND_INLINE) != 0) {
    std::copy_n(qp.sq.inline_data(position) + offset, size, to);
    return true;
  }
  const ibv_sge* sges = qp.sq.sges(position);
  if (wqe.num_sge == 1 && size == sges->length && size > 0) {  // all of the one element
    const Mr* mr = core.mrs.find(sges->lkey, qp.pd, 0);
    return mr != nullptr && mr->read(to, sges->addr, size);
  }
  return gather(core.mrs, qp.pd, sges, wqe.num_sge, offset, to, size);
}

void check_drained(Core& core, Qp& qp) {
  if (!qp.draining || qp.state != IBV_QPS_SQD || qp.req.una_psn != qp.req.next_psn) return;
  qp.draining = false;
  if (qp.sqd_notify) core.events.async({IBV_EVENT_SQ_DRAINED, &qp, nullptr, qp.attr.port_num});
}

}  // namespace verbs::soft::nic
