// The emulated kernel: what happens on a device file of ours.
#pragma once

#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/types.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "kernel/context.h"
#include "kernel/journal.h"
#include "kernel/refusals.h"

namespace verbs::uverbs {

class Kernel {
 public:
  static Kernel& instance();

  void opened(int fd);
  void opened_control(int fd);
  void closed(int fd);
  // Whether calls on this descriptor come here.
  bool has(int fd);

  // Each returns what the system call returns, with errno set.
  int ioctl(int fd, unsigned long request, ib_uverbs_ioctl_hdr* header);
  ssize_t write(int fd, const void* data, std::size_t size);
  void* map(int fd, std::size_t length, off_t offset);

 private:
  Kernel();
  int run_ioctl(Context& context, ib_uverbs_ioctl_hdr& header);
  int run_write(Context& context, const unsigned char* data, std::size_t size);
  // What a test asks of the kernel: see control.cc.
  void control(const std::string& line);
  void send_event(Context& context, std::uint64_t element, std::uint32_t type);
  void complete_invalidation(Context& context, std::uint32_t rkey);
  void dump_queues();

  std::mutex mutex_;
  Journal journal_;
  Refusals refusals_;
  bool write_only_ = false;  // an older kernel: the ioctl is missing
  int opened_ = 0;
  std::map<int, std::unique_ptr<Context>> contexts_;
  std::map<int, bool> controls_;
};

}  // namespace verbs::uverbs
