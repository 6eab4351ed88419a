#include <rdma/ib_user_verbs.h>

#include <cerrno>

#include "kernel/create.h"
#include "kernel/drivers/driver.h"
#include "kernel/write/handlers.h"

namespace verbs::uverbs {
namespace {

constexpr std::uint32_t kMaskState = 1;   // IB_QP_STATE
constexpr std::uint32_t kXrcTarget = 10;  // IBV_QPT_XRC_RECV

template <class Request>
QpRequest common(const Request& request) {
  QpRequest qp;
  qp.user_handle = request.user_handle;
  qp.type = request.qp_type;
  qp.pd = request.pd_handle;
  qp.send_cq = request.send_cq_handle;
  qp.recv_cq = request.recv_cq_handle;
  // The target of XRC has neither a protection domain nor queues: the field names its XRC domain.
  if (qp.type == kXrcTarget) {
    qp.has_pd = qp.has_cqs = false;
    qp.has_xrcd = true;
    qp.xrcd = request.pd_handle;
  }
  qp.has_srq = request.is_srq != 0;
  qp.srq = request.srq_handle;
  qp.numbers = {request.max_send_wr, request.max_recv_wr, request.max_send_sge, request.max_recv_sge,
                request.max_inline_data};
  return qp;
}

ib_uverbs_create_qp_resp answer(const QpRequest& request, std::uint32_t handle) {
  ib_uverbs_create_qp_resp response{};
  response.qp_handle = handle;
  response.qpn = number_of(handle);
  response.max_send_wr = request.numbers[0];
  response.max_recv_wr = request.numbers[1];
  response.max_send_sge = request.numbers[2];
  response.max_recv_sge = request.numbers[3];
  response.max_inline_data = request.numbers[4];
  return response;
}

int modify(Call& call, const ib_uverbs_modify_qp& request) {
  Object* qp = call.context.find(Type::kQp, request.qp_handle);
  if (qp == nullptr) return ENOENT;
  const QpChange change{request.attr_mask, request.qp_state, request.port_num, request.path_mtu};
  const int error = driver().modifies(call.context, *qp, change, call.driver_request, call.driver_response);
  if (error != 0) return error;
  if ((request.attr_mask & kMaskState) != 0) qp->state = request.qp_state;
  return 0;
}

}  // namespace

int create_qp_legacy(Call& call) {
  const QpRequest request = common(call.request.as<ib_uverbs_create_qp>());
  std::uint32_t handle = 0;
  const int error = create_qp(call, request, handle);
  if (error == 0) call.response.put(answer(request, handle));
  return error;
}

int create_qp_ex(Call& call) {
  const auto given = call.request.as<ib_uverbs_ex_create_qp>();
  QpRequest request = common(given);
  request.has_table = (given.comp_mask & IB_UVERBS_CREATE_QP_MASK_IND_TABLE) != 0;
  request.table = given.rwq_ind_tbl_handle;
  if (request.has_table) request.has_cqs = false;
  if (request.has_table && given.max_recv_sge != 0) return EINVAL;
  std::uint32_t handle = 0;
  const int error = create_qp(call, request, handle);
  if (error == 0)
    call.response.put(ib_uverbs_ex_create_qp_resp{answer(request, handle), 0, sizeof(ib_uverbs_ex_create_qp_resp)});
  return error;
}

int query_qp(Call& call) {
  const auto request = call.request.as<ib_uverbs_query_qp>();
  const Object* qp = call.context.find(Type::kQp, request.qp_handle);
  if (qp == nullptr) return ENOENT;
  ib_uverbs_query_qp_resp response{};
  response.qp_state = response.cur_qp_state = static_cast<std::uint8_t>(qp->state);
  call.response.put(response);
  return 0;
}

int modify_qp(Call& call) { return modify(call, call.request.as<ib_uverbs_modify_qp>()); }

int modify_qp_ex(Call& call) {
  const int error = modify(call, call.request.as<ib_uverbs_ex_modify_qp>().base);
  if (error == 0) call.response.put(ib_uverbs_ex_modify_qp_resp{0, sizeof(ib_uverbs_ex_modify_qp_resp)});
  return error;
}

int destroy_qp(Call& call) {
  std::uint32_t events = 0;
  const int error = call.context.destroy(Type::kQp, call.request.as<ib_uverbs_destroy_qp>().qp_handle, &events);
  if (error == 0) call.response.put(ib_uverbs_destroy_qp_resp{events});
  return error;
}

// rxe: the requests stand in the mapped queue already.
int post_send(Call& call) {
  const auto request = call.request.as<ib_uverbs_post_send>();
  if (call.context.find(Type::kQp, request.qp_handle) == nullptr) return ENOENT;
  call.response.put(ib_uverbs_post_send_resp{});
  return 0;
}

int attach_mcast(Call& call) {
  const auto request = call.request.as<ib_uverbs_attach_mcast>();
  return call.context.find(Type::kQp, request.qp_handle) != nullptr ? 0 : ENOENT;
}

int create_flow(Call& call) {
  const auto request = call.request.as<ib_uverbs_create_flow>();
  Object flow;
  flow.type = Type::kFlow;
  ib_uverbs_create_flow_resp response{};
  const int error = create(call, std::move(flow), {{Type::kQp, request.qp_handle}}, response.flow_handle);
  if (error == 0) call.response.put(response);
  return error;
}

int destroy_flow(Call& call) {
  return call.context.destroy(Type::kFlow, call.request.as<ib_uverbs_destroy_flow>().flow_handle);
}

}  // namespace verbs::uverbs
