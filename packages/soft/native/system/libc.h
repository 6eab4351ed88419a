// libc's own functions, behind those that this library replaces.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

// Declares a function of ours that has the name of libc's in the library: so that the declaration in libc's header,
// which knows that no pointer is null, is not in the way.
#define VERBS_REPLACES(result, name, ...)                                                               \
  extern "C" __attribute__((visibility("default"))) result replaced_##name(__VA_ARGS__) __asm__(#name); \
  result replaced_##name(__VA_ARGS__)

namespace verbs::soft::system {

// A function of libc. It is looked up when this library is loaded, because the look-up takes locks, or by the first
// call if another library's constructor is earlier.
template <typename Function>
class Libc {
 public:
  constexpr explicit Libc(const char* name) : name_(name) {}

  // nullptr: this libc has no such function.
  Function* find() {
    if (!looked_) {
      function_ = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
      looked_ = true;
    }
    return function_;
  }
  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    return find()(arguments...);
  }

 private:
  const char* name_;
  Function* function_ = nullptr;
  bool looked_ = false;
};

// At file scope, for each of them.
#define VERBS_LIBC(function, name)                                   \
  constinit Libc<function> libc_##name(#name);                       \
  [[gnu::constructor]] void look_up_##name() { libc_##name.find(); } \
  static_assert(true, "a semicolon follows")

}  // namespace verbs::soft::system

// The kernel's calls as this library makes them for itself: past libc, whose functions are replaced here or are
// cancellation points. They return what the kernel does, -1 with errno for an error.

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
