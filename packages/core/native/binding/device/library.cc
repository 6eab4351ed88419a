#include "binding/device/library.h"

#include <dlfcn.h>

#include <type_traits>

#include "provider/loaded_library.h"

namespace verbs::core {
namespace {

constexpr const char* kMarker = "verbs_soft_marker";

}  // namespace

std::shared_ptr<const Library> Library::open(const std::string& name, const std::string& prefix, std::string* reason) {
  // RTLD_LOCAL: two libraries with the same names live side by side.
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    *reason = dlerror();
    return nullptr;
  }
  std::shared_ptr<Library> library(new Library());
  library->handle_ = handle;
  library->prefix_ = prefix;
  library->soft_ = dlsym(handle, kMarker) != nullptr;
  Functions& f = library->functions_;

  const char* missing = nullptr;
  // Asked for by version: the same names exist at IBVERBS_1.0 with the structures of before 2007.
  auto find = [&](const char* symbol, const char* version, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(library->symbol(symbol, version));
    return *function != nullptr;
  };
  auto need = [&](const char* symbol, const char* version, auto* function) {
    if (!find(symbol, version, function) && missing == nullptr) missing = symbol;
  };
  // Functions without an object, which any other library has as well: a build with a prefix need not have them.
  auto text = [&](const char* symbol, const char* version, auto* function) {
    if (prefix.empty())
      need(symbol, version, function);
    else
      find(symbol, version, function);
  };
  need("ibv_get_device_list", "IBVERBS_1.1", &f.get_device_list);
  need("ibv_free_device_list", "IBVERBS_1.1", &f.free_device_list);
  need("ibv_get_device_name", "IBVERBS_1.1", &f.get_device_name);
  need("ibv_get_device_guid", "IBVERBS_1.1", &f.get_device_guid);
  text("ibv_read_sysfs_file", "IBVERBS_1.0", &f.read_sysfs_file);
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
  need("ibv_rereg_mr", "IBVERBS_1.1", &f.rereg_mr);
  need("ibv_create_comp_channel", "IBVERBS_1.0", &f.create_comp_channel);
  need("ibv_destroy_comp_channel", "IBVERBS_1.0", &f.destroy_comp_channel);
  need("ibv_create_cq", "IBVERBS_1.1", &f.create_cq);
  need("ibv_resize_cq", "IBVERBS_1.1", &f.resize_cq);
  need("ibv_destroy_cq", "IBVERBS_1.1", &f.destroy_cq);
  need("ibv_get_cq_event", "IBVERBS_1.1", &f.get_cq_event);
  need("ibv_ack_cq_events", "IBVERBS_1.1", &f.ack_cq_events);
  need("ibv_get_async_event", "IBVERBS_1.1", &f.get_async_event);
  need("ibv_ack_async_event", "IBVERBS_1.1", &f.ack_async_event);
  need("ibv_create_qp", "IBVERBS_1.1", &f.create_qp);
  need("ibv_modify_qp", "IBVERBS_1.1", &f.modify_qp);
  need("ibv_query_qp", "IBVERBS_1.1", &f.query_qp);
  need("ibv_destroy_qp", "IBVERBS_1.1", &f.destroy_qp);
  need("ibv_attach_mcast", "IBVERBS_1.1", &f.attach_mcast);
  need("ibv_detach_mcast", "IBVERBS_1.1", &f.detach_mcast);
  need("ibv_create_srq", "IBVERBS_1.1", &f.create_srq);
  need("ibv_modify_srq", "IBVERBS_1.1", &f.modify_srq);
  need("ibv_query_srq", "IBVERBS_1.1", &f.query_srq);
  need("ibv_destroy_srq", "IBVERBS_1.1", &f.destroy_srq);
  need("ibv_create_ah", "IBVERBS_1.1", &f.create_ah);
  need("ibv_create_ah_from_wc", "IBVERBS_1.1", &f.create_ah_from_wc);
  need("ibv_init_ah_from_wc", "IBVERBS_1.1", &f.init_ah_from_wc);
  need("ibv_destroy_ah", "IBVERBS_1.1", &f.destroy_ah);
  text("ibv_wc_status_str", "IBVERBS_1.1", &f.wc_status_str);
  text("ibv_event_type_str", "IBVERBS_1.1", &f.event_type_str);
  text("ibv_node_type_str", "IBVERBS_1.1", &f.node_type_str);
  text("ibv_port_state_str", "IBVERBS_1.1", &f.port_state_str);
  text("ibv_rate_to_mult", "IBVERBS_1.0", &f.rate_to_mult);
  text("mult_to_ibv_rate", "IBVERBS_1.0", &f.mult_to_rate);
  text("ibv_rate_to_mbps", "IBVERBS_1.1", &f.rate_to_mbps);
  text("mbps_to_ibv_rate", "IBVERBS_1.1", &f.mbps_to_rate);
  text("ibv_fork_init", "IBVERBS_1.1", &f.fork_init);
  if (missing != nullptr) {
    *reason = name + " has no function " + prefix + missing +
              (prefix.empty() ? " of the expected version: it is too old or not libibverbs" : "");
    return nullptr;
  }
  find("ibv_get_device_index", "IBVERBS_1.9", &f.get_device_index);
  find("ibv_get_pkey_index", "IBVERBS_1.5", &f.get_pkey_index);
  find("ibv_qp_to_qp_ex", "IBVERBS_1.6", &f.qp_to_qp_ex);
  find("ibv_reg_mr_iova2", "IBVERBS_1.8", &f.reg_mr_iova2);
  find("ibv_import_device", "IBVERBS_1.10", &f.import_device);
  find("ibv_import_pd", "IBVERBS_1.10", &f.import_pd);
  find("ibv_unimport_pd", "IBVERBS_1.10", &f.unimport_pd);
  find("ibv_import_mr", "IBVERBS_1.10", &f.import_mr);
  find("ibv_unimport_mr", "IBVERBS_1.10", &f.unimport_mr);
  find("ibv_query_ece", "IBVERBS_1.10", &f.query_ece);
  find("ibv_set_ece", "IBVERBS_1.10", &f.set_ece);
  find("_ibv_query_gid_ex", "IBVERBS_1.11", &f.query_gid_ex);
  find("_ibv_query_gid_table", "IBVERBS_1.11", &f.query_gid_table);
  find("ibv_reg_dmabuf_mr", "IBVERBS_1.12", &f.reg_dmabuf_mr);
  find("ibv_import_dm", "IBVERBS_1.13", &f.import_dm);
  find("ibv_unimport_dm", "IBVERBS_1.13", &f.unimport_dm);
  find("ibv_is_fork_initialized", "IBVERBS_1.13", &f.is_fork_initialized);
  find("ibv_query_qp_data_in_order", "IBVERBS_1.14", &f.query_qp_data_in_order);
  // Between libibverbs and its providers: its node has another number every few releases.
  find("ibv_wr_opcode_str", nullptr, &f.wr_opcode_str);
  find("ibv_alloc_dmah", "IBVERBS_1.15", &f.alloc_dmah);
  find("ibv_dealloc_dmah", "IBVERBS_1.15", &f.dealloc_dmah);
  find("ibv_reg_mr_ex", "IBVERBS_1.15", &f.reg_mr_ex);
  find("ibv_query_port_speed", "IBVERBS_1.16", &f.query_port_speed);
  find("ibv_dm_export_dmabuf_fd", "IBVERBS_1.16", &f.dm_export_dmabuf_fd);
  find("ibv_alloc_buf", "IBVERBS_1.17", &f.alloc_buf);
  find("ibv_free_buf", "IBVERBS_1.17", &f.free_buf);
  find("ibv_reg_buf_mr", "IBVERBS_1.17", &f.reg_buf_mr);
  find("ibv_export_buf_dmabuf_fd", "IBVERBS_1.18", &f.export_buf_dmabuf_fd);
  find("_ibv_query_comp_cntr_caps", "IBVERBS_1.18", &f.query_comp_cntr_caps);
  find("ibv_create_comp_cntr", "IBVERBS_1.18", &f.create_comp_cntr);
  find("ibv_destroy_comp_cntr", "IBVERBS_1.18", &f.destroy_comp_cntr);
  find("ibv_set_comp_cntr", "IBVERBS_1.18", &f.set_comp_cntr);
  find("ibv_set_err_comp_cntr", "IBVERBS_1.18", &f.set_err_comp_cntr);
  find("ibv_inc_comp_cntr", "IBVERBS_1.18", &f.inc_comp_cntr);
  find("ibv_inc_err_comp_cntr", "IBVERBS_1.18", &f.inc_err_comp_cntr);
  find("ibv_read_comp_cntr", "IBVERBS_1.18", &f.read_comp_cntr);
  find("ibv_read_err_comp_cntr", "IBVERBS_1.18", &f.read_err_comp_cntr);
  find("ibv_qp_attach_comp_cntr", "IBVERBS_1.18", &f.qp_attach_comp_cntr);
  find("ibv_resolve_eth_l2_from_gid", "IBVERBS_1.1", &f.resolve_eth_l2_from_gid);
  find("verbs_soft_keep_mapped", "VERBS_SOFT_1", &f.soft_keep_mapped);
  find("verbs_soft_why", "VERBS_SOFT_1", &f.soft_why);
  return library;
}

std::string Library::file() const { return provider::loaded_file(handle_); }

void* Library::symbol(const char* name, const char* version) const {
  // A build with a prefix has each function once.
  if (!prefix_.empty()) return dlsym(handle_, (prefix_ + name).c_str());
  return version == nullptr ? dlsym(handle_, name) : provider::versioned_symbol(handle_, name, version);
}

}  // namespace verbs::core
