#include "library.h"

#include <dlfcn.h>

namespace verbs::core {
namespace {

constexpr const char* kMarker = "verbs_soft_marker";

template <typename F>
bool Find(void* handle, const char* name, const char* version, F* function) {
  *function = reinterpret_cast<F>(dlvsym(handle, name, version));
  return *function != nullptr;
}

}  // namespace

std::shared_ptr<const Library> Library::Open(const std::string& name, std::string* reason) {
  // RTLD_LOCAL: two libraries with the same names live side by side.
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    *reason = dlerror();
    return nullptr;
  }
  std::shared_ptr<Library> library(new Library());
  library->handle_ = handle;
  library->soft_ = dlsym(handle, kMarker) != nullptr;
  Functions& f = library->functions_;

  const char* missing = nullptr;
  // Asked for by version: the same names exist at IBVERBS_1.0 with the structures of before 2007.
  auto need = [&](const char* symbol, const char* version, auto* function) {
    if (!Find(handle, symbol, version, function) && missing == nullptr) missing = symbol;
  };
  need("ibv_get_device_list", "IBVERBS_1.1", &f.get_device_list);
  need("ibv_free_device_list", "IBVERBS_1.1", &f.free_device_list);
  need("ibv_get_device_name", "IBVERBS_1.1", &f.get_device_name);
  need("ibv_get_device_guid", "IBVERBS_1.1", &f.get_device_guid);
  need("ibv_read_sysfs_file", "IBVERBS_1.0", &f.read_sysfs_file);
  need("ibv_open_device", "IBVERBS_1.1", &f.open_device);
  need("ibv_close_device", "IBVERBS_1.1", &f.close_device);
  need("ibv_query_device", "IBVERBS_1.1", &f.query_device);
  need("ibv_query_port", "IBVERBS_1.1", &f.query_port);
  need("ibv_query_gid", "IBVERBS_1.1", &f.query_gid);
  need("ibv_query_pkey", "IBVERBS_1.1", &f.query_pkey);
  need("ibv_alloc_pd", "IBVERBS_1.1", &f.alloc_pd);
  need("ibv_dealloc_pd", "IBVERBS_1.1", &f.dealloc_pd);
  need("ibv_reg_mr", "IBVERBS_1.1", &f.reg_mr);
  need("ibv_dereg_mr", "IBVERBS_1.1", &f.dereg_mr);
  need("ibv_create_comp_channel", "IBVERBS_1.0", &f.create_comp_channel);
  need("ibv_destroy_comp_channel", "IBVERBS_1.0", &f.destroy_comp_channel);
  need("ibv_create_cq", "IBVERBS_1.1", &f.create_cq);
  need("ibv_destroy_cq", "IBVERBS_1.1", &f.destroy_cq);
  need("ibv_get_cq_event", "IBVERBS_1.1", &f.get_cq_event);
  need("ibv_ack_cq_events", "IBVERBS_1.1", &f.ack_cq_events);
  need("ibv_get_async_event", "IBVERBS_1.1", &f.get_async_event);
  need("ibv_ack_async_event", "IBVERBS_1.1", &f.ack_async_event);
  need("ibv_create_qp", "IBVERBS_1.1", &f.create_qp);
  need("ibv_modify_qp", "IBVERBS_1.1", &f.modify_qp);
  need("ibv_query_qp", "IBVERBS_1.1", &f.query_qp);
  need("ibv_destroy_qp", "IBVERBS_1.1", &f.destroy_qp);
  need("ibv_create_ah", "IBVERBS_1.1", &f.create_ah);
  need("ibv_destroy_ah", "IBVERBS_1.1", &f.destroy_ah);
  need("ibv_wc_status_str", "IBVERBS_1.1", &f.wc_status_str);
  need("ibv_event_type_str", "IBVERBS_1.1", &f.event_type_str);
  if (missing != nullptr) {
    *reason = name + " has no function " + missing + " of the expected version: it is too old or not libibverbs";
    return nullptr;
  }
  Find(handle, "ibv_get_device_index", "IBVERBS_1.9", &f.get_device_index);
  Find(handle, "_ibv_query_gid_table", "IBVERBS_1.11", &f.query_gid_table);
  return library;
}

void* Library::Symbol(const char* name, const char* version) const {
  return version == nullptr ? dlsym(handle_, name) : dlvsym(handle_, name, version);
}

}  // namespace verbs::core
