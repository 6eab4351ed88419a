// Contexts: librdmacm opens the devices, and keeps them open.
#include <cerrno>
#include <mutex>
#include <set>

#include "binding/id.h"

namespace verbs::rdmacm::binding {
namespace {

// { key, device, handle? } of a context. The handle is left out if JavaScript has an object for this key.
Napi::Value write_context(Napi::Env env, ibv_context* context, Napi::Value libibverbs, bool with_handle) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("key", Environment::of(env)->key_of(context));
  result.Set("device", context->device->name);
  if (!with_handle) return result;
  result.Set("handle", checked(env, core()->borrow_context(env, libibverbs, context)));
  return result;
}

// contextOf(id, libibverbs | undefined): { key, device, handle? } | undefined. With libibverbs there is a new handle.
Napi::Value context_of(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto id = take<Id>(info, 0);
  if (!id->get()->verbs) return info.Env().Undefined();
  return write_context(env, id->get()->verbs, info[1], !info[1].IsUndefined());
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
Napi::Value get_devices(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  int count = 0;
  errno = 0;
  ibv_context** list = library.rdma_get_devices(&count);
  if (!list) return failure(env, errno == 0 ? EIO : errno);
  const auto keep = [](ibv_context**) {};
  const std::unique_ptr<ibv_context*, void (*)(ibv_context**)> owned(
      list, all_known(list, count) ? library.rdma_free_devices : keep);
  Napi::Array result = Napi::Array::New(env);
  for (int i = 0; i < count; ++i) {
    result.Set(static_cast<std::uint32_t>(i), write_context(env, list[i], info[1], true));
  }
  return result;
}

}  // namespace

void init_device(Napi::Object exports) {
  export_function<context_of>(exports, "contextOf");
  export_function<get_devices>(exports, "getDevices");
}

}  // namespace verbs::rdmacm::binding
