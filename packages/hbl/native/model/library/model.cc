// The ordinary verbs that a gaudi2's library does not implement.
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "model/device/context.h"
#include "model/device/doorbell_drops.h"
#include "model/library/functions.h"
#include "model/verbs/cq.h"
#include "model/verbs/encap.h"
#include "model/verbs/qp.h"
#include "model/verbs/usr_fifo.h"
#include "verbs_soft_objects.h"

namespace verbs::hbl::model {

namespace {

ibv_mr* no_reg_mr(ibv_pd*, void*, std::size_t, std::uint64_t, unsigned) { return null_with<ibv_mr>(EOPNOTSUPP); }
ibv_ah* no_create_ah(ibv_pd*, ibv_ah_attr*) { return null_with<ibv_ah>(EOPNOTSUPP); }
// Positive, as libibverbs answers for providers without the function.
int no_poll_cq(ibv_cq*, int, ibv_wc*) { return EOPNOTSUPP; }
int no_req_notify_cq(ibv_cq*, int) { return EOPNOTSUPP; }
int no_post_send(ibv_qp*, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  *bad_wr = wr;
  return EOPNOTSUPP;
}
int no_post_recv(ibv_qp*, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  *bad_wr = wr;
  return EOPNOTSUPP;
}

// Makes those verbs of the context fail with EOPNOTSUPP.
void remove_gaudi2_verbs(Context& context, verbs_soft_verbs& control) {
  control.reg_mr = no_reg_mr;
  control.create_ah = no_create_ah;
  context.ibv->ops.poll_cq = no_poll_cq;
  context.ibv->ops.req_notify_cq = no_req_notify_cq;
  context.ibv->ops.post_send = no_post_send;
  context.ibv->ops.post_recv = no_post_recv;
}

}  // namespace

}  // namespace verbs::hbl::model

// The model as the NIC sees it, and hbldv_is_supported, hbldv_open_device, hbldv_query_device.

