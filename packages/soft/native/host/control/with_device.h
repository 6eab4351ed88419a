// A call of the control header, for the device that it names.
#pragma once

#include <utility>

#include "host/devices/registry.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::host {

// Calls `call(device)` for the device of that name.
template <typename Call>
int with_device(const char* name, Call&& call) {
  return verb([&] { return Registry::get().with(name, std::forward<Call>(call)); });
}

}  // namespace verbs::soft::host
