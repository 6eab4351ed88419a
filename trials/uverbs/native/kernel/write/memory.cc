#include <rdma/ib_user_verbs.h>

#include <cerrno>

#include "kernel/create.h"
#include "kernel/write/handlers.h"

namespace verbs::uverbs {
namespace {

Object of(Type type) {
  Object object;
  object.type = type;
  return object;
}

}  // namespace

int alloc_pd(Call& call) {
  ib_uverbs_alloc_pd_resp response{};
  const int error = create(call, of(Type::kPd), {}, response.pd_handle);
  if (error == 0) call.response.put(response);
  return error;
}

int dealloc_pd(Call& call) {
  return call.context.destroy(Type::kPd, call.request.as<ib_uverbs_dealloc_pd>().pd_handle);
}

int create_ah(Call& call) {
  const auto request = call.request.as<ib_uverbs_create_ah>();
  if (request.attr.port_num != 1) return EINVAL;
  ib_uverbs_create_ah_resp response{};
  const int error = create(call, of(Type::kAh), {{Type::kPd, request.pd_handle}}, response.ah_handle);
  if (error == 0) call.response.put(response);
  return error;
}

int destroy_ah(Call& call) {
  return call.context.destroy(Type::kAh, call.request.as<ib_uverbs_destroy_ah>().ah_handle);
}

int reg_mr(Call& call) {
  const auto request = call.request.as<ib_uverbs_reg_mr>();
  if ((request.start & 4095) != (request.hca_va & 4095)) return EINVAL;
  Object mr = of(Type::kMr);
  mr.address = request.start;
  mr.length = request.length;
  ib_uverbs_reg_mr_resp response{};
  const int error = create(call, mr, {{Type::kPd, request.pd_handle}}, response.mr_handle);
  response.lkey = response.rkey = key_of(response.mr_handle);
  if (error == 0) call.response.put(response);
  return error;
}

int rereg_mr(Call& call) {
  const auto request = call.request.as<ib_uverbs_rereg_mr>();
  Object* mr = call.context.find(Type::kMr, request.mr_handle);
  if (mr == nullptr) return ENOENT;
  if ((request.flags & 1) != 0) {  // IB_MR_REREG_TRANS
    mr->address = request.start;
    mr->length = request.length;
  }
  ib_uverbs_rereg_mr_resp response{};
  response.lkey = response.rkey = key_of(request.mr_handle);
  call.response.put(response);
  return 0;
}

int dereg_mr(Call& call) { return call.context.destroy(Type::kMr, call.request.as<ib_uverbs_dereg_mr>().mr_handle); }

int alloc_mw(Call& call) {
  const auto request = call.request.as<ib_uverbs_alloc_mw>();
  ib_uverbs_alloc_mw_resp response{};
  const int error = create(call, of(Type::kMw), {{Type::kPd, request.pd_handle}}, response.mw_handle);
  response.rkey = key_of(response.mw_handle);
  if (error == 0) call.response.put(response);
  return error;
}

int dealloc_mw(Call& call) {
  return call.context.destroy(Type::kMw, call.request.as<ib_uverbs_dealloc_mw>().mw_handle);
}

int open_xrcd(Call& call) {
  ib_uverbs_open_xrcd_resp response{};
  const int error = create(call, of(Type::kXrcd), {}, response.xrcd_handle);
  if (error == 0) call.response.put(response);
  return error;
}

int close_xrcd(Call& call) {
  return call.context.destroy(Type::kXrcd, call.request.as<ib_uverbs_close_xrcd>().xrcd_handle);
}

}  // namespace verbs::uverbs
