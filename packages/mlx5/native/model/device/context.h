// An open context of a device, and the software NIC below it.
#pragma once

#include <string.h>
#include <sys/stat.h>

// Uses string.h without including it.
#include <infiniband/mlx5dv.h>

#include <cerrno>

#include "model/device/device.h"
#include "verbs_soft_model.h"

namespace verbs::mlx5::model {

struct Context {
  ibv_context* ibv = nullptr;  // after its closing another one of its command file
  Device* device = nullptr;
  verbs_soft_verbs base{};  // the NIC's own control verbs
  struct stat command_file{};
  bool closed = false;
};

// Of one command file: imported from one another by ibv_import_device(). Their objects end with the last of them.
inline bool shares_objects(const Context& one, const Context& other) {
  return one.command_file.st_dev == other.command_file.st_dev && one.command_file.st_ino == other.command_file.st_ino;
}

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
