// From errno to the results of DOCA.
#pragma once

#include <cerrno>

#include "doca_error.h"

namespace verbs::doca_comm::model {

// The DOCA result of a call that failed with `error`: NO_MEMORY for ENOMEM, else `otherwise`.
inline doca_error_t error_of(int error, doca_error_t otherwise) {
  return error == ENOMEM ? DOCA_ERROR_NO_MEMORY : otherwise;
}

}  // namespace verbs::doca_comm::model
