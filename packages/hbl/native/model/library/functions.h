// The table by which the drop-in libhbl.so.1 calls the model.
#pragma once

#include "hbldv.h"
#include "verbs_soft_extension.h"

#define HBLDV_MEMBER(result, name, parameters, arguments) result(*name) parameters;
struct HblFunctions {
  HBLDV_FUNCTIONS(HBLDV_MEMBER)
};
#undef HBLDV_MEMBER

// What the model does for each of them. It may throw.
namespace verbs::hbl::model {
#define HBLDV_DECLARE(result, name, parameters, arguments) result name parameters;
HBLDV_FUNCTIONS(HBLDV_DECLARE)
#undef HBLDV_DECLARE
}  // namespace verbs::hbl::model

// For the drop-in: gives it the table, and attaches the model as verbs_soft_model_load() does. A name of its own,
// because the libraries of all models are in the search order of a program that is linked with their drop-ins.
extern "C" int verbs_soft_hbl(verbs_soft_extension_function extension, const HblFunctions** functions);
