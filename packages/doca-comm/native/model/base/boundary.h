// Where C++ ends, by the codes of DOCA.
#pragma once

#include "model/base/error.h"
#include "verbs_soft_boundary.h"

namespace verbs::doca_comm::model {

// Returns call(), or NO_MEMORY or OPERATING_SYSTEM if it throws.
template <typename Call>
doca_error_t contained(Call&& call) {
  return soft::contain_call(call, [](int error) { return error_of(error, DOCA_ERROR_OPERATING_SYSTEM); });
}

}  // namespace verbs::doca_comm::model
