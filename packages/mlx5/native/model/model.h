// The model's place in the software NIC: its devices and their open contexts.
#pragma once

#include <string.h>

// After string.h, which it uses.
#include <infiniband/mlx5dv.h>

#include <cerrno>
#include <mutex>

#include "capabilities.h"
#include "verbs_soft_extension.h"

namespace verbs::mlx5 {

// One for every device that was opened, for ever.
struct Device {
  explicit Device(ibv_device* its_face) : face(its_face) {}

  ibv_device* const face;
  Capabilities capabilities;
};

struct Context {
  ibv_context* verbs = nullptr;
  Device* device = nullptr;
  verbs_soft_verbs base{};  // the NIC's own control verbs
};

// The software NIC; null before it has handed over its table.
const verbs_soft_extension_table* soft();
bool is_ours(const ibv_device* device);
// The open context of a device of ours; nullptr for any other.
Context* context_of(ibv_context* verbs);

template <typename T>
T* null_with(int error) {
  errno = error;
  return nullptr;
}

}  // namespace verbs::mlx5
