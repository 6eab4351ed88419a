// The table by which the drop-in libhbl.so.1 calls the model.
#pragma once

#include "hbldv.h"

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

extern "C" const HblFunctions* verbs_soft_hbl();
