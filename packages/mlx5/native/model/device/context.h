// The model's place in the software NIC: its devices and their open contexts.
#pragma once

#include <string.h>

// After string.h, which it uses.
#include <infiniband/mlx5dv.h>

#include <cerrno>

#include "model/device/device.h"
#include "verbs_soft_model.h"

namespace verbs::mlx5 {

struct Context {
  ibv_context* verbs = nullptr;
  Device* device = nullptr;
  verbs_soft_verbs base{};  // the NIC's own control verbs
};

// The software NIC; null before it has handed over its table.
const verbs_soft_extension_table* soft();
bool is_ours(const ibv_device* device);
// The open context of a device of ours; nullptr for any other.
Context* context_of(const ibv_context* verbs);

// Frames stay out while one of these is there. In a forked child there is no device any more.
class DeviceLock {
 public:
  explicit DeviceLock(const Context& context) : verbs_(context.verbs), error_(soft()->lock_device(verbs_)) {}
  ~DeviceLock() {
    if (error_ == 0) soft()->unlock_device(verbs_);
  }
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;
  int error() const { return error_; }

 private:
  ibv_context* verbs_;
  int error_;
};

using soft::model::null_with;

}  // namespace verbs::mlx5
