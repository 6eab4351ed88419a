#include "binding/id.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "binding/address.h"

namespace verbs::rdmacm::binding {

Id::Id(const Library& library, std::shared_ptr<Environment> environment, rdma_cm_id* id)
    : Child(&kType), library_(library), environment_(std::move(environment)), id_(id), key_(environment_->next_key++) {
  environment_->ids[id_] = this;
}

Id::~Id() { static_cast<void>(release()); }

int Id::release() {
  if (!id_) return 0;
  // Waits for events that are not acknowledged: there is none, see get_cm_event.
  if (const int error = error_of(library_.rdma_destroy_id(id_))) return error;
  environment_->ids.erase(std::exchange(id_, nullptr));
  return 0;
}

void Id::left(const sockaddr_storage& group) {
  const auto found = std::find_if(groups_.begin(), groups_.end(), [&](const sockaddr_storage& each) {
    return std::memcmp(&each, &group, sizeof each) == 0;
  });
  if (found != groups_.end()) groups_.erase(found);
}

void Id::destroy_qp() {
  for (sockaddr_storage& group : groups_) library_.rdma_leave_multicast(id_, reinterpret_cast<sockaddr*>(&group));
  groups_.clear();
  library_.rdma_destroy_qp(id_);
}

napi_value Id::wrap(napi_env env, const Library& library, rdma_cm_id* id, const Taken& channel) {
  auto made = std::make_unique<Id>(library, Environment::of(env), id);
  const double key = made->key();
  const napi_value handle = Child::attach(env, std::move(made), {channel.get()});
  if (!handle) return nullptr;
  napi_value result = object(env);
  set(env, result, "handle", handle);
  set(env, result, "key", number(env, key));
  return result;
}

namespace {

// createId(channel, portSpace): { handle, key } | -errno
napi_value create_id(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Taken channel;
  auto* its_channel = Child::of<Channel>(arguments, 0, &channel);
  if (!its_channel) return nullptr;
  const Library& library = its_channel->library();
  rdma_cm_id* id = nullptr;
  const auto ps = static_cast<rdma_port_space>(to_u32(env, arguments[1]));
  errno = 0;
  if (const int error = error_of(library.rdma_create_id(its_channel->get(), &id, nullptr, ps))) {
    return failure(env, error);
  }
  return Id::wrap(env, library, id, channel);
}

// bindAddr(id, address): 0 | -errno
napi_value bind_addr(const Arguments& arguments) {
  SocketAddress address(arguments.env, arguments[1]);
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  errno = 0;
  return failure(arguments.env, error_of(id->library().rdma_bind_addr(id->get(), address.get())));
}

// resolveAddr(id, source | undefined, destination, timeoutMs): 0 | -errno
napi_value resolve_addr(const Arguments& arguments) {
  const napi_env env = arguments.env;
  SocketAddress source(env, arguments[1]);
  SocketAddress destination(env, arguments[2]);
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  const auto timeout = static_cast<int>(to_integer(env, arguments[3]));
  errno = 0;
  return failure(env, error_of(id->library().rdma_resolve_addr(id->get(), source.get(), destination.get(), timeout)));
}

// resolveRoute(id, timeoutMs): 0 | -errno
napi_value resolve_route(const Arguments& arguments) {
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  const auto timeout = static_cast<int>(to_integer(arguments.env, arguments[1]));
  errno = 0;
  return failure(arguments.env, error_of(id->library().rdma_resolve_route(id->get(), timeout)));
}

// setOption(id, level, name, value): 0 | -errno. `value` is a Uint8Array.
napi_value set_option(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  const Bytes value = to_bytes(env, arguments[3]);
  // A copy, aligned for any type.
  std::vector<std::uint64_t> aligned(value.size / sizeof(std::uint64_t) + 1);
  if (value.size != 0) std::memcpy(aligned.data(), value.data, value.size);
  errno = 0;
  return failure(env, error_of(id->library().rdma_set_option(id->get(), static_cast<int>(to_integer(env, arguments[1])),
                                                             static_cast<int>(to_integer(env, arguments[2])),
                                                             aligned.data(), value.size)));
}

// migrateId(id, channel): 0 | -errno
napi_value migrate_id(const Arguments& arguments) {
  Taken keep;
  Taken to;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  auto* channel = id ? Child::of<Channel>(arguments, 1, &to) : nullptr;
  if (!channel) return nullptr;
  if (&channel->library() != &id->library()) return failure(arguments.env, EINVAL);
  errno = 0;
  if (const int error = error_of(id->library().rdma_migrate_id(id->get(), channel->get()))) {
    return failure(arguments.env, error);
  }
  verbs_core_object* parent = to.get();
  return failure(arguments.env, core()->set_parents(keep.get(), &parent, 1));
}

napi_value bytes(napi_env env, const void* data, std::size_t size) {
  napi_value buffer = nullptr;
  napi_value result = nullptr;
  void* to = nullptr;
  if (napi_create_arraybuffer(env, size, &to, &buffer) != napi_ok) return nullptr;
  if (size != 0) std::memcpy(to, data, size);
  napi_create_typedarray(env, napi_uint8_array, size, buffer, 0, &result);
  return result;
}

napi_value write_path(napi_env env, const ibv_sa_path_rec& path) {
  napi_value result = object(env);
  set(env, result, "dgid", bytes(env, path.dgid.raw, sizeof path.dgid.raw));
  set(env, result, "sgid", bytes(env, path.sgid.raw, sizeof path.sgid.raw));
  set(env, result, "dlid", number(env, be16toh(path.dlid)));
  set(env, result, "slid", number(env, be16toh(path.slid)));
  set(env, result, "flowLabel", number(env, be32toh(path.flow_label)));
  set(env, result, "hopLimit", number(env, path.hop_limit));
  set(env, result, "trafficClass", number(env, path.traffic_class));
  set(env, result, "pkey", number(env, be16toh(path.pkey)));
  set(env, result, "sl", number(env, path.sl));
  set(env, result, "mtu", number(env, path.mtu));
  set(env, result, "rate", number(env, path.rate));
  set(env, result, "packetLifeTime", number(env, path.packet_life_time));
  return result;
}

// queryId(id): { ps, qpType, portNum, srcPort, dstPort, localAddr?, peerAddr?, sgid, dgid, pkey, paths, device? }
napi_value query_id(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Taken keep;
  auto* handle = Child::of<Id>(arguments, 0, &keep);
  if (!handle) return nullptr;
  rdma_cm_id* id = handle->get();
  const rdma_addr& address = id->route.addr;
  napi_value result = object(env);
  set(env, result, "ps", number(env, id->ps));
  set(env, result, "qpType", number(env, id->qp_type));
  set(env, result, "portNum", number(env, id->port_num));
  set(env, result, "srcPort", number(env, be16toh(handle->library().rdma_get_src_port(id))));
  set(env, result, "dstPort", number(env, be16toh(handle->library().rdma_get_dst_port(id))));
  set(env, result, "localAddr", write_address(env, rdma_get_local_addr(id)));
  set(env, result, "peerAddr", write_address(env, rdma_get_peer_addr(id)));
  set(env, result, "sgid", bytes(env, address.addr.ibaddr.sgid.raw, sizeof(ibv_gid)));
  set(env, result, "dgid", bytes(env, address.addr.ibaddr.dgid.raw, sizeof(ibv_gid)));
  set(env, result, "pkey", number(env, be16toh(address.addr.ibaddr.pkey)));
  napi_value paths = nullptr;
  napi_create_array(env, &paths);
  for (int i = 0; id->route.path_rec && i < id->route.num_paths; ++i) {
    napi_set_element(env, paths, static_cast<std::uint32_t>(i), write_path(env, id->route.path_rec[i]));
  }
  set(env, result, "paths", paths);
  return result;
}

}  // namespace

void init_id(napi_env env, napi_value exports) {
  export_guarded<create_id>(env, exports, "createId");
  export_guarded<bind_addr>(env, exports, "bindAddr");
  export_guarded<resolve_addr>(env, exports, "resolveAddr");
  export_guarded<resolve_route>(env, exports, "resolveRoute");
  export_guarded<set_option>(env, exports, "setOption");
  export_guarded<migrate_id>(env, exports, "migrateId");
  export_guarded<query_id>(env, exports, "queryId");
}

}  // namespace verbs::rdmacm::binding
