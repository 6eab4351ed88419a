// Encapsulations, and that queue pairs keep theirs.
#include "binding/encap.h"

#include <cerrno>
#include <utility>

#include "binding/library.h"
#include "provider/exchange.h"

namespace verbs::hbl::binding {
namespace {

// The resource itself. Destroying it while a queue pair uses it would succeed, and break the queue pair silently: so it
// goes when the last user is gone, the Encap or a queue pair.
class Resource {
 public:
  Resource(const Library& library, hbldv_encap* encap) : library_(library), encap_(encap), number_(encap->encap_num) {}
  ~Resource() { static_cast<void>(destroy()); }
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;
  std::uint32_t number() const { return number_; }
  // 0 or an errno. The C function frees the structure also when it fails: it is called once.
  int destroy() {
    hbldv_encap* encap = std::exchange(encap_, nullptr);
    return encap ? library_.hbldv_destroy_encap(encap) : 0;
  }

 private:
  const Library& library_;
  hbldv_encap* encap_;
  const std::uint32_t number_;
};

using Share = std::shared_ptr<Resource>;

int give_back(Share& share) {
  const Share last = std::exchange(share, nullptr);
  return last && last.use_count() == 1 ? last->destroy() : 0;
}

class Encap final : public Child {
 public:
  static constexpr char kType = 0;
  explicit Encap(Share resource) : Child(&kType), resource_(std::move(resource)) {}
  // Null after a destruction that failed.
  const Share& resource() const { return resource_; }

 private:
  int release() override { return give_back(resource_); }
  Share resource_;
};

// createEncap(library, context, { portNum, encapType, ipv4Addr, l4: udpDstPort or ipProto, header }):
// { handle, encapNum } | -errno
Napi::Value create_encap(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const auto context = take<ibv_context>(info, 1);
  const Fields given(info[2]);
  Given<hbldv_encap_attr> attr;
  attr->ipv4_addr = given.u32("ipv4Addr");
  attr->port_num = given.u32("portNum");
  attr->udp_dst_port = given.number<std::uint16_t>("l4");
  attr->encap_type = given.number<hbldv_encap_type>("encapType");
  // Last, since a getter may take the memory of a buffer away.
  const Bytes header = given.bytes("header");
  attr->tnl_hdr_ptr = reinterpret_cast<std::uintptr_t>(header.data);
  attr->tnl_hdr_size = static_cast<std::uint32_t>(header.size);
  errno = 0;
  hbldv_encap* encap = library.hbldv_create_encap(context.get(), attr.get());
  if (!encap) return failure(env, errno == 0 ? EIO : errno);
  const auto resource = std::make_shared<Resource>(library, encap);
  const Napi::Value handle = Child::attach(env, std::make_unique<Encap>(resource), {context.object()});
  Napi::Object result = Napi::Object::New(env);
  result.Set("handle", handle);
  result.Set("encapNum", resource->number());
  return result;
}

int drop_share(void* data) {
  const std::unique_ptr<Share> share(static_cast<Share*>(data));
  return give_back(*share);
}

}  // namespace

EncapShare encap_of(Napi::Value value) { return take<Encap>(value)->resource(); }

int keep_encap(verbs_core_object* qp, const EncapShare& share) {
  if (!share) return 0;
  auto kept = std::make_unique<Share>(std::static_pointer_cast<Resource>(share));
  if (const int error = core()->qp_keep(qp, drop_share, kept.get())) return error;
  static_cast<void>(kept.release());  // the queue pair's now
  return 0;
}

void init_encap(Napi::Object exports) { export_function<create_encap>(exports, "createEncap"); }

}  // namespace verbs::hbl::binding
