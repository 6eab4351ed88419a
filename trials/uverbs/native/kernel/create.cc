#include "kernel/create.h"

#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <cerrno>

#include "kernel/drivers/driver.h"

namespace verbs::uverbs {
namespace {

constexpr std::uint32_t kFirstNumber = 0x100;
constexpr std::uint32_t kKeyShift = 8;

}  // namespace

std::uint32_t number_of(std::uint32_t handle) { return kFirstNumber + handle; }
std::uint32_t key_of(std::uint32_t handle) { return (kFirstNumber + handle) << kKeyShift; }

EventDescriptor make_event_descriptor() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {-1, -1};
  return {ends[0], ends[1]};
}

int create(Call& call, Object object, const std::vector<Reference>& references, std::uint32_t& handle) {
  for (const Reference& reference : references) {
    if (call.context.find(reference.type, reference.handle) == nullptr) return ENOENT;
    object.holds.push_back(reference.handle);
  }
  const int error = driver().refuses(call.context, object, call.driver_request);
  if (error != 0) return error;
  handle = call.context.add(std::move(object));
  Object& added = *call.context.find_any(handle);
  added.number = number_of(handle);
  driver().created(call.context, added, handle, call.driver_request, call.driver_response);
  return 0;
}

int create_cq(Call& call, std::uint64_t user_handle, std::uint32_t cqe, int channel_fd, std::uint32_t& handle) {
  if (cqe == 0) return EINVAL;
  if (channel_fd >= 0 && call.context.channel_writers.count(channel_fd) == 0) return EBADF;
  Object cq;
  cq.type = Type::kCq;
  cq.user_handle = user_handle;
  cq.channel_fd = static_cast<std::uint32_t>(channel_fd + 1);
  cq.numbers = {cqe};
  return create(call, std::move(cq), {}, handle);
}

int create_qp(Call& call, const QpRequest& request, std::uint32_t& handle) {
  Object qp;
  qp.type = Type::kQp;
  qp.user_handle = request.user_handle;
  qp.numbers = request.numbers;
  std::vector<Reference> references;
  if (request.has_pd) references.push_back({Type::kPd, request.pd});
  if (request.has_xrcd) references.push_back({Type::kXrcd, request.xrcd});
  if (request.has_cqs) {
    references.push_back({Type::kCq, request.send_cq});
    references.push_back({Type::kCq, request.recv_cq});
  }
  if (request.has_srq) references.push_back({Type::kSrq, request.srq});
  if (request.has_table) references.push_back({Type::kIndirectionTable, request.table});
  return create(call, std::move(qp), references, handle);
}

}  // namespace verbs::uverbs
