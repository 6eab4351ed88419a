// What stands for the kernel's command file of an open device: the contexts that were imported from one another, and
// the objects that they share. Programs know it by its descriptor (ibv_context.cmd_fd) and the copies of that.
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
  // The file of this process that `fd` is a descriptor of. 0, or EBADF, EOPNOTSUPP (a file of another process: its
  // objects live there) or EINVAL (something else).
  static int find(int fd, std::shared_ptr<CommandFile>* file);

  ibv_device* device() const { return device_; }
  void open(Context* context);
  // The contexts whose memory can go: none as long as one is open, since their objects live on.
  std::vector<Context*> close(Context* context);

  Handles handles;

 private:
  bool inherited() const;  // a forked child has a device of its own

  ibv_device* device_ = nullptr;
  // Guarded by process_lock().
  std::vector<Context*> open_;
  std::vector<Context*> closed_;
};

}  // namespace verbs::soft::abi
