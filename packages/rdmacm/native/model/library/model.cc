// The library's attachment to the software NIC of the process.
#include "model/device/soft.h"
#include "model/library/functions.h"

extern "C" {

int verbs_soft_rdmacm(verbs_soft_extension_function extension, const RdmacmFunctions** functions) {
#define RDMACM_ENTRY(result, name, parameters, arguments) name,
  static constexpr RdmacmFunctions kFunctions{RDMACM_FUNCTIONS(RDMACM_ENTRY)};
#undef RDMACM_ENTRY
  *functions = &kFunctions;
  return verbs::rdmacm::model::attach(extension);
}

int verbs_soft_model_load(verbs_soft_extension_function extension) { return verbs::rdmacm::model::attach(extension); }

}  // extern "C"

VERBS_SOFT_MARKER("rdmacm")
