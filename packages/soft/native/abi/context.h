// Opening and closing contexts.
#pragma once

#include "objects.h"

namespace verbs::soft::abi {

// nullptr and errno if the device cannot be opened.
ibv_context* open_context(ibv_device* device);
int close_context(ibv_context* context);

}  // namespace verbs::soft::abi
