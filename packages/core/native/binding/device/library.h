// One loaded libibverbs: the functions that the binding calls, found by name and version at run time. Nothing links it.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <string>

// The header has a macro for static builds and macros for argument checking; the table below needs the plain names.
#undef ibv_reg_mr
#undef ibv_query_port
#undef ibv_get_device_list

// Newer headers define these.
struct ibv_buf;
struct ibv_comp_cntr;
struct ibv_dmah;

namespace verbs::core {

struct Functions {
  ibv_device** (*get_device_list)(int*);
  void (*free_device_list)(ibv_device**);
  const char* (*get_device_name)(ibv_device*);
  __be64 (*get_device_guid)(ibv_device*);
  // May be missing: newer than 1.8.
  int (*get_device_index)(ibv_device*);
  int (*read_sysfs_file)(const char*, const char*, char*, std::size_t);
  ibv_context* (*open_device)(ibv_device*);
  int (*close_device)(ibv_context*);
  int (*query_device)(ibv_context*, ibv_device_attr*);
  int (*query_port)(ibv_context*, std::uint8_t, ibv_port_attr*);
  int (*query_gid)(ibv_context*, std::uint8_t, int, ibv_gid*);
  int (*query_pkey)(ibv_context*, std::uint8_t, int, __be16*);
  // May be missing: newer than 1.10.
  ssize_t (*query_gid_table)(ibv_context*, ibv_gid_entry*, std::size_t, std::uint32_t, std::size_t);
  ibv_pd* (*alloc_pd)(ibv_context*);
  int (*dealloc_pd)(ibv_pd*);
  ibv_mr* (*reg_mr)(ibv_pd*, void*, std::size_t, int);
  int (*dereg_mr)(ibv_mr*);
  int (*rereg_mr)(ibv_mr*, int, ibv_pd*, void*, std::size_t, int);
  ibv_comp_channel* (*create_comp_channel)(ibv_context*);
  int (*destroy_comp_channel)(ibv_comp_channel*);
  ibv_cq* (*create_cq)(ibv_context*, int, void*, ibv_comp_channel*, int);
  int (*resize_cq)(ibv_cq*, int);
  int (*destroy_cq)(ibv_cq*);
  int (*get_cq_event)(ibv_comp_channel*, ibv_cq**, void**);
  void (*ack_cq_events)(ibv_cq*, unsigned int);
  int (*get_async_event)(ibv_context*, ibv_async_event*);
  void (*ack_async_event)(ibv_async_event*);
  ibv_qp* (*create_qp)(ibv_pd*, ibv_qp_init_attr*);
  int (*modify_qp)(ibv_qp*, ibv_qp_attr*, int);
  int (*query_qp)(ibv_qp*, ibv_qp_attr*, int, ibv_qp_init_attr*);
  int (*destroy_qp)(ibv_qp*);
  int (*attach_mcast)(ibv_qp*, const ibv_gid*, std::uint16_t);
  int (*detach_mcast)(ibv_qp*, const ibv_gid*, std::uint16_t);
  ibv_srq* (*create_srq)(ibv_pd*, ibv_srq_init_attr*);
  int (*modify_srq)(ibv_srq*, ibv_srq_attr*, int);
  int (*query_srq)(ibv_srq*, ibv_srq_attr*);
  int (*destroy_srq)(ibv_srq*);
  ibv_ah* (*create_ah)(ibv_pd*, ibv_ah_attr*);
  ibv_ah* (*create_ah_from_wc)(ibv_pd*, ibv_wc*, ibv_grh*, std::uint8_t);
  int (*init_ah_from_wc)(ibv_context*, std::uint8_t, ibv_wc*, ibv_grh*, ibv_ah_attr*);
  int (*destroy_ah)(ibv_ah*);
  // Without an object: may be missing in a build with a prefix, as read_sysfs_file.
  const char* (*wc_status_str)(ibv_wc_status);
  const char* (*event_type_str)(ibv_event_type);
  const char* (*node_type_str)(ibv_node_type);
  const char* (*port_state_str)(ibv_port_state);
  int (*rate_to_mult)(ibv_rate);
  ibv_rate (*mult_to_rate)(int);
  int (*rate_to_mbps)(ibv_rate);
  ibv_rate (*mbps_to_rate)(int);
  int (*fork_init)();

