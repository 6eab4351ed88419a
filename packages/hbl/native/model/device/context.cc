#include "model/device/context.h"

#include "model/doorbell/register_page.h"
#include "verbs_soft_fork.h"

namespace verbs::hbl::model {
namespace {

constinit soft::model::Attachment attachment;

template <typename Has>
Context* context_with(Has&& has) {
  const std::lock_guard guard(open_contexts().mutex);
  for (Context* context : open_contexts().list) {
    const std::lock_guard inner(context->mutex);
    if (has(*context)) return context;
  }
  return nullptr;
}

// A fork takes the locks as calls nest them.
void lock_contexts() {
  open_contexts().mutex.lock();
  for (Context* context : open_contexts().list) context->mutex.lock();
  RegisterPage::allocation_lock().lock();
}
void unlock_contexts() {
  RegisterPage::allocation_lock().unlock();
  for (Context* context : open_contexts().list) context->mutex.unlock();
  open_contexts().mutex.unlock();
}
// The NIC rejects calls of a child on its parent's contexts; the child may open the device for itself.
void forget_contexts() {
  soft::model::renew(RegisterPage::allocation_lock());
  soft::model::renew(open_contexts().mutex);
  for (Context* context : open_contexts().list) {
    soft::model::renew(context->mutex);
    if (context->worker) context->worker->forget_parent();
  }
  open_contexts().list.clear();
}

}  // namespace

OpenContexts& open_contexts() {
  static auto& contexts = *new OpenContexts;  // never destroyed: programs may close devices while they exit
  return contexts;
}

Context::Context(ibv_context* its_ibv, Profile its_profile, std::uint32_t count, std::uint64_t mask, bool default_open)
    : ibv(its_ibv), profile(its_profile), ports_mask(mask), by_default(default_open), ports(count) {
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

int attach(verbs_soft_extension_function extension, const verbs_soft_model& model) {
  const int error = attachment.load(extension, model);
  if (error == 0) {
    [[maybe_unused]] static const int kOnce =
        soft()->at_fork(VERBS_SOFT_LOCK_OUTER, lock_contexts, unlock_contexts, forget_contexts);
  }
  return error;
}

bool is_ours(const ibv_device* device) { return attachment.owns(device, "hbl"); }

Context* context_of(ibv_context* ibv) {
  if (!ibv || !is_ours(ibv->device)) return nullptr;
  return static_cast<Context*>(soft()->get_data(ibv, VERBS_SOFT_CONTEXT));
}

Context* context_of_encap(const hbldv_encap* encap) {
  return context_with([&](const Context& context) { return context.encaps.contains(encap); });
}

Context* context_of_fifo(const hbldv_usr_fifo* fifo) {
  return context_with([&](const Context& context) { return context.fifos.contains(fifo); });
}

}  // namespace verbs::hbl::model
