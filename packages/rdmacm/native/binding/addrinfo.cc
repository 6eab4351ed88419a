// rdma_getaddrinfo, which may ask a name server: on a thread of Node's pool.
#include <cerrno>
#include <memory>
#include <optional>
#include <string>

#include "binding/address.h"

namespace verbs::rdmacm::binding {
namespace {

struct Lookup {
  explicit Lookup(const Library& its_library) : library(its_library) {}
  ~Lookup() {
    if (found) library.rdma_freeaddrinfo(found);
  }
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  const Library& library;
  std::optional<std::string> node;
  std::optional<std::string> service;
  rdma_addrinfo hints{};
  std::optional<SocketAddress> source;
  rdma_addrinfo* found = nullptr;
  int result = 0;
  int error = 0;
  napi_async_work work = nullptr;
  napi_deferred deferred = nullptr;
};

void look_up(napi_env, void* data) {
  auto* lookup = static_cast<Lookup*>(data);
  const auto text_of = [](const std::optional<std::string>& value) { return value ? value->c_str() : nullptr; };
  errno = 0;
  lookup->result =
      lookup->library.rdma_getaddrinfo(text_of(lookup->node), text_of(lookup->service), &lookup->hints, &lookup->found);
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

// An array, or [result, errno] of a failed call in an object.
napi_value write_outcome(napi_env env, const Lookup& lookup) {
  napi_value result = nullptr;
  if (lookup.result != 0) {
    result = object(env);
    set(env, result, "result", number(env, lookup.result));
    set(env, result, "errno", number(env, lookup.error));
    return result;
  }
  napi_create_array(env, &result);
  std::uint32_t count = 0;
  for (const rdma_addrinfo* info = lookup.found; info; info = info->ai_next) {
    napi_set_element(env, result, count++, write_addrinfo(env, *info));
  }
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
  auto lookup = std::make_unique<Lookup>(*library);
  if (!is_undefined(env, arguments[1])) lookup->node = to_string(env, arguments[1]);
  if (!is_undefined(env, arguments[2])) lookup->service = to_string(env, arguments[2]);
  const auto number_in = [&](const char* name) {
    return static_cast<int>(to_integer(env, provider::get(env, arguments[3], name)));
  };
  lookup->hints.ai_flags = number_in("flags");
  lookup->hints.ai_family = number_in("family");
  lookup->hints.ai_qp_type = number_in("qpType");
  lookup->hints.ai_port_space = number_in("portSpace");
  lookup->source.emplace(env, provider::get(env, arguments[3], "srcAddr"));
  lookup->hints.ai_src_addr = lookup->source->get();
  lookup->hints.ai_src_len = lookup->source->length();
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

}  // namespace

void init_addrinfo(napi_env env, napi_value exports) { export_guarded<get_addr_info>(env, exports, "getaddrinfo"); }

}  // namespace verbs::rdmacm::binding
