// libhbl.so.1 for programs that know nothing of the software NIC: the 13 functions, handed on to the model. The model
// itself is one for the process, also when this package's addon uses it beside such a program.
#include <dlfcn.h>

#include "hbldv.h"
#include "model/library/functions.h"
#include "verbs_soft_extension.h"

namespace {

// The software NIC is the libibverbs of the program; without it no device is supported.
const HblFunctions& model() {
  static const HblFunctions* functions = [] {
    const auto extension = reinterpret_cast<verbs_soft_extension_function>(dlsym(RTLD_DEFAULT, "verbs_soft_extension"));
    if (extension) verbs_soft_model_load(extension);
    return verbs_soft_hbl();
  }();
  return *functions;
}

// Before main(): the first device list of the program has the devices already.
[[gnu::constructor]] void attach() { model(); }

}  // namespace

extern "C" {

#define HBLDV_FORWARD(result, name, parameters, arguments) \
  result name parameters { return model().name arguments; }
HBLDV_FUNCTIONS(HBLDV_FORWARD)
#undef HBLDV_FORWARD

// By this symbol a library is known as the software model's.
extern const char verbs_soft_marker[];
const char verbs_soft_marker[] = "verbs-soft-hbl 1";

}  // extern "C"
