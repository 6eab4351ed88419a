// The functions of libhbl, as C programs call them: no exception of the model leaves them, and the objects that they
// are given are live.
#include "model/device/context.h"
#include "model/library/functions.h"
#include "verbs_soft_objects.h"

namespace model = verbs::hbl::model;

extern "C" {

#define HBLDV_EXPORT(result, name, parameters, arguments)                            \
  result name parameters {                                                           \
    const auto call = [&]() -> result { return model::name arguments; };             \
    return verbs::soft::model::verb(model::soft(), call, std::make_tuple arguments); \
  }
HBLDV_FUNCTIONS(HBLDV_EXPORT)
#undef HBLDV_EXPORT

int verbs_soft_hbl(verbs_soft_extension_function extension, const HblFunctions** functions) {
#define HBLDV_ENTRY(result, name, parameters, arguments) name,
  static constexpr HblFunctions kFunctions{HBLDV_FUNCTIONS(HBLDV_ENTRY)};
#undef HBLDV_ENTRY
  *functions = &kFunctions;
  return verbs_soft_model_load(extension);
}

}  // extern "C"
