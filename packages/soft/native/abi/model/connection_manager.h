// The calls of verbs_soft_cm.h.
#pragma once

#include <cstdint>

#include "verbs_soft_cm.h"

namespace verbs::soft::abi {

// The table of that version, or nullptr.
const verbs_soft_cm_table* connection_manager(std::uint32_t version);

}  // namespace verbs::soft::abi
