// rsockets are not part of this library: they are a protocol of their own over RDMA writes, and programs that want
// sockets have the kernel's. Each call fails.
#include <cerrno>

#include "model/library/functions.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

extern "C" {

#define RSOCKET_UNSUPPORTED(result, name, parameters, arguments) \
  result name parameters {                                       \
    errno = EOPNOTSUPP;                                          \
    return static_cast<result>(-1);                              \
  }
RSOCKET_FUNCTIONS(RSOCKET_UNSUPPORTED)
#undef RSOCKET_UNSUPPORTED

int rfcntl(int, int, ...) {
  errno = EOPNOTSUPP;
  return -1;
}

}  // extern "C"
