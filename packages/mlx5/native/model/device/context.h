// An open context of a device, and the software NIC below it.
#pragma once

#include <string.h>

// Uses string.h without including it.
#include <infiniband/mlx5dv.h>

#include <cerrno>

#include "model/device/device.h"
#include "verbs_soft_model.h"

namespace verbs::mlx5::model {

struct Context {
  ibv_context* ibv = nullptr;
  Device* device = nullptr;
  verbs_soft_verbs base{};  // the NIC's own control verbs
};

// The software NIC's function table; nullptr before it is attached.
const verbs_soft_extension_table* soft();
bool is_ours(const ibv_device* device);
// The open context of a device of ours; nullptr for any other.
Context* context_of(const ibv_context* verbs);

// While one exists, no frame passes the device's tables. error() is EIO in a forked child, which has no device.
class DeviceLock {
 public:
  explicit DeviceLock(const Context& context) : ibv_(context.ibv), error_(soft()->lock_device(ibv_)) {}
  ~DeviceLock() {
    if (error_ == 0) soft()->unlock_device(ibv_);
  }
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;
  int error() const { return error_; }

 private:
  ibv_context* ibv_;
  int error_;
};

using soft::model::null_with;

}  // namespace verbs::mlx5::model
