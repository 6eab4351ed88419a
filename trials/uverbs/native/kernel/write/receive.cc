#include <rdma/ib_user_verbs.h>

#include <cerrno>

#include "kernel/create.h"
#include "kernel/write/handlers.h"

namespace verbs::uverbs {
namespace {

constexpr std::uint32_t kSrqBasic = 0;
constexpr std::uint32_t kSrqXrc = 1;

Object srq_object(std::uint64_t user_handle, std::uint32_t max_wr, std::uint32_t max_sge) {
  Object srq;
  srq.type = Type::kSrq;
  srq.user_handle = user_handle;
  srq.numbers = {max_wr, max_sge};
  return srq;
}

int answer(Call& call, int error, std::uint32_t handle, std::uint32_t max_wr, std::uint32_t max_sge) {
  ib_uverbs_create_srq_resp response{};
  response.srq_handle = handle;
  response.max_wr = max_wr;
  response.max_sge = max_sge;
  response.srqn = number_of(handle);
  if (error == 0) call.response.put(response);
  return error;
}

}  // namespace

int create_srq(Call& call) {
  const auto request = call.request.as<ib_uverbs_create_srq>();
  std::uint32_t handle = 0;
  const int error = create(call, srq_object(request.user_handle, request.max_wr, request.max_sge),
                           {{Type::kPd, request.pd_handle}}, handle);
  return answer(call, error, handle, request.max_wr, request.max_sge);
}

int create_xsrq(Call& call) {
  const auto request = call.request.as<ib_uverbs_create_xsrq>();
  std::vector<Reference> references{{Type::kPd, request.pd_handle}};
  if (request.srq_type == kSrqXrc) references.push_back({Type::kXrcd, request.xrcd_handle});
  if (request.srq_type != kSrqBasic) references.push_back({Type::kCq, request.cq_handle});
  std::uint32_t handle = 0;
  const int error = create(call, srq_object(request.user_handle, request.max_wr, request.max_sge), references, handle);
  return answer(call, error, handle, request.max_wr, request.max_sge);
}

int modify_srq(Call& call) {
  const auto request = call.request.as<ib_uverbs_modify_srq>();
  return call.context.find(Type::kSrq, request.srq_handle) != nullptr ? 0 : ENOENT;
}

int query_srq(Call& call) {
  const auto request = call.request.as<ib_uverbs_query_srq>();
  const Object* srq = call.context.find(Type::kSrq, request.srq_handle);
  if (srq == nullptr) return ENOENT;
  call.response.put(ib_uverbs_query_srq_resp{srq->numbers[0], srq->numbers[1], 0, 0});
  return 0;
}

int destroy_srq(Call& call) {
  std::uint32_t events = 0;
  const int error = call.context.destroy(Type::kSrq, call.request.as<ib_uverbs_destroy_srq>().srq_handle, &events);
  if (error == 0) call.response.put(ib_uverbs_destroy_srq_resp{events});
  return error;
}

int create_wq(Call& call) {
  const auto request = call.request.as<ib_uverbs_ex_create_wq>();
  Object wq;
  wq.type = Type::kWq;
  wq.user_handle = request.user_handle;
  ib_uverbs_ex_create_wq_resp response{};
  const int error =
      create(call, std::move(wq), {{Type::kPd, request.pd_handle}, {Type::kCq, request.cq_handle}}, response.wq_handle);
  response.response_length = sizeof(response);
  response.max_wr = request.max_wr;
  response.max_sge = request.max_sge;
  response.wqn = number_of(response.wq_handle);
  if (error == 0) call.response.put(response);
  return error;
}

int modify_wq(Call& call) {
  const auto request = call.request.as<ib_uverbs_ex_modify_wq>();
  return call.context.find(Type::kWq, request.wq_handle) != nullptr ? 0 : ENOENT;
}

int destroy_wq(Call& call) {
  std::uint32_t events = 0;
  const int error = call.context.destroy(Type::kWq, call.request.as<ib_uverbs_ex_destroy_wq>().wq_handle, &events);
  if (error == 0) call.response.put(ib_uverbs_ex_destroy_wq_resp{0, sizeof(ib_uverbs_ex_destroy_wq_resp), events, 0});
  return error;
}

int create_indirection_table(Call& call) {
  const auto request = call.request.as<ib_uverbs_ex_create_rwq_ind_table>();
  if (request.log_ind_tbl_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE) return EINVAL;
  const std::size_t count = std::size_t{1} << request.log_ind_tbl_size;
  if (call.request.size < sizeof(request) + count * sizeof(std::uint32_t)) return EINVAL;
  std::vector<Reference> references;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t handle = 0;
    std::memcpy(&handle, call.request.data + sizeof(request) + i * sizeof(handle), sizeof(handle));
    references.push_back({Type::kWq, handle});
  }
  Object table;
  table.type = Type::kIndirectionTable;
  ib_uverbs_ex_create_rwq_ind_table_resp response{};
  response.response_length = sizeof(response);
  const int error = create(call, std::move(table), references, response.ind_tbl_handle);
  response.ind_tbl_num = number_of(response.ind_tbl_handle);
  if (error == 0) call.response.put(response);
  return error;
}

int destroy_indirection_table(Call& call) {
  const auto request = call.request.as<ib_uverbs_ex_destroy_rwq_ind_table>();
  return call.context.destroy(Type::kIndirectionTable, request.ind_tbl_handle);
}

}  // namespace verbs::uverbs
