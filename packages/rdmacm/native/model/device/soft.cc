#include "model/device/soft.h"

#include <dlfcn.h>

#include <atomic>
#include <memory>
#include <type_traits>

namespace verbs::rdmacm::model {

namespace {

std::atomic<const Soft*> attached = nullptr;

bool resolve(void* library, Soft* soft) {
  bool all = true;
  const auto find = [&](const char* name, const char* version, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlvsym(library, name, version));
    all &= *function != nullptr;
  };
  find("ibv_get_device_list", "IBVERBS_1.1", &soft->get_device_list);
  find("ibv_free_device_list", "IBVERBS_1.1", &soft->free_device_list);
  find("ibv_open_device", "IBVERBS_1.1", &soft->open_device);
  return all;
}

}  // namespace

int attach(verbs_soft_extension_function extension) {
  if (soft()) return 0;
  Dl_info place;
  if (!extension || dladdr(reinterpret_cast<void*>(extension), &place) == 0) return ENOSYS;
  void* library = dlopen(place.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (!library) return ENOSYS;
  auto created = std::make_unique<Soft>();
  created->table = extension(VERBS_SOFT_EXTENSION_VERSION);
  if (!created->table || !resolve(library, created.get())) return ENOSYS;
  // Never freed, as the library is never unloaded. Of two threads the first one attaches.
  const Soft* none = nullptr;
  if (attached.compare_exchange_strong(none, created.get())) static_cast<void>(created.release());
  return 0;
}

const Soft* soft() { return attached.load(std::memory_order_acquire); }

}  // namespace verbs::rdmacm::model
