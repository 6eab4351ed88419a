// Time as the NIC sees it: nanoseconds since an epoch of the caller's choice.
#pragma once

#include "link/link.h"

namespace verbs::soft::nic {

using link::Nanos;
inline constexpr Nanos kNever = INT64_MAX;

}  // namespace verbs::soft::nic
