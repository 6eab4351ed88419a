// The table by which the drop-in libhbl.so.1 calls the model.
#pragma once

#include "hbldv.h"

#define HBLDV_MEMBER(result, name, parameters, arguments) result(*name) parameters;
struct HblFunctions {
  HBLDV_FUNCTIONS(HBLDV_MEMBER)
};
#undef HBLDV_MEMBER

extern "C" const HblFunctions* verbs_soft_hbl();
