// Multicast groups.
#include <cerrno>
#include <cstring>

#include "binding/address.h"
#include "binding/id.h"

namespace verbs::rdmacm::binding {
namespace {

sockaddr_storage stored(SocketAddress& address) {
  sockaddr_storage storage{};
  if (address.get()) std::memcpy(&storage, address.get(), address.length());
  return storage;
}

// joinMulticast(id, address, joinFlags | undefined): 0 | -errno. With flags it is rdma_join_multicast_ex.
Napi::Value join_multicast(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  SocketAddress address(info[1]);
  const auto id = take<Id>(info, 0);
  const Library& library = id->library();
  errno = 0;
  int result = 0;
  if (info[2].IsUndefined()) {
    result = library.rdma_join_multicast(id->get(), address.get(), nullptr);
  } else if (library.rdma_join_multicast_ex) {
    rdma_cm_join_mc_attr_ex attr{};
    attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
    attr.join_flags = number_of<std::uint32_t>(info[2]);
    attr.addr = address.get();
    result = library.rdma_join_multicast_ex(id->get(), &attr, nullptr);
  } else {
    result = EOPNOTSUPP;
  }
  if (const int error = error_of(result)) return failure(env, error);
  id->joined(stored(address));
  return failure(env, 0);
}

// leaveMulticast(id, address): 0 | -errno
Napi::Value leave_multicast(const Napi::CallbackInfo& info) {
  SocketAddress address(info[1]);
  const auto id = take<Id>(info, 0);
  errno = 0;
  const int error = error_of(id->library().rdma_leave_multicast(id->get(), address.get()));
  if (error == 0) id->left(stored(address));
  return failure(info.Env(), error);
}

}  // namespace

void init_multicast(Napi::Object exports) {
  export_function<join_multicast>(exports, "joinMulticast");
  export_function<leave_multicast>(exports, "leaveMulticast");
}

}  // namespace verbs::rdmacm::binding
