// The model as the NIC sees it, and mlx5dv_is_supported, mlx5dv_open_device.
#include <cstring>
#include <string>
#include <unordered_map>

#include "model/abi/functions.h"
#include "model/device/device.h"
#include "model/device/queues.h"
#include "model/devx/events.h"
#include "model/devx/object.h"
#include "model/devx/pages.h"
#include "model/devx/umem.h"
#include "model/dr/objects.h"
#include "model/flow/flow.h"
#include "verbs_soft_boundary.h"
#include "verbs_soft_fork.h"
#include "verbs_soft_model.h"

namespace verbs::mlx5::model {

namespace {

constinit soft::model::Attachment attachment;

// By the pointers that programs have, so that a stale pointer is detected.
auto& contexts() { return lasting<std::unordered_map<const ibv_context*, std::unique_ptr<Context>>>(); }

int init_device(void*, ibv_device* ibv, verbs_soft_identity* identity) {
  Device& device = add_device(ibv);
  if (const int error = parse_capabilities(*soft(), ibv, &device.capabilities)) return error;
  for (std::size_t i = 0; i < steering::kDropReasons; ++i) {
    const std::string name = std::string("dropped_") + steering::name_of(static_cast<steering::DropReason>(i));
    device.drops[i] = soft()->counter(ibv, name.c_str());
  }
  // Programs recognise mlx5 by the vendor's number. No adapter has this part number.
  identity->vendor_id = 0x02c9;
  identity->vendor_part_id = 0x5f05;
  identity->hw_ver = 0;
  identity->board_id = "VERBS_SOFT_MLX5";
  identity->hca_type = "mlx5";
  identity->pci_vendor = 0x15b3;
  identity->pci_device = 0x5f05;
  return 0;
}

int open_context(void*, ibv_context* ibv) {
  auto context = std::make_unique<Context>();
  context->ibv = ibv;
  if (fstat(ibv->cmd_fd, &context->command_file) != 0) return errno;
  context->device = find_device(ibv->device);
  verbs_soft_verbs* control = soft()->verbs(ibv);
  context->base = *control;
  verbs_context* verbs = verbs_get_ctx(ibv);
  install_qp_verbs(*context, *control, *verbs);
  verbs->ibv_create_flow = soft::kGuarded<create_spec_flow>;
  verbs->ibv_destroy_flow = soft::kGuarded<destroy_flow>;
  verbs->destroy_flow_action = soft::kGuarded<destroy_flow_action>;
  const ModelLock guard(model_mutex());
  contexts().emplace(ibv, std::move(context));
  return 0;
}

// Calls visit(context) for each context of a command file.
template <typename Visit>
void each_of_file(const Context& one, Visit&& visit) {
  for (const auto& [ibv, context] : contexts()) {
    if (shares_objects(*context, one)) visit(*context);
  }
}

// The objects of a command file end with its last context, each before the objects that it uses.
void close_context(void*, ibv_context* ibv) {
  const ModelLock guard(model_mutex());
  Context* context = context_of(ibv);
  if (!context) return;
  *soft()->verbs(ibv) = context->base;
  context->closed = true;
  ibv_context* open = nullptr;
  each_of_file(*context, [&](const Context& each) {
    if (!each.closed) open = each.ibv;
  });
  // Those that were closed before have the device's lock by this one, at last.
  each_of_file(*context, [&](Context& each) {
    if (each.closed) each.ibv = open ? open : ibv;
  });
  if (open) return;
  for (const auto forget :
       {forget_pacing, forget_uars, forget_dr_rules, forget_dr_actions, forget_dr_matchers, forget_dr_tables,
        forget_flows, forget_steering_anchors, forget_flow_matchers, forget_flow_actions, forget_devx_objects,
        forget_umems, forget_event_channels, forget_completions, forget_qps}) {
    each_of_file(*context, forget);
  }
  Context last;  // which file it is, when none of its contexts is left
  last.command_file = context->command_file;
  std::erase_if(contexts(), [&](const auto& entry) { return shares_objects(*entry.second, last); });
}

const verbs_soft_model kModel{.kind = "mlx5",
                              .default_device = "mlx5_soft0",
                              .defaults = nullptr,
                              .option_names = capability_options(),
                              .data = nullptr,
                              .init_device = init_device,
                              .open_context = open_context,
                              .close_context = close_context,
                              .egress = rdma_send,
                              .ingress = rdma_receive,
                              .only_watches = 1,
                              .reopen_context = nullptr,
                              .keep_context = nullptr,
                              .tunnels = 0,
                              .raw_send = raw_send,
                              .raw_receive = raw_receive,
                              .raw_packet_caps = IBV_RAW_PACKET_CAP_IP_CSUM};

}  // namespace

const verbs_soft_extension_table* soft() { return attachment.table(); }

bool is_ours(const ibv_device* device) { return attachment.owns(device, kModel.kind); }

Context* context_of(const ibv_context* ibv) {
  const ModelLock guard(model_mutex());
  const auto found = contexts().find(ibv);
  return found == contexts().end() || found->second->closed ? nullptr : found->second.get();
}

bool mlx5dv_is_supported(ibv_device* device) { return is_ours(device); }

ibv_context* mlx5dv_open_device(ibv_device* device, mlx5dv_context_attr* attr) {
  if (!device) return null_with<ibv_context>(EINVAL);
  if (!is_ours(device)) return null_with<ibv_context>(EOPNOTSUPP);
  // Every context has devx.
  if (attr && (attr->comp_mask != 0 || (attr->flags & ~std::uint32_t{MLX5DV_CONTEXT_FLAGS_DEVX}) != 0)) {
    return null_with<ibv_context>(EINVAL);
  }
  return soft()->open_device(device);
}

}  // namespace verbs::mlx5::model

using namespace verbs::mlx5::model;

extern "C" int verbs_soft_model_load(verbs_soft_extension_function extension) {
  const int error = attachment.load(extension, kModel);
  if (error == 0) {
    [[maybe_unused]] static const int kOnce =
        verbs::soft::model::take_at_fork<model_mutex>(*soft(), VERBS_SOFT_LOCK_OUTER);
  }
  return error;
}

VERBS_SOFT_MARKER("mlx5")
