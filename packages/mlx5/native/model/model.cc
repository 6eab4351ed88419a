// Loading, devices and contexts: mlx5dv_is_supported and mlx5dv_open_device.
#include "model.h"

#include <cstring>
#include <deque>

#include "functions.h"

namespace verbs::mlx5 {

namespace {

const verbs_soft_extension_table* table = nullptr;

// Guards the list of devices, which only grows.
std::mutex devices_mutex;
std::deque<Device> devices;

Device* device_of(ibv_device* face) {
  const std::lock_guard guard(devices_mutex);
  for (Device& each : devices) {
    if (each.face == face) return &each;
  }
  return &devices.emplace_back(face);
}

int init_device(void*, ibv_device* device, verbs_soft_identity* identity) {
  Capabilities capabilities;
  if (const int error = parse_capabilities(*table, device, &capabilities)) return error;
  // The vendor's number, by which programs look for mlx5, with a part that no adapter has.
  identity->vendor_id = 0x02c9;
  identity->vendor_part_id = 0x5f05;
  identity->hw_ver = 0;
  identity->board_id = "VERBS_SOFT_MLX5";
  identity->hca_type = "mlx5";
  return 0;
}

void forget(void* data) { delete static_cast<Context*>(data); }

int open_context(void*, ibv_context* verbs) {
  Device* device = device_of(verbs->device);
  if (const int error = parse_capabilities(*table, verbs->device, &device->capabilities)) return error;
  auto* context = new Context{.verbs = verbs, .device = device, .base = *table->verbs(verbs)};
  table->set_data(verbs, VERBS_SOFT_CONTEXT, context, forget);
  return 0;
}

const verbs_soft_model kModel{.kind = "mlx5",
                              .default_device = "mlx5_soft0",
                              .defaults = nullptr,
                              .option_names = capability_options(),
                              .data = nullptr,
                              .init_device = init_device,
                              .open_context = open_context,
                              .close_context = nullptr,
                              .egress = nullptr,
                              .ingress = nullptr,
                              .reopen_context = nullptr,
                              .keep_context = nullptr,
                              .tunnels = 0};

}  // namespace

const verbs_soft_extension_table* soft() { return table; }

bool is_ours(const ibv_device* device) {
  const char* kind = table && device ? table->device_kind(device) : nullptr;
  return kind && std::strcmp(kind, kModel.kind) == 0;
}

Context* context_of(ibv_context* verbs) {
  if (!verbs || !is_ours(verbs->device)) return nullptr;
  return static_cast<Context*>(table->get_data(verbs, VERBS_SOFT_CONTEXT));
}

}  // namespace verbs::mlx5

using namespace verbs::mlx5;

extern "C" {

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

const Mlx5Functions* verbs_soft_mlx5() {
#define MLX5DV_ENTRY(result, name, parameters, arguments) name,
  static constexpr Mlx5Functions functions{MLX5DV_FUNCTIONS(MLX5DV_ENTRY)};
#undef MLX5DV_ENTRY
  return &functions;
}

int verbs_soft_model_load(verbs_soft_extension_function extension) {
  // The NIC may call this under its own lock.
  static std::mutex loading;
  const std::lock_guard guard(loading);
  if (table) return 0;
  const verbs_soft_extension_table* found = extension(VERBS_SOFT_EXTENSION_VERSION);
  if (!found) return ENOSYS;
  const int error = found->register_model(&kModel);
  if (error == 0) table = found;
  return error;
}

// By this symbol a library is known as the software model's.
extern const char verbs_soft_marker[];
const char verbs_soft_marker[] = "verbs-soft-mlx5 1";

}  // extern "C"
