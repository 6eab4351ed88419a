// The libibverbs of the software NIC, resolved at run time. The binding hands over its extension function; a drop-in
// library looks it up. Calls that can fail for lack of a resource consult the fault plan.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "model/nic/faults.h"
#include "verbs_soft_extension.h"

#undef ibv_reg_mr
#undef ibv_query_port
#undef ibv_get_device_list

namespace verbs::doca_comm::model {

class Verbs {
 public:
  // nullptr before attach().
  static const Verbs* get();
  // Resolves the verbs of the library that has `extension`, and registers the model. 0, or ENOSYS for a NIC of another
  // version. Later calls have no effect.
  static int attach(verbs_soft_extension_function extension, const verbs_soft_model& model);
  // The function table of the NIC. Valid after attach().
  static const verbs_soft_extension_table& extension();

  ibv_device** (*get_device_list)(int*) = nullptr;
  void (*free_device_list)(ibv_device**) = nullptr;
  const char* (*get_device_name)(ibv_device*) = nullptr;
  int (*close_device)(ibv_context*) = nullptr;
  int (*query_gid)(ibv_context*, std::uint8_t, int, ibv_gid*) = nullptr;
  int (*dealloc_pd)(ibv_pd*) = nullptr;
  int (*dereg_mr)(ibv_mr*) = nullptr;
  int (*destroy_comp_channel)(ibv_comp_channel*) = nullptr;
  int (*destroy_cq)(ibv_cq*) = nullptr;
  int (*destroy_srq)(ibv_srq*) = nullptr;
  int (*get_cq_event)(ibv_comp_channel*, ibv_cq**, void**) = nullptr;
  void (*ack_cq_events)(ibv_cq*, unsigned int) = nullptr;
  int (*init_ah_from_wc)(ibv_context*, std::uint8_t, ibv_wc*, ibv_grh*, ibv_ah_attr*) = nullptr;
  ibv_ah* (*create_ah)(ibv_pd*, ibv_ah_attr*) = nullptr;
  int (*destroy_ah)(ibv_ah*) = nullptr;

  // nullptr with errno, or an errno value, of the verb or of the fault plan.
  ibv_context* open_device(ibv_device* device) const;
  int query_device(ibv_context* context, ibv_device_attr* attr) const;
  int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attr) const;
  ibv_pd* alloc_pd(ibv_context* context) const;
  ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) const;
  ibv_mr* reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova, int fd,
                        int access) const;
  // The caller keeps the memory of the region mapped until the region ends, which spares the NIC system calls.
  void keep_mapped(ibv_mr* mr) const;
  ibv_comp_channel* create_comp_channel(ibv_context* context) const;
  ibv_cq* create_cq(ibv_context* context, int entries, ibv_comp_channel* channel) const;
  ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) const;
  ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) const;
  int modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) const;
  int destroy_qp(ibv_qp* qp) const;

  static int post_send(ibv_qp* qp, ibv_send_wr* request);
  static int post_recv(ibv_qp* qp, ibv_recv_wr* request);
  static int post_srq_recv(ibv_srq* srq, ibv_recv_wr* request);
  static int poll(ibv_cq* cq, int count, ibv_wc* completions);  // negative on failure

 private:
  bool resolve(void* library);

  ibv_context* (*open_device_)(ibv_device*) = nullptr;
  int (*query_device_)(ibv_context*, ibv_device_attr*) = nullptr;
  int (*query_port_)(ibv_context*, std::uint8_t, ibv_port_attr*) = nullptr;
  ibv_pd* (*alloc_pd_)(ibv_context*) = nullptr;
  ibv_mr* (*reg_mr_)(ibv_pd*, void*, std::size_t, int) = nullptr;
  ibv_mr* (*reg_dmabuf_mr_)(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int) = nullptr;
  int (*keep_mapped_)(ibv_mr*) = nullptr;  // may be missing: newer than the rest
  ibv_comp_channel* (*create_comp_channel_)(ibv_context*) = nullptr;
  ibv_cq* (*create_cq_)(ibv_context*, int, void*, ibv_comp_channel*, int) = nullptr;
  ibv_srq* (*create_srq_)(ibv_pd*, ibv_srq_init_attr*) = nullptr;
  ibv_qp* (*create_qp_)(ibv_pd*, ibv_qp_init_attr*) = nullptr;
  int (*modify_qp_)(ibv_qp*, ibv_qp_attr*, int) = nullptr;
  int (*destroy_qp_)(ibv_qp*) = nullptr;
};

}  // namespace verbs::doca_comm::model