namespace verbs::hbl::model {

namespace {

// The attributes of the hbldv_open_device() in progress, for open_context() below. Under the lock of open_contexts().
const hbldv_ucontext_attr* opening_attr = nullptr;

Profile profile_of(const ibv_device* device) {
  const char* text = soft()->device_option(device, "profile");
  return text && std::strcmp(text, "gaudi2") == 0 ? Profile::kGaudi2 : Profile::kGaudi;
}

// The ports whose network interface is down, bit 1 for port 1. False if the option is no such mask.
bool closed_ports(const ibv_device* device, std::uint64_t* ports) {
  const char* text = soft()->device_option(device, "closed_ports");
  *ports = 0;
  if (!text) return true;
  if (std::strspn(text, "0123456789abcdefxABCDEFX") != std::strlen(text) || *text == '\0') return false;
  char* end = nullptr;
  errno = 0;
  *ports = std::strtoull(text, &end, 0);
  return errno == 0 && *end == '\0' && (*ports & 1) == 0;
}

int init_device(void*, ibv_device* device, verbs_soft_identity* identity) {
  const char* profile = soft()->device_option(device, "profile");
  if (profile && std::strcmp(profile, "gaudi") != 0 && std::strcmp(profile, "gaudi2") != 0) return EINVAL;
  if (std::uint64_t ports = 0; !closed_ports(device, &ports)) return EINVAL;
  identity->vendor_id = 0x1da3;
  identity->vendor_part_id = profile_of(device) == Profile::kGaudi2 ? 0x1020 : 0x1000;
  identity->board_id = "VERBS_SOFT_HBL";
  identity->hca_type = "hbl";
  identity->pci_vendor = 0x1da3;
  identity->pci_device = static_cast<std::uint16_t>(identity->vendor_part_id);
  return add_doorbell_drops(device);
}

void forget(void* data) { delete static_cast<Context*>(data); }

ibv_pd* alloc_pd(ibv_context* verbs) {
  Context* context = context_of(verbs);
  const auto leave = [](void* data) { --static_cast<Context*>(data)->pds; };
  const bool is_first = context->pds++ == 0;
  ibv_pd* pd = nullptr;
  if (context->profile == Profile::kGaudi2 && !is_first) {
    errno = ESRCH;
  } else {
    pd = context->base.alloc_pd(verbs);
  }
  if (pd) {
    soft()->set_data(pd, VERBS_SOFT_PD, context, leave);
  } else {
    leave(context);
  }
  return pd;
}

int query_device(ibv_context* verbs, ibv_device_attr* attr) {
  const Context* context = context_of(verbs);
  if (const int error = context->base.query_device(verbs, attr)) return error;
  if (context->profile == Profile::kGaudi2) attr->max_cq = attr->max_mr = 1;
  return 0;
}

int open_context(void*, ibv_context* verbs) {
  const std::lock_guard guard(open_contexts().mutex);
  for (const Context* other : open_contexts().list) {
    if (other->ibv->device == verbs->device) return EBUSY;
  }
  ibv_device_attr device{};
  verbs_soft_verbs* control = soft()->verbs(verbs);
  if (const int error = control->query_device(verbs, &device)) return error;
  // At most 63 ports, so that each has a bit of a mask that starts with bit 1.
  if (device.phys_port_cnt > 63) return EINVAL;
  const std::uint64_t all = ((std::uint64_t{1} << device.phys_port_cnt) - 1) << 1;
  std::uint64_t mask = opening_attr && opening_attr->ports_mask != 0 ? opening_attr->ports_mask : all;
  if ((mask & ~all) != 0) return EINVAL;
  open_contexts().list.reserve(open_contexts().list.size() + 1);
  auto* context = new Context(verbs, profile_of(verbs->device), device.phys_port_cnt, mask, opening_attr == nullptr);
  std::uint64_t closed = 0;
  static_cast<void>(closed_ports(verbs->device, &closed));  // init_device() has checked it
  for (std::uint32_t i = 1; i <= context->ports.size(); ++i) context->port(i).closed = (closed >> i & 1) != 0;
  context->base = *control;
  context->base_ops = verbs->ops;
  soft()->set_data(verbs, VERBS_SOFT_CONTEXT, context, forget);
  control->query_device = query_device;
  control->alloc_pd = alloc_pd;
  install_qp_verbs(*control);
  install_cq_verbs(*context, *control);
  if (context->profile == Profile::kGaudi2) remove_gaudi2_verbs(*context, *control);
  open_contexts().list.push_back(context);
  return 0;
}

ibv_context* reopen_context(void*, ibv_device* device) {
  const std::lock_guard guard(open_contexts().mutex);
  if (opening_attr) return nullptr;
  const bool any_device = profile_of(device) == Profile::kGaudi2;
  for (Context* context : open_contexts().list) {
    // libhbl has one default context for the process, and gives it without a look at the device.
    const bool same = context->ibv->device == device || (any_device && context->profile == Profile::kGaudi2);
    if (!same || !context->by_default) continue;
    ++context->references;
    return context->ibv;
  }
  return nullptr;
}

int keep_context(void*, ibv_context* verbs) {
  const std::lock_guard guard(open_contexts().mutex);
  return --context_of(verbs)->references > 0;
}

void close_context(void*, ibv_context* verbs) {
  Context* context = context_of(verbs);
  {
    const std::lock_guard guard(open_contexts().mutex);
    std::erase(open_contexts().list, context);
  }
  // The thread first, without the lock, which its last round takes.
  if (context->worker) context->worker->stop();
  const std::lock_guard guard(context->mutex);
  close_fifos(*context);
  context->worker.reset();  // after the FIFOs, which refer to its waker
  close_encaps(*context);
  for (const auto& [ibv, cq] : context->cqs) {
    if (cq->page) RegisterPage::free(cq->page);
  }
  // The NIC destroys the queue pairs and completion queues with the context.
  context->qps.clear();
  context->cqs.clear();
  *soft()->verbs(verbs) = context->base;
}

const char* const kOptions[] = {"profile", "closed_ports", nullptr};
const verbs_soft_model kModel{.kind = "hbl",
                              .default_device = "hbl_0",
                              .defaults = "ports=4,slots=executed",
                              .option_names = kOptions,
                              .data = nullptr,
                              .init_device = init_device,
                              .open_context = open_context,
                              .close_context = close_context,
                              .egress = nullptr,
                              .ingress = nullptr,
                              .only_watches = 0,
                              .reopen_context = reopen_context,
                              .keep_context = keep_context,
                              .tunnels = 1,
                              .raw_send = nullptr,
                              .raw_receive = nullptr,
                              .raw_packet_caps = 0};

}  // namespace

bool hbldv_is_supported(ibv_device* device) { return is_ours(device); }

ibv_context* hbldv_open_device(ibv_device* device, hbldv_ucontext_attr* attr) {
  if (!device) return null_with<ibv_context>(EINVAL);
  if (!is_ours(device)) return null_with<ibv_context>(EOPNOTSUPP);
  const std::lock_guard guard(open_contexts().mutex);
  opening_attr = attr;
  ibv_context* context = soft()->open_device(device);
  opening_attr = nullptr;
  return context;
}

int hbldv_query_device(ibv_context* verbs, hbldv_device_attr* attr) {
  if (!verbs || !attr) return EINVAL;
  const Context* context = context_of(verbs);
  if (!context) return EOPNOTSUPP;
  *attr = {HBLDV_DEVICE_ATTR_CAP_CC, context->ports_mask};
  return 0;
}

}  // namespace verbs::hbl::model

extern "C" int verbs_soft_model_load(verbs_soft_extension_function extension) {
  return verbs::hbl::model::attach(extension, verbs::hbl::model::kModel);
}

VERBS_SOFT_MARKER("hbl")

// The functions of libhbl, as C programs call them: no exception of the model leaves them, and the objects that they
// are given are live.

namespace model = verbs::hbl::model;

extern "C" {

#define HBLDV_EXPORT(result, name, parameters, arguments)                            \
  result name parameters {                                                           \
    const auto call = [&]() -> result { return model::name arguments; };             \
    return verbs::soft::model::verb(model::soft(), call, std::make_tuple arguments); \
  }
HBLDV_FUNCTIONS(HBLDV_EXPORT)
#undef HBLDV_EXPORT

int verbs_soft_hbl(verbs_soft_extension_function extension, const HblFunctions** functions) {
#define HBLDV_ENTRY(result, name, parameters, arguments) name,
  static constexpr HblFunctions kFunctions{HBLDV_FUNCTIONS(HBLDV_ENTRY)};
#undef HBLDV_ENTRY
  *functions = &kFunctions;
  return verbs_soft_model_load(extension);
}

}  // extern "C"
