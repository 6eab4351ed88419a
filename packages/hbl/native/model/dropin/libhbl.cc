// libhbl.so.1 for programs that do not know the software NIC: each of the 13 functions forwards to the model. The model
// is one for the process; this package's addon uses the same one.
#include "hbldv.h"
#include "model/library/functions.h"
#include "verbs_soft_model.h"

namespace {

const HblFunctions& model() {
  static const HblFunctions* functions = verbs::soft::model::attached(verbs_soft_hbl);
  return *functions;
}

// Before main(): the program's first device list includes the model's devices.
[[gnu::constructor]] void attach() { model(); }

}  // namespace

extern "C" {

#define HBLDV_FORWARD(result, name, parameters, arguments) \
  result name parameters { return model().name arguments; }
HBLDV_FUNCTIONS(HBLDV_FORWARD)
#undef HBLDV_FORWARD

}  // extern "C"

VERBS_SOFT_MARKER("hbl")
