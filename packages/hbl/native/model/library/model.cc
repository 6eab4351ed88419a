// Opening and closing: hbldv_is_supported, hbldv_open_device, hbldv_query_device, and the model's place in the NIC.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "model/device/context.h"
#include "model/library/functions.h"
#include "model/verbs/cq.h"
#include "model/verbs/encap.h"
#include "model/verbs/qp.h"
#include "verbs_soft_model.h"

namespace verbs::hbl {

namespace {

constinit soft_model::Attachment attachment;

// Guards the list of open contexts, and with it the life of each.
std::recursive_mutex opening;
std::vector<Context*> open_contexts;
// Of the hbldv_open_device() that is going on: what open_context() below is to make.
const hbldv_ucontext_attr* opening_attr = nullptr;

Profile profile_of(const ibv_device* device) {
  const char* text = soft()->device_option(device, "profile");
  return text && std::strcmp(text, "gaudi2") == 0 ? Profile::kGaudi2 : Profile::kGaudi;
}

int init_device(void*, ibv_device* device, verbs_soft_identity* identity) {
  const char* profile = soft()->device_option(device, "profile");
  if (profile && std::strcmp(profile, "gaudi") != 0 && std::strcmp(profile, "gaudi2") != 0) return EINVAL;
  identity->vendor_id = 0x1da3;
  identity->vendor_part_id = profile_of(device) == Profile::kGaudi2 ? 0x1020 : 0x1000;
  identity->board_id = "VERBS_SOFT_HBL";
  identity->hca_type = "hbl";
  return 0;
}

void forget(void* data) { delete static_cast<Context*>(data); }

// gaudi2: the ordinary verbs that its library does not implement.
ibv_mr* no_reg_mr(ibv_pd*, void*, std::size_t, std::uint64_t, unsigned) { return null_with<ibv_mr>(EOPNOTSUPP); }
ibv_ah* no_create_ah(ibv_pd*, ibv_ah_attr*) { return null_with<ibv_ah>(EOPNOTSUPP); }
int no_poll_cq(ibv_cq*, int, ibv_wc*) {
  errno = EOPNOTSUPP;
  return -1;
}
int no_req_notify_cq(ibv_cq*, int) { return EOPNOTSUPP; }
int no_post_send(ibv_qp*, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  *bad_wr = wr;
  return EOPNOTSUPP;
}
int no_post_recv(ibv_qp*, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  *bad_wr = wr;
  return EOPNOTSUPP;
}

ibv_pd* alloc_pd(ibv_context* verbs) {
  Context* context = context_of(verbs);
  if (context->profile == Profile::kGaudi2 && context->pds > 0) return null_with<ibv_pd>(ESRCH);
  ibv_pd* pd = context->base.alloc_pd(verbs);
  if (pd) {
    ++context->pds;
    soft()->set_data(pd, VERBS_SOFT_PD, context, [](void* data) { --static_cast<Context*>(data)->pds; });
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
  const std::lock_guard guard(opening);
  for (const Context* other : open_contexts) {
    if (other->verbs->device == verbs->device) return EBUSY;
  }
  ibv_device_attr device{};
  verbs_soft_verbs* control = soft()->verbs(verbs);
  if (const int error = control->query_device(verbs, &device)) return error;
  const std::uint64_t all = ((std::uint64_t{1} << device.phys_port_cnt) - 1) << 1;
  std::uint64_t mask = opening_attr && opening_attr->ports_mask != 0 ? opening_attr->ports_mask : all;
  if ((mask & ~all) != 0) return EINVAL;
  auto* context = new Context(verbs, profile_of(verbs->device), device.phys_port_cnt, mask, opening_attr == nullptr);
  if (const char* closed = soft()->device_option(verbs->device, "closed_ports")) {
    const std::uint64_t ports = std::strtoull(closed, nullptr, 0);
    for (std::uint32_t i = 1; i <= context->ports.size(); ++i) context->port(i).closed = (ports >> i & 1) != 0;
  }
  context->base = *control;
  context->base_ops = verbs->ops;
  soft()->set_data(verbs, VERBS_SOFT_CONTEXT, context, forget);
  control->query_device = query_device;
  control->alloc_pd = alloc_pd;
  install_qp_verbs(*control);
  install_cq_verbs(*context, *control);
  if (context->profile == Profile::kGaudi2) {
    control->reg_mr = no_reg_mr;
    control->create_ah = no_create_ah;
    verbs->ops.poll_cq = no_poll_cq;
    verbs->ops.req_notify_cq = no_req_notify_cq;
    verbs->ops.post_send = no_post_send;
    verbs->ops.post_recv = no_post_recv;
  }
  open_contexts.push_back(context);
  return 0;
}

ibv_context* reopen_context(void*, ibv_device* device) {
  const std::lock_guard guard(opening);
  if (opening_attr) return nullptr;
  for (Context* context : open_contexts) {
    if (context->verbs->device != device || !context->by_default) continue;
    ++context->references;
    return context->verbs;
  }
  return nullptr;
}

int keep_context(void*, ibv_context* verbs) {
  const std::lock_guard guard(opening);
  return --context_of(verbs)->references > 0;
}

void close_context(void*, ibv_context* verbs) {
  Context* context = context_of(verbs);
  {
    const std::lock_guard guard(opening);
    std::erase(open_contexts, context);
  }
  // The thread first, and without the lock that its last turn needs.
  if (context->worker) context->worker->stop();
  const std::lock_guard guard(context->mutex);
  close_fifos(*context);
  context->worker.reset();  // after the FIFOs, which wake it
  close_encaps(*context);
  for (const auto& [face, cq] : context->cqs) {
    if (cq->page) RegisterPage::free(cq->page);
  }
  // The queue pairs and completion queues go with the context; nothing asks for their state any more.
  context->qps.clear();
  context->cqs.clear();
  *soft()->verbs(verbs) = context->base;
}

const char* const kOptions[] = {"profile", "closed_ports", nullptr};
const verbs_soft_model kModel{.kind = "hbl",
                              .default_device = "hbl_0",
                              .defaults = "ports=4",
                              .option_names = kOptions,
                              .data = nullptr,
                              .init_device = init_device,
                              .open_context = open_context,
                              .close_context = close_context,
                              .egress = nullptr,
                              .ingress = nullptr,
                              .reopen_context = reopen_context,
                              .keep_context = keep_context,
                              .tunnels = 1,
                              .raw_send = nullptr,
                              .raw_receive = nullptr,
                              .raw_packet_caps = 0};

}  // namespace

Context::Context(ibv_context* face, Profile its_profile, std::uint32_t count, std::uint64_t mask, bool default_open)
    : verbs(face), profile(its_profile), ports_mask(mask), by_default(default_open), ports(count) {
  // Without attributes the kernel sets all ports up itself.
  if (!default_open) return;
  for (Port& each : ports) {
    each.set = true;
    each.advanced = true;
    each.wqs = kMaxCqes;
    each.wqes = kMaxCqes;
  }
}

bool Context::has_port(std::uint32_t port_num) const {
  return port_num >= 1 && port_num <= ports.size() && (ports_mask >> port_num & 1) != 0;
}

int Context::check_port(std::uint32_t port_num, bool must_be_set) {
  if (!has_port(port_num)) return EINVAL;
  if (port(port_num).closed) return ENODEV;
  return must_be_set && !port(port_num).set ? EPERM : 0;
}

Qp* Context::find_qp(const ibv_qp* qp) {
  const auto found = qps.find(qp);
  return found == qps.end() ? nullptr : found->second.get();
}

const verbs_soft_extension_table* soft() { return attachment.table(); }

bool is_ours(const ibv_device* device) { return attachment.owns(device, kModel.kind); }

Context* context_of(ibv_context* verbs) {
  if (!verbs || !is_ours(verbs->device)) return nullptr;
  return static_cast<Context*>(soft()->get_data(verbs, VERBS_SOFT_CONTEXT));
}

namespace {

template <typename Has>
Context* context_with(Has&& has) {
  const std::lock_guard guard(opening);
  for (Context* context : open_contexts) {
    const std::lock_guard inner(context->mutex);
    if (has(*context)) return context;
  }
  return nullptr;
}

}  // namespace

Context* context_of_encap(const hbldv_encap* encap) {
  return context_with([&](const Context& context) { return context.encaps.contains(encap); });
}

Context* context_of_fifo(const hbldv_usr_fifo* fifo) {
  return context_with([&](const Context& context) { return context.fifos.contains(fifo); });
}

}  // namespace verbs::hbl

using namespace verbs::hbl;

extern "C" {

bool hbldv_is_supported(ibv_device* device) { return is_ours(device); }

ibv_context* hbldv_open_device(ibv_device* device, hbldv_ucontext_attr* attr) {
  if (!device) return null_with<ibv_context>(EINVAL);
  if (!is_ours(device)) return null_with<ibv_context>(EOPNOTSUPP);
  const std::lock_guard guard(opening);
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

const HblFunctions* verbs_soft_hbl() {
#define HBLDV_ENTRY(result, name, parameters, arguments) name,
  static constexpr HblFunctions functions{HBLDV_FUNCTIONS(HBLDV_ENTRY)};
#undef HBLDV_ENTRY
  return &functions;
}

int verbs_soft_model_load(verbs_soft_extension_function extension) { return attachment.load(extension, kModel); }

// By this symbol a library is known as the software model's.
extern const char verbs_soft_marker[];
const char verbs_soft_marker[] = "verbs-soft-hbl 1";

}  // extern "C"
