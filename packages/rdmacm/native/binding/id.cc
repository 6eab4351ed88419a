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

Napi::Value Id::wrap(Napi::Env env, const Library& library, rdma_cm_id* id, const Taken<Channel>& channel) {
  auto made = std::make_unique<Id>(library, Environment::of(env), id);
  const double key = made->key();
  const Napi::Value handle = Child::attach(env, std::move(made), {channel.object()});
  Napi::Object result = Napi::Object::New(env);
  result.Set("handle", handle);
  result.Set("key", key);
  return result;
}

namespace {

// createId(channel, portSpace): { handle, key } | -errno
Napi::Value create_id(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto channel = take<Channel>(info, 0);
  const Library& library = channel->library();
  rdma_cm_id* id = nullptr;
  const auto ps = number_of<rdma_port_space>(info[1]);
  errno = 0;
  if (const int error = error_of(library.rdma_create_id(channel->get(), &id, nullptr, ps))) {
    return failure(env, error);
  }
  return Id::wrap(env, library, id, channel);
}

// bindAddr(id, address): 0 | -errno
Napi::Value bind_addr(const Napi::CallbackInfo& info) {
  SocketAddress address(info[1]);
  const auto id = take<Id>(info, 0);
  errno = 0;
  return failure(info.Env(), error_of(id->library().rdma_bind_addr(id->get(), address.get())));
}

// resolveAddr(id, source | undefined, destination, timeoutMs): 0 | -errno
Napi::Value resolve_addr(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  SocketAddress source(info[1]);
  SocketAddress destination(info[2]);
  const auto id = take<Id>(info, 0);
  const auto timeout = number_of<int>(info[3]);
  errno = 0;
  return failure(env, error_of(id->library().rdma_resolve_addr(id->get(), source.get(), destination.get(), timeout)));
}

// resolveRoute(id, timeoutMs): 0 | -errno
Napi::Value resolve_route(const Napi::CallbackInfo& info) {
  const auto id = take<Id>(info, 0);
  const auto timeout = number_of<int>(info[1]);
  errno = 0;
  return failure(info.Env(), error_of(id->library().rdma_resolve_route(id->get(), timeout)));
}

// setOption(id, level, name, value): 0 | -errno. `value` is a Uint8Array.
Napi::Value set_option(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto id = take<Id>(info, 0);
  const Bytes value = bytes_of(info[3]);
  // A copy, aligned for any type.
  std::vector<std::uint64_t> aligned(value.size / sizeof(std::uint64_t) + 1);
  if (value.size != 0) std::memcpy(aligned.data(), value.data, value.size);
  errno = 0;
  return failure(env, error_of(id->library().rdma_set_option(id->get(), number_of<int>(info[1]),
                                                             number_of<int>(info[2]), aligned.data(), value.size)));
}

// migrateId(id, channel): 0 | -errno
Napi::Value migrate_id(const Napi::CallbackInfo& info) {
  const auto id = take<Id>(info, 0);
  const auto channel = take<Channel>(info, 1);
  if (&channel->library() != &id->library()) return failure(info.Env(), EINVAL);
  errno = 0;
  if (const int error = error_of(id->library().rdma_migrate_id(id->get(), channel->get()))) {
    return failure(info.Env(), error);
  }
  verbs_core_object* parent = channel.object();
  return failure(info.Env(), core()->set_parents(id.object(), &parent, 1));
}

Napi::Value write_path(Napi::Env env, const ibv_sa_path_rec& path) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("dgid", copied(env, path.dgid.raw, sizeof path.dgid.raw));
  result.Set("sgid", copied(env, path.sgid.raw, sizeof path.sgid.raw));
  result.Set("dlid", be16toh(path.dlid));
  result.Set("slid", be16toh(path.slid));
  result.Set("flowLabel", be32toh(path.flow_label));
  result.Set("hopLimit", path.hop_limit);
  result.Set("trafficClass", path.traffic_class);
  result.Set("pkey", be16toh(path.pkey));
  result.Set("sl", path.sl);
  result.Set("mtu", path.mtu);
  result.Set("rate", path.rate);
  result.Set("packetLifeTime", path.packet_life_time);
  return result;
}

// queryId(id): { ps, qpType, portNum, srcPort, dstPort, localAddr?, peerAddr?, sgid, dgid, pkey, paths, device? }
Napi::Value query_id(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto handle = take<Id>(info, 0);
  rdma_cm_id* id = handle->get();
  const rdma_addr& address = id->route.addr;
  Napi::Object result = Napi::Object::New(env);
  result.Set("ps", number(env, id->ps));
  result.Set("qpType", number(env, id->qp_type));
  result.Set("portNum", id->port_num);
  result.Set("srcPort", be16toh(handle->library().rdma_get_src_port(id)));
  result.Set("dstPort", be16toh(handle->library().rdma_get_dst_port(id)));
  result.Set("localAddr", write_address(env, rdma_get_local_addr(id)));
  result.Set("peerAddr", write_address(env, rdma_get_peer_addr(id)));
  result.Set("sgid", copied(env, address.addr.ibaddr.sgid.raw, sizeof(ibv_gid)));
  result.Set("dgid", copied(env, address.addr.ibaddr.dgid.raw, sizeof(ibv_gid)));
  result.Set("pkey", be16toh(address.addr.ibaddr.pkey));
  Napi::Array paths = Napi::Array::New(env);
  for (int i = 0; id->route.path_rec && i < id->route.num_paths; ++i) {
    paths.Set(static_cast<std::uint32_t>(i), write_path(env, id->route.path_rec[i]));
  }
  result.Set("paths", paths);
  return result;
}

}  // namespace

void init_id(Napi::Object exports) {
  export_function<create_id>(exports, "createId");
  export_function<bind_addr>(exports, "bindAddr");
  export_function<resolve_addr>(exports, "resolveAddr");
  export_function<resolve_route>(exports, "resolveRoute");
  export_function<set_option>(exports, "setOption");
  export_function<migrate_id>(exports, "migrateId");
  export_function<query_id>(exports, "queryId");
}

}  // namespace verbs::rdmacm::binding
