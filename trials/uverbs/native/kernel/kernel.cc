#include "kernel/kernel.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "kernel/drivers/driver.h"
#include "kernel/libc.h"

namespace verbs::uverbs {

Kernel& Kernel::instance() {
  static Kernel* kernel = new Kernel;  // never destroyed: threads of the program may outlive main
  return *kernel;
}

Kernel::Kernel() {
  const char* journal = std::getenv("UVERBS_JOURNAL");
  if (journal != nullptr) journal_.open(journal);
  const char* interface = std::getenv("UVERBS_INTERFACE");
  write_only_ = interface != nullptr && std::strcmp(interface, "write") == 0;
}

void Kernel::opened(int fd) {
  const std::lock_guard<std::mutex> lock(mutex_);
  contexts_[fd] = std::make_unique<Context>(opened_++);
}

void Kernel::opened_control(int fd) {
  const std::lock_guard<std::mutex> lock(mutex_);
  controls_[fd] = true;
}

void Kernel::closed(int fd) {
  const std::lock_guard<std::mutex> lock(mutex_);
  controls_.erase(fd);
  const auto found = contexts_.find(fd);
  if (found == contexts_.end()) return;
  Context& context = *found->second;
  journal_.line("close, " + std::to_string(context.objects().size()) + " objects left");
  if (context.async_writer >= 0) libc().close(context.async_writer);
  for (const auto& [reader, writer] : context.channel_writers) libc().close(writer);
  contexts_.erase(found);
}

bool Kernel::has(int fd) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return contexts_.count(fd) != 0 || controls_.count(fd) != 0;
}

int Kernel::ioctl(int fd, unsigned long request, ib_uverbs_ioctl_hdr* header) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = contexts_.find(fd);
  int error = ENOTTY;
  if (found != contexts_.end() && request == RDMA_VERBS_IOCTL && !write_only_) {
    error = found->second->removed ? EIO : run_ioctl(*found->second, *header);
  }
  if (error == 0) return 0;
  errno = error;
  return -1;
}

ssize_t Kernel::write(int fd, const void* data, std::size_t size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (controls_.count(fd) != 0) {
    control(std::string(static_cast<const char*>(data), size));
    return static_cast<ssize_t>(size);
  }
  Context& context = *contexts_.at(fd);
  const int error = context.removed ? EIO : run_write(context, static_cast<const unsigned char*>(data), size);
  if (error == 0) return static_cast<ssize_t>(size);
  errno = error;
  return -1;
}

void* Kernel::map(int fd, std::size_t length, off_t offset) {
  const std::lock_guard<std::mutex> lock(mutex_);
  journal_.line("map " + std::to_string(length) + " at " + std::to_string(offset));
  return driver().map(*contexts_.at(fd), length, offset);
}

}  // namespace verbs::uverbs