  // Each of these may be missing: a version of the library later than 1.1 has it.
  int (*get_pkey_index)(ibv_context*, std::uint8_t, __be16);
  ibv_qp_ex* (*qp_to_qp_ex)(ibv_qp*);
  ibv_mr* (*reg_mr_iova2)(ibv_pd*, void*, std::size_t, std::uint64_t, unsigned int);
  ibv_mr* (*reg_dmabuf_mr)(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int);
  ibv_context* (*import_device)(int);
  ibv_pd* (*import_pd)(ibv_context*, std::uint32_t);
  void (*unimport_pd)(ibv_pd*);
  ibv_mr* (*import_mr)(ibv_pd*, std::uint32_t);
  void (*unimport_mr)(ibv_mr*);
  ibv_dm* (*import_dm)(ibv_context*, std::uint32_t);
  void (*unimport_dm)(ibv_dm*);
  int (*query_ece)(ibv_qp*, ibv_ece*);
  int (*set_ece)(ibv_qp*, ibv_ece*);
  int (*query_gid_ex)(ibv_context*, std::uint32_t, std::uint32_t, ibv_gid_entry*, std::uint32_t, std::size_t);
  ibv_fork_status (*is_fork_initialized)();
  int (*query_qp_data_in_order)(ibv_qp*, ibv_wr_opcode, std::uint32_t);
  int (*resolve_eth_l2_from_gid)(ibv_context*, ibv_ah_attr*, std::uint8_t*, std::uint16_t*);

  // Of releases whose header may not be the one at hand. Structures are the binding's own declarations of theirs.
  const char* (*wr_opcode_str)(ibv_wr_opcode);
  ibv_dmah* (*alloc_dmah)(ibv_context*, void* attr);
  int (*dealloc_dmah)(ibv_dmah*);
  ibv_mr* (*reg_mr_ex)(ibv_pd*, void* attr);
  int (*query_port_speed)(ibv_context*, std::uint32_t, std::uint64_t*);
  int (*dm_export_dmabuf_fd)(ibv_dm*);
  void* (*alloc_buf)(ibv_pd*, std::size_t, ibv_buf**);
  void (*free_buf)(ibv_buf*);
  ibv_mr* (*reg_buf_mr)(ibv_pd*, ibv_buf*, void*, std::size_t, int);
  int (*export_buf_dmabuf_fd)(ibv_buf*);
  int (*query_comp_cntr_caps)(ibv_context*, void* caps, std::size_t);
  ibv_comp_cntr* (*create_comp_cntr)(ibv_context*, void* attr);
  int (*destroy_comp_cntr)(ibv_comp_cntr*);
  int (*set_comp_cntr)(ibv_comp_cntr*, std::uint64_t);
  int (*set_err_comp_cntr)(ibv_comp_cntr*, std::uint64_t);
  int (*inc_comp_cntr)(ibv_comp_cntr*, std::uint64_t);
  int (*inc_err_comp_cntr)(ibv_comp_cntr*, std::uint64_t);
  int (*read_comp_cntr)(ibv_comp_cntr*, std::uint64_t*);
  int (*read_err_comp_cntr)(ibv_comp_cntr*, std::uint64_t*);
  int (*qp_attach_comp_cntr)(ibv_qp*, ibv_comp_cntr*, void* attr);

  // The software NIC's own: the caller keeps the memory of the region mapped until the region ends or moves.
  int (*soft_keep_mapped)(ibv_mr*);
  // Its own as well: why the last request of the queue pair with that number that has that status failed.
  int (*soft_why)(ibv_context*, std::uint32_t, int, char*, std::size_t);
};

class Library {
 public:
  // Loads a library by path or SONAME. With a `prefix` its functions have that in front of their names, and no
  // versions: a vendor's own build of libibverbs beside the system's. On failure the result is null, and `reason` names
  // the missing part.
  static std::shared_ptr<const Library> open(const std::string& name, const std::string& prefix, std::string* reason);

  const Functions& functions() const { return functions_; }
  // True for the software NIC, under whatever name it was found.
  bool soft() const { return soft_; }
  // Its file, behind all links; empty if that cannot be told.
  std::string file() const;
  // A further symbol of this library, by its ordinary name; null if it has none. `version` may be null for the default
  // version.
  void* symbol(const char* name, const char* version) const;

 private:
  Library() = default;

  // Never closed: a provider may have threads of its own inside, and unloading gains nothing.
  void* handle_ = nullptr;
  std::string prefix_;
  bool soft_ = false;
  Functions functions_{};
};

}  // namespace verbs::core
