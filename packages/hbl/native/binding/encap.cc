// Encapsulations, and that queue pairs keep theirs.
#include <cerrno>

#include "binding/library.h"
#include "provider/child.h"

namespace verbs::hbl::binding {
namespace {

// The resource itself. Destroying it while a queue pair uses it would succeed, and break the queue pair silently: so it
// goes when the last of both is closed, the Encap and the queue pairs. The destroy function frees it also when it
// fails.
class Resource {
 public:
  Resource(const Library& library, hbldv_encap* encap) : library_(library), encap_(encap) {}
  ~Resource() { library_.hbldv_destroy_encap(encap_); }
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;
  std::uint32_t number() const { return encap_->encap_num; }

 private:
  const Library& library_;
  hbldv_encap* encap_;
};

class Encap final : public Child {
 public:
  static constexpr char kType = 0;
  explicit Encap(std::shared_ptr<Resource> its_resource) : Child(&kType), resource(std::move(its_resource)) {}
  const std::shared_ptr<Resource> resource;

 private:
  int release() override { return 0; }
};

// A queue pair's share.
class EncapUse final : public Child {
 public:
  static constexpr char kType = 0;
  explicit EncapUse(std::shared_ptr<Resource> resource) : Child(&kType), resource_(std::move(resource)) {}

 private:
  int release() override { return 0; }
  const std::shared_ptr<Resource> resource_;
};

// createEncap(library, context, { portNum, encapType, ipv4Addr, l4: udpDstPort or ipProto, header }):
// { handle, encapNum } | -errno
napi_value create_encap(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken context = library ? take(arguments, 1, VERBS_CORE_CONTEXT) : nullptr;
  if (!context) return nullptr;
  const napi_value given = arguments[2];
  const Bytes header = to_bytes(env, get(env, given, "header"));
  hbldv_encap_attr attr{};
  attr.tnl_hdr_ptr = reinterpret_cast<std::uintptr_t>(header.data);
  attr.tnl_hdr_size = static_cast<std::uint32_t>(header.size);
  attr.ipv4_addr = to_u32(env, get(env, given, "ipv4Addr"));
  attr.port_num = to_u32(env, get(env, given, "portNum"));
  attr.udp_dst_port = static_cast<std::uint16_t>(to_u32(env, get(env, given, "l4")));
  attr.encap_type = static_cast<hbldv_encap_type>(to_u32(env, get(env, given, "encapType")));
  errno = 0;
  hbldv_encap* encap = library->hbldv_create_encap(pointer<ibv_context>(context), &attr);
  if (!encap) return failure(env, errno == 0 ? EIO : errno);
  const auto resource = std::make_shared<Resource>(*library, encap);
  const napi_value handle = Child::attach(env, std::make_unique<Encap>(resource), {context.get()});
  if (!handle) return nullptr;
  napi_value result = object(env);
  set(env, result, "handle", handle);
  set(env, result, "encapNum", number(env, resource->number()));
  return result;
}

// useEncap(qp, encap): handle. Until it or the queue pair is closed, the encapsulation stays.
napi_value use_encap(const Arguments& arguments) {
  const Taken qp = take(arguments, 0, VERBS_CORE_QP);
  if (!qp) return nullptr;
  Taken keep;
  const Encap* encap = Child::of<Encap>(arguments, 1, &keep);
  if (!encap) return nullptr;
  return Child::attach(arguments.env, std::make_unique<EncapUse>(encap->resource), {qp.get()});
}

}  // namespace

void init_encap(napi_env env, napi_value exports) {
  export_function<create_encap>(env, exports, "createEncap");
  export_function<use_encap>(env, exports, "useEncap");
}

}  // namespace verbs::hbl::binding
