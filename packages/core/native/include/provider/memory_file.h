// Memory of a file without a name (memfd), which a NIC takes for a dma-buf and maps as well: what one process writes
// there, the NIC of another reads without a system call.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace verbs::provider {

// A writable mapping of a new file of that length, zero at first. The caller closes `*fd`. Null with errno set.
inline void* map_memory_file(std::size_t length, int* fd) {
  // A file beyond the process's limit would raise SIGXFSZ.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < length) {
    errno = EFBIG;
    return nullptr;
  }
  *fd = memfd_create("verbs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (*fd < 0) return nullptr;
  if (ftruncate(*fd, static_cast<off_t>(length)) == 0 && fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
    void* data = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (data != MAP_FAILED) return data;
  }
  const int error = errno;
  close(*fd);
  errno = error;
  return nullptr;
}

// Once all that write have mapped it: from now on nobody can make holes, for which the software NIC would have to look
// out.
inline void seal_memory_file(int fd) {
  constexpr int kSealFutureWrite = 0x10;  // F_SEAL_FUTURE_WRITE (Linux 5.1), which older C libraries do not name
  fcntl(fd, F_ADD_SEALS, kSealFutureWrite);
}

}  // namespace verbs::provider
