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
napi_value join_multicast(const Arguments& arguments) {
  const napi_env env = arguments.env;
  SocketAddress address(env, arguments[1]);
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  const Library& library = id->library();
  errno = 0;
  int result = 0;
  if (is_undefined(env, arguments[2])) {
    result = library.rdma_join_multicast(id->get(), address.get(), nullptr);
  } else if (library.rdma_join_multicast_ex) {
    rdma_cm_join_mc_attr_ex attr{};
    attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
    attr.join_flags = to_u32(env, arguments[2]);
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
napi_value leave_multicast(const Arguments& arguments) {
  SocketAddress address(arguments.env, arguments[1]);
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  errno = 0;
  const int error = error_of(id->library().rdma_leave_multicast(id->get(), address.get()));
  if (error == 0) id->left(stored(address));
  return failure(arguments.env, error);
}

}  // namespace

void init_multicast(napi_env env, napi_value exports) {
  export_guarded<join_multicast>(env, exports, "joinMulticast");
  export_guarded<leave_multicast>(env, exports, "leaveMulticast");
}

}  // namespace verbs::rdmacm::binding
