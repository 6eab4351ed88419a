// rdma_getaddrinfo, which may ask a name server: on a thread of Node's pool. And rdma_resolve_addrinfo, whose result is
// an event, for addresses and the names of services.
#include <cerrno>
#include <memory>
#include <optional>
#include <string>

#include "binding/address.h"
#include "binding/id.h"
#include "provider/exchange.h"

namespace verbs::rdmacm::binding {
namespace {

// The arguments 1 to 3: node, service and hints: { flags, family, qpType, portSpace, srcAddr? }.
class Wanted {
 public:
  explicit Wanted(const Napi::CallbackInfo& info) : Wanted(info[1], info[2], Fields(info[3])) {}
  Wanted(const Wanted&) = delete;  // the hints point to the source
  Wanted& operator=(const Wanted&) = delete;

  const char* node() const { return node_ ? node_->c_str() : nullptr; }
  const char* service() const { return service_ ? service_->c_str() : nullptr; }
  const rdma_addrinfo* hints() { return hints_.get(); }

 private:
  Wanted(Napi::Value node, Napi::Value service, const Fields& hints) : source_(hints["srcAddr"]) {
    if (!node.IsUndefined()) node_ = string_of(node);
    if (!service.IsUndefined()) service_ = string_of(service);
    hints_->ai_flags = hints.number<int>("flags");
    hints_->ai_family = hints.number<int>("family");
    hints_->ai_qp_type = hints.number<int>("qpType");
    hints_->ai_port_space = hints.number<int>("portSpace");
    hints_->ai_src_addr = source_.get();
    hints_->ai_src_len = source_.length();
  }

  std::optional<std::string> node_;
  std::optional<std::string> service_;
  SocketAddress source_;
  Given<rdma_addrinfo> hints_;
};

struct Lookup {
  Lookup(const Library& its_library, const Napi::CallbackInfo& info) : library(its_library), wanted(info) {}
  ~Lookup() {
    if (found) library.rdma_freeaddrinfo(found);
  }
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  const Library& library;
  Wanted wanted;
  rdma_addrinfo* found = nullptr;
  int result = 0;
  int error = 0;
  napi_async_work work = nullptr;
  napi_deferred deferred = nullptr;
};

void look_up(napi_env, void* data) {
  auto* lookup = static_cast<Lookup*>(data);
  Wanted& wanted = lookup->wanted;
  errno = 0;
  lookup->result = lookup->library.rdma_getaddrinfo(wanted.node(), wanted.service(), wanted.hints(), &lookup->found);
  lookup->error = errno;
}

Napi::Value write_addrinfo(Napi::Env env, const rdma_addrinfo& info) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("flags", info.ai_flags);
  result.Set("family", info.ai_family);
  result.Set("qpType", info.ai_qp_type);
  result.Set("portSpace", info.ai_port_space);
  result.Set("srcAddr", write_address(env, info.ai_src_addr));
  result.Set("dstAddr", write_address(env, info.ai_dst_addr));
  if (info.ai_src_canonname) result.Set("srcCanonname", info.ai_src_canonname);
  if (info.ai_dst_canonname) result.Set("dstCanonname", info.ai_dst_canonname);
  return result;
}

Napi::Value write_list(Napi::Env env, const rdma_addrinfo* first) {
  Napi::Array result = Napi::Array::New(env);
  std::uint32_t count = 0;
  for (const rdma_addrinfo* info = first; info; info = info->ai_next) {
    result.Set(count++, write_addrinfo(env, *info));
  }
  return result;
}

// An array, or [result, errno] of a failed call in an object.
Napi::Value write_outcome(Napi::Env env, const Lookup& lookup) {
  if (lookup.result == 0) return write_list(env, lookup.found);
  Napi::Object result = Napi::Object::New(env);
  result.Set("result", lookup.result);
  result.Set("errno", lookup.error);
  return result;
}

void settle(napi_env env, napi_status, void* data) {
  const std::unique_ptr<Lookup> lookup(static_cast<Lookup*>(data));
  napi_delete_async_work(env, lookup->work);
  contain(env, [&]() -> napi_value {
    const Napi::HandleScope scope(env);
    napi_resolve_deferred(env, lookup->deferred, write_outcome(env, *lookup));
    return nullptr;
  });
}

// getaddrinfo(library, node | undefined, service | undefined, { flags, family, qpType, portSpace, srcAddr? }):
// Promise<object[] | { result, errno }>
Napi::Value get_addr_info(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  auto lookup = std::make_unique<Lookup>(library, info);
  napi_value promise = nullptr;
  if (napi_create_promise(env, &lookup->deferred, &promise) != napi_ok ||
      napi_create_async_work(env, nullptr, Napi::String::New(env, "verbs.getaddrinfo"), look_up, settle, lookup.get(),
                             &lookup->work) != napi_ok) {
    throw Napi::Error::New(env);
  }
  if (napi_queue_async_work(env, lookup->work) != napi_ok) {
    napi_delete_async_work(env, lookup->work);
    throw Napi::Error::New(env);
  }
  static_cast<void>(lookup.release());  // settle's now
  return {env, promise};
}

// resolveAddrinfo(id, node | undefined, service | undefined, hints): 0 | -errno. With a name the library asks the name
// server here and now: the caller gives an address.
Napi::Value resolve_addrinfo(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Wanted wanted(info);
  const auto id = take<Id>(info, 0);
  if (!id->library().rdma_resolve_addrinfo) return failure(env, EOPNOTSUPP);
  errno = 0;
  return failure(
      env, error_of(id->library().rdma_resolve_addrinfo(id->get(), wanted.node(), wanted.service(), wanted.hints())));
}

// queryAddrinfo(id): object[] | -errno. The library gives the result of resolveAddrinfo once.
Napi::Value query_addrinfo(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto id = take<Id>(info, 0);
  const Library& library = id->library();
  if (!library.rdma_query_addrinfo) return failure(env, EOPNOTSUPP);
  rdma_addrinfo* found = nullptr;
  errno = 0;
  if (const int error = error_of(library.rdma_query_addrinfo(id->get(), &found))) return failure(env, error);
  const std::unique_ptr<rdma_addrinfo, decltype(library.rdma_freeaddrinfo)> kept(found, library.rdma_freeaddrinfo);
  return write_list(env, found);
}

}  // namespace

void init_addrinfo(Napi::Object exports) {
  export_function<get_addr_info>(exports, "getaddrinfo");
  export_function<resolve_addrinfo>(exports, "resolveAddrinfo");
  export_function<query_addrinfo>(exports, "queryAddrinfo");
}

}  // namespace verbs::rdmacm::binding
