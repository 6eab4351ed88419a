// The library's attachment to the software NIC of the process.
#include "model/device/soft.h"
#include "model/library/functions.h"

extern "C" {

const RdmacmFunctions* verbs_soft_rdmacm() {
#define RDMACM_ENTRY(result, name, parameters, arguments) name,
  static constexpr RdmacmFunctions kFunctions{RDMACM_FUNCTIONS(RDMACM_ENTRY)};
#undef RDMACM_ENTRY
  return &kFunctions;
}

int verbs_soft_model_load(verbs_soft_extension_function extension) { return verbs::rdmacm::model::attach(extension); }

}  // extern "C"

VERBS_SOFT_MARKER("rdmacm")
