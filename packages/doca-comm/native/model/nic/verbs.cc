#include "model/nic/verbs.h"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <type_traits>

#include "verbs_soft_model.h"

namespace verbs::doca_comm::model {

namespace {

constinit soft::model::Attachment attachment;
std::atomic<const Verbs*> attached = nullptr;

// Whether the fault plan makes this call fail. Sets errno.
bool fails(Fault kind) {
  errno = Faults::get().next(kind);
  return errno != 0;
}

}  // namespace

bool Verbs::resolve(void* library) {
  bool all = true;
  // Each name has one version in the software NIC's library.
  const auto find = [&](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
    all &= *function != nullptr;
  };
  find("ibv_get_device_list", &get_device_list);
  find("ibv_free_device_list", &free_device_list);
  find("ibv_get_device_name", &get_device_name);
  find("ibv_open_device", &open_device_);
  find("ibv_close_device", &close_device);
  find("ibv_query_device", &query_device_);
  find("ibv_query_port", &query_port_);
  find("ibv_query_gid", &query_gid);
  find("ibv_alloc_pd", &alloc_pd_);
  find("ibv_dealloc_pd", &dealloc_pd);
  find("ibv_reg_mr", &reg_mr_);
  find("ibv_reg_dmabuf_mr", &reg_dmabuf_mr_);
  find("ibv_dereg_mr", &dereg_mr);
  find("ibv_create_comp_channel", &create_comp_channel_);
  find("ibv_destroy_comp_channel", &destroy_comp_channel);
  find("ibv_create_cq", &create_cq_);
  find("ibv_destroy_cq", &destroy_cq);
  find("ibv_get_cq_event", &get_cq_event);
  find("ibv_ack_cq_events", &ack_cq_events);
  find("ibv_create_srq", &create_srq_);
  find("ibv_destroy_srq", &destroy_srq);
  find("ibv_create_qp", &create_qp_);
  find("ibv_modify_qp", &modify_qp_);
  find("ibv_destroy_qp", &destroy_qp_);
  find("ibv_init_ah_from_wc", &init_ah_from_wc);
  find("ibv_create_ah", &create_ah);
  find("ibv_destroy_ah", &destroy_ah);
  const bool found = all;
  find("verbs_soft_keep_mapped", &keep_mapped_);
  return found;
}

int Verbs::attach(verbs_soft_extension_function extension, const verbs_soft_model& model) {
  if (attached.load(std::memory_order_acquire)) return 0;
  Dl_info place;
  if (!extension || dladdr(reinterpret_cast<void*>(extension), &place) == 0) return ENOSYS;
  void* library = dlopen(place.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (!library) return ENOSYS;
  auto created = std::make_unique<Verbs>();
  if (!created->resolve(library)) return ENOSYS;
  if (const int error = attachment.load(extension, model)) return error;
  // Never freed, as the library is never unloaded. Of two threads the first one attaches.
  const Verbs* none = nullptr;
  if (attached.compare_exchange_strong(none, created.get())) static_cast<void>(created.release());
  return 0;
}

const Verbs* Verbs::get() { return attached.load(std::memory_order_acquire); }

const verbs_soft_extension_table& Verbs::extension() { return *attachment.table(); }

ibv_context* Verbs::open_device(ibv_device* device) const {
  return fails(Fault::kOpenDevice) ? nullptr : open_device_(device);
}

int Verbs::query_device(ibv_context* context, ibv_device_attr* attr) const {
  return fails(Fault::kQueryDevice) ? errno : query_device_(context, attr);
}

int Verbs::query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attr) const {
  std::memset(attr, 0, sizeof *attr);  // ibv_query_port@IBVERBS_1.1 sets the fields of an older structure only
  return query_port_(context, port, attr);
}

ibv_pd* Verbs::alloc_pd(ibv_context* context) const { return fails(Fault::kAllocate) ? nullptr : alloc_pd_(context); }

ibv_mr* Verbs::reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) const {
  return fails(Fault::kRegisterMemory) ? nullptr : reg_mr_(pd, address, length, access);
}

ibv_mr* Verbs::reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova, int fd,
                             int access) const {
  return fails(Fault::kRegisterMemory) ? nullptr : reg_dmabuf_mr_(pd, offset, length, iova, fd, access);
}

void Verbs::keep_mapped(ibv_mr* mr) const {
  if (keep_mapped_) keep_mapped_(mr);
}

ibv_comp_channel* Verbs::create_comp_channel(ibv_context* context) const {
  return fails(Fault::kDescriptor) ? nullptr : create_comp_channel_(context);
}

ibv_cq* Verbs::create_cq(ibv_context* context, int entries, ibv_comp_channel* channel) const {
  return fails(Fault::kCreateQueue) ? nullptr : create_cq_(context, entries, nullptr, channel, 0);
}

ibv_srq* Verbs::create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) const {
  return fails(Fault::kCreateQueue) ? nullptr : create_srq_(pd, attr);
}

ibv_qp* Verbs::create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) const {
  return fails(Fault::kCreateQueue) ? nullptr : create_qp_(pd, attr);
}

int Verbs::modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) const {
  return fails(Fault::kModifyQueue) ? errno : modify_qp_(qp, attr, mask);
}

int Verbs::destroy_qp(ibv_qp* qp) const {
  const int fault = Faults::get().next(Fault::kDestroyQueue);
  const int error = destroy_qp_(qp);
  return fault != 0 ? fault : error;
}

int Verbs::post_send(ibv_qp* qp, ibv_send_wr* request) {
  if (const int error = Faults::get().next(Fault::kPostSend)) return error;
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp, request, &bad);
}

int Verbs::post_recv(ibv_qp* qp, ibv_recv_wr* request) {
  if (const int error = Faults::get().next(Fault::kPostReceive)) return error;
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(qp, request, &bad);
}

int Verbs::post_srq_recv(ibv_srq* srq, ibv_recv_wr* request) {
  if (const int error = Faults::get().next(Fault::kPostReceive)) return error;
  ibv_recv_wr* bad = nullptr;
  return ibv_post_srq_recv(srq, request, &bad);
}

int Verbs::poll(ibv_cq* cq, int count, ibv_wc* completions) {
  if (const int error = Faults::get().next(Fault::kPoll)) return -error;
  return ibv_poll_cq(cq, count, completions);
}

}  // namespace verbs::doca_comm::model
