// Memory files, of a size that stays.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace verbs::soft {

// All zero, with these seals. 0 or errno. EFBIG: files of this process may not become as large (RLIMIT_FSIZE), which
// ftruncate() would say by SIGXFSZ.
inline int make_memory_file(const char* name, std::size_t size, int seals, int* fd) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size) return EFBIG;
  *fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (*fd < 0) return errno;
  if (ftruncate(*fd, static_cast<off_t>(size)) == 0 && fcntl(*fd, F_ADD_SEALS, seals) == 0) return 0;
  const int error = errno;
  close(*fd);
  *fd = -1;
  return error;
}

}  // namespace verbs::soft
