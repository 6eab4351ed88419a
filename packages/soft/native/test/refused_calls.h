// System calls that the kernel refuses from now on, for this thread: to be an older kernel, or to show that something
// does without them.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

namespace verbs::soft::test {

inline bool add_filter(std::span<sock_filter> code) {
  const sock_fprog program = {.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// All calls of that number fail with `error`. False if the kernel has no filters.
inline bool refuse_call(std::uint32_t number, std::uint32_t error) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return add_filter(code);
}

// Those whose argument (from 0) has that value.
inline bool refuse_call(std::uint32_t number, std::uint32_t error, std::uint32_t argument, std::uint32_t value) {
  const auto at = static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * argument);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return add_filter(code);
}

// The list of mappings cannot be read.
inline bool refuse_reading() { return refuse_call(SYS_read, EIO) && refuse_call(SYS_pread64, EIO); }

// SO_PASSRIGHTS is new in Linux 6.16.
inline bool be_linux_6_15() {
  return refuse_call(SYS_setsockopt, ENOPROTOOPT, 2, 83) && refuse_call(SYS_getsockopt, ENOPROTOOPT, 2, 83);
}
// PROCMAP_QUERY is new in Linux 6.11.
inline bool be_linux_6_1() { return refuse_call(SYS_ioctl, ENOTTY, 1, 0xc0686611); }
// MADV_POPULATE_READ and _WRITE are new in Linux 5.14.
inline bool be_linux_5_10() {
  return be_linux_6_1() && refuse_call(SYS_madvise, EINVAL, 2, 22) && refuse_call(SYS_madvise, EINVAL, 2, 23);
}

}  // namespace verbs::soft::test
