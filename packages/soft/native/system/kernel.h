// The kernel's calls as this library makes them for itself: past libc, whose functions are replaced here or are
// cancellation points. They return what the kernel does, -1 with errno for an error.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace verbs::soft::system::kernel {

inline int open(const char* path, int flags) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0));
}
inline int stat_of(int fd, struct stat* status) { return static_cast<int>(syscall(SYS_fstat, fd, status)); }
inline void close(int fd) { syscall(SYS_close, fd); }
inline long read_link(const char* path, char* text, std::size_t room) {
  return syscall(SYS_readlinkat, AT_FDCWD, path, text, room);
}
inline long write_at(int fd, const void* data, std::size_t size, off_t at) {
  return syscall(SYS_pwrite64, fd, data, size, at);
}
inline long read_at(int fd, void* data, std::size_t size, off_t at) { return syscall(SYS_pread64, fd, data, size, at); }

}  // namespace verbs::soft::system::kernel

namespace verbs::soft::system {

// What this library does meanwhile does not change errno.
class KeepErrno {
 public:
  KeepErrno() : before_(errno) {}
  ~KeepErrno() { errno = before_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int before_;
};

}  // namespace verbs::soft::system
