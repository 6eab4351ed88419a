// Options, and the devices.
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "model/id/library.h"
#include "model/library/functions.h"

namespace verbs::rdmacm::model {
namespace {

template <typename Value>
int read(const void* from, std::size_t size, Value* value) {
  if (size != sizeof *value) return EINVAL;
  std::memcpy(value, from, sizeof *value);
  return 0;
}

int set_id_option(Id& id, int name, const void* value, std::size_t size) {
  if (!value && size > 0) return EFAULT;
  std::uint8_t byte = 0;
  int number = 0;
  switch (name) {
    case RDMA_OPTION_ID_TOS:
      if (const int error = read(value, size, &byte)) return error;
      id.traffic_class = byte;
      return 0;
    case RDMA_OPTION_ID_REUSEADDR:
      if (const int error = read(value, size, &number)) return error;
      if (id.state != State::kIdle && (number == 0 || id.state == State::kListening)) return EINVAL;
      id.reuse_address = number != 0;
      return 0;
    case RDMA_OPTION_ID_AFONLY:
      if (const int error = read(value, size, &number)) return error;
      if (id.state != State::kIdle && id.state != State::kBound) return EINVAL;
      id.family_only = number != 0;
      return 0;
    case RDMA_OPTION_ID_ACK_TIMEOUT:
      if (const int error = read(value, size, &byte)) return error;
      if (id.is_datagram()) return EINVAL;
      id.chosen_ack_timeout = byte;
      return 0;
    default:
      return ENOSYS;
  }
}

// The path is the one that RoCE has, whatever the program gives.
int set_path(Id& id, std::size_t size) {
  if (size % sizeof(ibv_path_data) != 0 || size == 0 || id.state != State::kAddressResolved) return EINVAL;
  return rdma_resolve_route(&id.cm, -1) == 0 ? 0 : errno;
}

}  // namespace
}  // namespace verbs::rdmacm::model

using namespace verbs::rdmacm::model;

int rdma_set_option(rdma_cm_id* id, int level, int name, void* value, size_t size) {
  return with_id(id, [&](Id& found) {
    if (level == RDMA_OPTION_ID) return result(set_id_option(found, name, value, size));
    return result(level == RDMA_OPTION_IB && name == RDMA_OPTION_IB_PATH ? set_path(found, size) : ENOSYS);
  });
}

int rdma_set_local_ece(rdma_cm_id* id, ibv_ece* ece) {
  return with_id(id, [&](Id& found) {
    if (found.cm.qp || !ece || ece->vendor_id == 0 || ece->comp_mask != 0) return fail(EINVAL);
    found.ece = *ece;
    return 0;
  });
}

// For programs that agree on the options of their providers themselves: no queue pair of the software NIC has any.
int rdma_get_remote_ece(rdma_cm_id* id, ibv_ece* ece) {
  return with_id(id, [&](Id& found) {
    if (found.cm.qp || !ece) return fail(EINVAL);
    *ece = {.vendor_id = found.peer.ece_vendor_id, .options = found.peer.ece_options, .comp_mask = 0};
    return 0;
  });
}

ibv_context** rdma_get_devices(int* count) {
  if (count) *count = 0;
  return guarded([&]() -> ibv_context** {
    const std::vector<Device*> all = devices();
    if (all.empty()) {
      errno = ENODEV;
      return nullptr;
    }
    auto** list = static_cast<ibv_context**>(std::calloc(all.size() + 1, sizeof(ibv_context*)));
    if (!list) return nullptr;
    for (std::size_t i = 0; i < all.size(); ++i) list[i] = all[i]->verbs;
    if (count) *count = static_cast<int>(all.size());
    return list;
  });
}

void rdma_free_devices(ibv_context** list) { std::free(list); }
