// The counterpart of the kernel's command file of an open device: the contexts that were imported from one another, and
// the objects that they share. Programs refer to it by its descriptor (ibv_context.cmd_fd) or a copy of that.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <vector>

#include "abi/objects/handles.h"

namespace verbs::soft::abi {

struct Context;

class CommandFile {
 public:
  // A new file and its descriptor. 0 or errno.
  static int create(ibv_device* device, std::shared_ptr<CommandFile>* file, int* fd);
  // Finds the file of descriptor `fd`. 0, or EBADF, EOPNOTSUPP (the file belongs to another process, and so do its
  // objects) or EINVAL (not a command file).
  static int find(int fd, std::shared_ptr<CommandFile>* file);

  ibv_device* device() const { return device_; }
  void open(Context* context);
  // Returns the contexts that can be freed: all of them when the last one is closed, since they share their objects.
  // Needs no memory.
  std::vector<Context*> close(Context* context);

  Handles handles;

 private:
  bool inherited() const;  // a forked child has its own device

  ibv_device* device_ = nullptr;
  // Guarded by process_lock().
  std::vector<Context*> open_;
  std::vector<Context*> closed_;
};

}  // namespace verbs::soft::abi
