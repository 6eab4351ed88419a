#include "model/device/soft.h"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <new>
#include <type_traits>

#include "model/device/devices.h"
#include "verbs_soft_fork.h"

namespace verbs::rdmacm::model {

namespace {

std::atomic<const Soft*> attached = nullptr;
std::atomic<int> reason = ENODEV;

bool resolve(void* library, Soft* soft) {
  bool all = true;
  // Each name has one version in the software NIC's library.
  const auto find = [&](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
    all &= *function != nullptr;
  };
  find("ibv_get_device_list", &soft->get_device_list);
  find("ibv_free_device_list", &soft->free_device_list);
  find("ibv_open_device", &soft->open_device);
  find("ibv_close_device", &soft->close_device);
  find("ibv_query_device", &soft->query_device);
  find("ibv_alloc_pd", &soft->alloc_pd);
  find("ibv_create_comp_channel", &soft->create_comp_channel);
  find("ibv_destroy_comp_channel", &soft->destroy_comp_channel);
  find("ibv_create_cq", &soft->create_cq);
  find("ibv_destroy_cq", &soft->destroy_cq);
  find("ibv_create_qp", &soft->create_qp);
  find("ibv_modify_qp", &soft->modify_qp);
  find("ibv_destroy_qp", &soft->destroy_qp);
  find("ibv_create_srq", &soft->create_srq);
  find("ibv_destroy_srq", &soft->destroy_srq);
  find("ibv_attach_mcast", &soft->attach_mcast);
  find("ibv_detach_mcast", &soft->detach_mcast);
  return all;
}

}  // namespace

int attach(verbs_soft_extension_function extension) {
  if (soft()) return 0;
  Dl_info place;
  if (!extension || dladdr(reinterpret_cast<void*>(extension), &place) == 0) return ENOSYS;
  void* library = dlopen(place.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (!library) return ENOSYS;
  try {
    auto created = std::make_unique<Soft>();
    created->table = extension(VERBS_SOFT_EXTENSION_VERSION);
    if (created->table) created->cm = created->table->connection_manager(VERBS_SOFT_CM_VERSION);
    if (!created->cm || !resolve(library, created.get())) return ENOSYS;
    // Never freed, as the library is never unloaded. Of two threads the first one attaches.
    const Soft* none = nullptr;
    if (attached.compare_exchange_strong(none, created.get())) {
      const auto& table = *created.release()->table;
      soft::model::take_at_fork<devices_mutex>(table, VERBS_SOFT_LOCK_OUTER);
    }
  } catch (const std::bad_alloc&) {
    reason = ENOMEM;
    return ENOMEM;
  }
  return 0;
}

const Soft* soft() { return attached.load(std::memory_order_acquire); }

int why_not() { return reason; }

}  // namespace verbs::rdmacm::model
