// hbldv_set_port_ex and hbldv_query_port.
#include <algorithm>
#include <cerrno>

#include "model/device/context.h"

using namespace verbs::hbl::model;

namespace {

constexpr std::uint32_t kMinWqes = 16, kMaxWqes = 32 * 1024;
constexpr std::uint32_t kMaxBackPressureOffset = 0x7ffffff;
constexpr std::uint32_t kMaxQps = 8192;
constexpr std::uint8_t kGaudi2Encaps = 2;  // the kernel reports 2 and grants 1

int check_offsets(const hbldv_port_ex_attr& attr) {
  const bool advanced = (attr.caps & HBLDV_PORT_CAP_ADVANCED) != 0;
  for (int i = 0; i < HBLDV_USER_BP_OFFS_MAX; ++i) {
    // The first two belong to the firmware and the queue manager.
    if (i < 2 && attr.qp_wq_bp_offs[i] != 0 && !advanced) return EINVAL;
    if (attr.qp_wq_bp_offs[i] > kMaxBackPressureOffset) return EINVAL;
  }
  return 0;
}

int check_array(const hbldv_wq_array_attr& array) {
  if (array.max_num_of_wqs == 0 && array.max_num_of_wqes_in_wq == 0) return 0;
  const bool ok = array.max_num_of_wqs != 0 && array.max_num_of_wqes_in_wq >= kMinWqes &&
                  array.max_num_of_wqes_in_wq <= kMaxWqes &&
                  (array.mem_id == HBLDV_MEM_HOST || array.mem_id == HBLDV_MEM_DEVICE) &&
                  array.swq_granularity <= HBLDV_SWQE_GRAN_64B;
  return ok ? 0 : EINVAL;
}

}  // namespace

namespace verbs::hbl::model {

int hbldv_set_port_ex(ibv_context* verbs, hbldv_port_ex_attr* attr) {
  if (!verbs) return EINVAL;
  Context* context = context_of(verbs);
  if (!context) return EOPNOTSUPP;
  if (!attr) return EINVAL;
  const std::lock_guard guard(context->mutex);
  if (const int error = context->check_port(attr->port_num, false)) return error;
  Port& port = context->port(attr->port_num);
  if (port.set) return EPERM;
  if (const int error = check_offsets(*attr)) return error;
  // The other arrays are reserved.
  const hbldv_wq_array_attr& array = attr->wq_arr_attr[HBLDV_WQ_ARRAY_TYPE_GENERIC];
  if (const int error = check_array(array)) return error;
  port.set = true;
  port.advanced = (attr->caps & HBLDV_PORT_CAP_ADVANCED) != 0;
  port.wqs = array.max_num_of_wqs;
  port.wqes = array.max_num_of_wqes_in_wq;
  return 0;
}

int hbldv_query_port(ibv_context* verbs, std::uint32_t port_num, hbldv_query_port_attr* attr) {
  if (!verbs) return EINVAL;
  Context* context = context_of(verbs);
  if (!context) return EOPNOTSUPP;
  if (!attr) return EINVAL;
  const std::lock_guard guard(context->mutex);
  if (const int error = context->check_port(port_num, false)) return error;
  attr->max_num_of_qps = kMaxQps;
  attr->num_allocated_qps = 1;  // the port's own, for Ethernet
  attr->max_allocated_qp_num = 0;
  for (const auto& [ibv, qp] : context->qps) {
    if (qp->number == 0 || qp->port_num != port_num) continue;
    ++attr->num_allocated_qps;
    attr->max_allocated_qp_num = std::max(attr->max_allocated_qp_num, qp->number);
  }
  attr->max_cq_size = kMaxCqes * kCqeSize;
  const bool gaudi2 = context->profile == Profile::kGaudi2;
  attr->advanced = !gaudi2 && context->port(port_num).advanced;
  attr->max_num_of_cqs = kCqsPerPort;
  attr->max_num_of_usr_fifos = kFifosPerPort;
  attr->max_num_of_encaps = gaudi2 ? kGaudi2Encaps : kEncapsPerPort;
  attr->nic_macro_idx = static_cast<std::uint8_t>((port_num - 1) / 2);
  attr->nic_phys_port_idx = static_cast<std::uint8_t>((port_num - 1) % 2);
  return 0;
}

}  // namespace verbs::hbl::model
