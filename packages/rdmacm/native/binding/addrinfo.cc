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

// The arguments node and service, and hints: { flags, family, qpType, portSpace, srcAddr? }.
class Wanted {
 public:
  Wanted(napi_env env, napi_value node, napi_value service, napi_value hints)
      : source_(env, provider::get(env, hints, "srcAddr")) {
    if (!is_undefined(env, node)) node_ = to_string(env, node);
    if (!is_undefined(env, service)) service_ = to_string(env, service);
    const auto number_in = [&](const char* name) {
      return static_cast<int>(to_integer(env, provider::get(env, hints, name)));
    };
    hints_->ai_flags = number_in("flags");
    hints_->ai_family = number_in("family");
    hints_->ai_qp_type = number_in("qpType");
    hints_->ai_port_space = number_in("portSpace");
    hints_->ai_src_addr = source_.get();
    hints_->ai_src_len = source_.length();
  }
  Wanted(const Wanted&) = delete;  // the hints point to the source
  Wanted& operator=(const Wanted&) = delete;

  const char* node() const { return node_ ? node_->c_str() : nullptr; }
  const char* service() const { return service_ ? service_->c_str() : nullptr; }
  const rdma_addrinfo* hints() { return hints_.get(); }

 private:
  std::optional<std::string> node_;
  std::optional<std::string> service_;
  SocketAddress source_;
  Given<rdma_addrinfo> hints_;
};

struct Lookup {
  Lookup(const Library& its_library, const Arguments& arguments)
      : library(its_library), wanted(arguments.env, arguments[1], arguments[2], arguments[3]) {}
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

napi_value write_addrinfo(napi_env env, const rdma_addrinfo& info) {
  napi_value result = object(env);
  set(env, result, "flags", number(env, info.ai_flags));
  set(env, result, "family", number(env, info.ai_family));
  set(env, result, "qpType", number(env, info.ai_qp_type));
  set(env, result, "portSpace", number(env, info.ai_port_space));
  set(env, result, "srcAddr", write_address(env, info.ai_src_addr));
  set(env, result, "dstAddr", write_address(env, info.ai_dst_addr));
  if (info.ai_src_canonname) set(env, result, "srcCanonname", text(env, info.ai_src_canonname));
  if (info.ai_dst_canonname) set(env, result, "dstCanonname", text(env, info.ai_dst_canonname));
  return result;
}

napi_value write_list(napi_env env, const rdma_addrinfo* first) {
  napi_value result = nullptr;
  napi_create_array(env, &result);
  std::uint32_t count = 0;
  for (const rdma_addrinfo* info = first; info; info = info->ai_next) {
    napi_set_element(env, result, count++, write_addrinfo(env, *info));
  }
  return result;
}

// An array, or [result, errno] of a failed call in an object.
napi_value write_outcome(napi_env env, const Lookup& lookup) {
  if (lookup.result == 0) return write_list(env, lookup.found);
  napi_value result = object(env);
  set(env, result, "result", number(env, lookup.result));
  set(env, result, "errno", number(env, lookup.error));
  return result;
}

void settle(napi_env env, napi_status, void* data) {
  const std::unique_ptr<Lookup> lookup(static_cast<Lookup*>(data));
  napi_delete_async_work(env, lookup->work);
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return;
  if (const napi_value outcome = write_outcome(env, *lookup)) napi_resolve_deferred(env, lookup->deferred, outcome);
  napi_close_handle_scope(env, scope);
}

// getaddrinfo(library, node | undefined, service | undefined, { flags, family, qpType, portSpace, srcAddr? }):
// Promise<object[] | { result, errno }>
napi_value get_addr_info(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  if (!library) return nullptr;
  auto lookup = std::make_unique<Lookup>(*library, arguments);
  napi_value promise = nullptr;
  if (napi_create_promise(env, &lookup->deferred, &promise) != napi_ok ||
      napi_create_async_work(env, nullptr, text(env, "verbs.getaddrinfo"), look_up, settle, lookup.get(),
                             &lookup->work) != napi_ok) {
    return nullptr;
  }
  if (napi_queue_async_work(env, lookup->work) != napi_ok) {
    napi_delete_async_work(env, lookup->work);
    return nullptr;
  }
  static_cast<void>(lookup.release());  // settle's now
  return promise;
}

// resolveAddrinfo(id, node | undefined, service | undefined, hints): 0 | -errno. With a name the library asks the name
// server here and now: the caller gives an address.
napi_value resolve_addrinfo(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Wanted wanted(env, arguments[1], arguments[2], arguments[3]);
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  if (!id->library().rdma_resolve_addrinfo) return failure(env, EOPNOTSUPP);
  errno = 0;
  return failure(
      env, error_of(id->library().rdma_resolve_addrinfo(id->get(), wanted.node(), wanted.service(), wanted.hints())));
}

// queryAddrinfo(id): object[] | -errno. The library gives the result of resolveAddrinfo once.
napi_value query_addrinfo(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  const Library& library = id->library();
  if (!library.rdma_query_addrinfo) return failure(env, EOPNOTSUPP);
  rdma_addrinfo* found = nullptr;
  errno = 0;
  if (const int error = error_of(library.rdma_query_addrinfo(id->get(), &found))) return failure(env, error);
  const std::unique_ptr<rdma_addrinfo, decltype(library.rdma_freeaddrinfo)> kept(found, library.rdma_freeaddrinfo);
  return write_list(env, found);
}

}  // namespace

void init_addrinfo(napi_env env, napi_value exports) {
  export_guarded<get_addr_info>(env, exports, "getaddrinfo");
  export_guarded<resolve_addrinfo>(env, exports, "resolveAddrinfo");
  export_guarded<query_addrinfo>(env, exports, "queryAddrinfo");
}

}  // namespace verbs::rdmacm::binding
