#include <rdma/ib_user_verbs.h>

#include <cerrno>

#include "kernel/create.h"
#include "kernel/drivers/driver.h"
#include "kernel/write/handlers.h"

namespace verbs::uverbs {

int create_comp_channel(Call& call) {
  const EventDescriptor events = make_event_descriptor();
  if (events.program < 0) return EMFILE;
  call.context.channel_writers[events.program] = events.writer;
  call.response.put(ib_uverbs_create_comp_channel_resp{static_cast<std::uint32_t>(events.program)});
  return 0;
}

int create_cq_legacy(Call& call) {
  const auto request = call.request.as<ib_uverbs_create_cq>();
  ib_uverbs_create_cq_resp response{};
  response.cqe = request.cqe;
  const int error = create_cq(call, request.user_handle, request.cqe, request.comp_channel, response.cq_handle);
  if (error == 0) call.response.put(response);
  return error;
}

int create_cq_ex(Call& call) {
  const auto request = call.request.as<ib_uverbs_ex_create_cq>();
  ib_uverbs_ex_create_cq_resp response{};
  response.base.cqe = request.cqe;
  response.response_length = sizeof(response);
  const int error = create_cq(call, request.user_handle, request.cqe, request.comp_channel, response.base.cq_handle);
  if (error == 0) call.response.put(response);
  return error;
}

int resize_cq(Call& call) {
  const auto request = call.request.as<ib_uverbs_resize_cq>();
  Object* cq = call.context.find(Type::kCq, request.cq_handle);
  if (cq == nullptr) return ENOENT;
  cq->numbers = {request.cqe};
  ib_uverbs_resize_cq_resp response{};
  response.cqe = request.cqe;
  call.response.put(response);
  driver().resized(call.context, *cq, call.driver_response);
  return 0;
}

int modify_cq(Call& call) {
  const auto request = call.request.as<ib_uverbs_ex_modify_cq>();
  return call.context.find(Type::kCq, request.cq_handle) != nullptr ? 0 : ENOENT;
}

int req_notify_cq(Call& call) {
  const auto request = call.request.as<ib_uverbs_req_notify_cq>();
  return call.context.find(Type::kCq, request.cq_handle) != nullptr ? 0 : ENOENT;
}

int destroy_cq(Call& call) {
  std::uint32_t events = 0;
  const int error = call.context.destroy(Type::kCq, call.request.as<ib_uverbs_destroy_cq>().cq_handle, &events);
  if (error == 0) call.response.put(ib_uverbs_destroy_cq_resp{0, events});
  return error;
}

}  // namespace verbs::uverbs
