// Contexts: librdmacm opens the devices, and keeps them open.
#include <cerrno>
#include <mutex>
#include <set>

#include "binding/id.h"

namespace verbs::rdmacm::binding {
namespace {

// { key, device, handle? } of a context. The handle is left out if JavaScript has an object for this key.
napi_value write_context(napi_env env, ibv_context* context, napi_value libibverbs, bool with_handle) {
  napi_value result = object(env);
  set(env, result, "key", number(env, Environment::of(env)->key_of(context)));
  set(env, result, "device", text(env, context->device->name));
  if (!with_handle) return result;
  const napi_value handle = core()->borrow_context(env, libibverbs, context);
  if (!handle) return nullptr;
  set(env, result, "handle", handle);
  return result;
}

// contextOf(id, libibverbs | undefined): { key, device, handle? } | undefined. With libibverbs there is a new handle.
napi_value context_of(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  if (!id->get()->verbs) return undefined(env);
  return write_context(env, id->get()->verbs, arguments[1], !is_undefined(env, arguments[1]));
}

// The library gives the devices back when the last list that has them is freed: a list with a new device is kept, so
// that the objects of JavaScript never outlive their contexts.
bool all_known(ibv_context** list, int count) {
  static std::mutex mutex;
  static auto* known = new std::set<ibv_context*>;
  const std::lock_guard guard(mutex);
  bool all = true;
  for (int i = 0; i < count; ++i) all &= !known->insert(list[i]).second;
  return all;
}

// getDevices(library, libibverbs): { key, device, handle }[] | -errno
napi_value get_devices(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  if (!library) return nullptr;
  int count = 0;
  errno = 0;
  ibv_context** list = library->rdma_get_devices(&count);
  if (!list) return failure(env, errno == 0 ? EIO : errno);
  napi_value result = nullptr;
  napi_create_array(env, &result);
  for (int i = 0; i < count; ++i) {
    const napi_value each = write_context(env, list[i], arguments[1], true);
    if (!each) break;  // with an exception pending
    napi_set_element(env, result, static_cast<std::uint32_t>(i), each);
  }
  if (all_known(list, count)) library->rdma_free_devices(list);
  return result;
}

}  // namespace

void init_device(napi_env env, napi_value exports) {
  export_guarded<context_of>(env, exports, "contextOf");
  export_guarded<get_devices>(env, exports, "getDevices");
}

}  // namespace verbs::rdmacm::binding
