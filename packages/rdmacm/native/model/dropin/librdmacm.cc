// librdmacm.so.1 for programs that do not know the software NIC: each function forwards to the library under it, of
// which a process has one.
#include <atomic>
#include <cerrno>

#include "model/library/functions.h"
#include "verbs_soft_model.h"

namespace {

// A program may have loaded librdmacm alone: it loads libibverbs then, as Debian's librdmacm does.
const RdmacmFunctions& model() {
  static std::atomic<const RdmacmFunctions*> attached = nullptr;
  if (const RdmacmFunctions* functions = attached.load(std::memory_order_acquire)) return *functions;
  const RdmacmFunctions* functions = nullptr;
  // Without memory the next call tries again.
  const int error = verbs_soft_rdmacm(verbs::soft::model::load_extension(), &functions);
  if (error != ENOMEM) attached.store(functions, std::memory_order_release);
  return *functions;
}

}  // namespace

extern "C" {

#define RDMACM_FORWARD(result, name, parameters, arguments) \
  result name parameters { return model().name arguments; }
RDMACM_FUNCTIONS(RDMACM_FORWARD)
#undef RDMACM_FORWARD

// As every call of rsockets: there are none.
int rfcntl(int, int, ...) { return model().rclose(-1); }

}  // extern "C"

VERBS_SOFT_MARKER("rdmacm")
