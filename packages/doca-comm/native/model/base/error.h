#pragma once

#include <cerrno>

#include "doca_error.h"

namespace verbs::doca_comm::model {

// The result for a failed call of the NIC or the system: out of memory, or what the caller says otherwise.
inline doca_error_t error_of(int error, doca_error_t otherwise) {
  return error == ENOMEM ? DOCA_ERROR_NO_MEMORY : otherwise;
}

}  // namespace verbs::doca_comm::model
