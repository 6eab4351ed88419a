#include "nic/requester/local_request.h"

namespace verbs::soft::nic {

ibv_wc_status run_local(Core& core, Qp& qp, const SendWqe& wqe) {
  if (wqe.opcode == IBV_WR_LOCAL_INV) {
    return core.mws.invalidate(qp, wqe.rkey) ? IBV_WC_SUCCESS : core.config.rules.failed_invalidate;
  }
  const MwBind bind{.rkey = wqe.rkey,
                    .key_byte = wqe.key_byte,
                    .lkey = wqe.bind.lkey,
                    .address = wqe.remote_addr,
                    .length = wqe.bind.length,
                    .access = wqe.bind.access};
  return core.mws.bind(qp, bind) ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR;
}

}  // namespace verbs::soft::nic
