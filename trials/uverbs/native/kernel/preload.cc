// The C library's functions that libibverbs and its providers call, replaced for our device file. For tests only: the
// program is started with LD_PRELOAD, and finds the device through a directory that SYSFS_PATH names.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "kernel/kernel.h"
#include "kernel/libc.h"

namespace verbs::uverbs {
namespace {

constexpr char kDevice[] = "/dev/infiniband/uverbs0";
constexpr char kControl[] = "/dev/infiniband/control";
// The accelerator behind hbl_0: libhbl opens it for a default open, and sends the number of the descriptor.
constexpr char kAccelerator[] = "/dev/accel/accel0";
// The same number in both programs, whatever else they have open.
constexpr int kAcceleratorFd = 200;
// The character device that stands behind the names: fstat must show the number that sysfs tells, 1:3.
constexpr char kNull[] = "/dev/null";

// How many files of ours are open: a program without one pays a load for each call.
std::atomic<int> files{0};

bool is_ours(const char* path) {
  return path != nullptr && (std::strcmp(path, kDevice) == 0 || std::strcmp(path, kControl) == 0);
}

bool is_accelerator(const char* path) { return path != nullptr && std::strcmp(path, kAccelerator) == 0; }

bool is_ours(int fd) {
  if (files.load() == 0) return false;
  const int error = errno;
  const bool ours = Kernel::instance().has(fd);
  errno = error;
  return ours;
}

template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

int open_accelerator(int flags) {
  const int fd = libc().open(kNull, flags);
  if (fd < 0) return fd;
  const int fixed = fcntl(fd, F_DUPFD_CLOEXEC, kAcceleratorFd);
  libc().close(fd);
  return fixed;
}

int open_ours(const char* path, int flags) {
  const int fd = libc().open(kNull, flags);
  if (fd < 0) return fd;
  ++files;
  if (std::strcmp(path, kDevice) == 0) {
    Kernel::instance().opened(fd);
  } else {
    Kernel::instance().opened_control(fd);
  }
  return fd;
}

}  // namespace

const Libc& libc() {
  static const Libc functions = [] {
    Libc found{};
    find(found.open, "open");
    find(found.close, "close");
    find(found.ioctl, "ioctl");
    find(found.write, "write");
    find(found.mmap, "mmap");
    find(found.stat, "stat");
    return found;
  }();
  return functions;
}

}  // namespace verbs::uverbs

using verbs::uverbs::Kernel;
using verbs::uverbs::libc;

extern "C" {

int open(const char* path, int flags, ...) {
  if (verbs::uverbs::is_ours(path)) return verbs::uverbs::open_ours(path, flags);
  if (verbs::uverbs::is_accelerator(path)) return verbs::uverbs::open_accelerator(flags);
  mode_t mode = 0;
  if ((flags & (O_CREAT | __O_TMPFILE)) != 0) {
    std::va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  return libc().open(path, flags, mode);
}

int open64(const char* path, int flags, ...) __attribute__((alias("open")));

int close(int fd) {
  if (verbs::uverbs::is_ours(fd)) {
    Kernel::instance().closed(fd);
    --verbs::uverbs::files;
  }
  return libc().close(fd);
}

int ioctl(int fd, unsigned long request, ...) {
  std::va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (verbs::uverbs::is_ours(fd))
    return Kernel::instance().ioctl(fd, request, static_cast<ib_uverbs_ioctl_hdr*>(argument));
  return libc().ioctl(fd, request, argument);
}

ssize_t write(int fd, const void* data, size_t size) {
  if (verbs::uverbs::is_ours(fd)) return Kernel::instance().write(fd, data, size);
  return libc().write(fd, data, size);
}

void* mmap(void* address, size_t length, int protection, int flags, int fd, off_t offset) {
  if (fd >= 0 && verbs::uverbs::is_ours(fd)) return Kernel::instance().map(fd, length, offset);
  return libc().mmap(address, length, protection, flags, fd, offset);
}

void* mmap64(void* address, size_t length, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("mmap")));

int stat(const char* path, struct stat* result) {
  return libc().stat(verbs::uverbs::is_ours(path) ? verbs::uverbs::kNull : path, result);
}

// The kernel's RDMA netlink is not emulated: libibverbs then reads sysfs.
int socket(int domain, int type, int protocol) {
  static const auto real = reinterpret_cast<int (*)(int, int, int)>(dlsym(RTLD_NEXT, "socket"));
  if (domain == AF_NETLINK && protocol == NETLINK_RDMA) {
    errno = EPROTONOSUPPORT;
    return -1;
  }
  return real(domain, type, protocol);
}

}  // extern "C"
