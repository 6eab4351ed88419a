// Opening and closing contexts.
#pragma once

#include "abi/objects/objects.h"

namespace verbs::soft::abi {

// nullptr and errno if the device cannot be opened.
ibv_context* open_context(ibv_device* device);
// One more context of the command file of `cmd_fd`; it owns `cmd_fd` from then on.
ibv_context* import_context(int cmd_fd);
int close_context(ibv_context* context);  // 0 or EINVAL

}  // namespace verbs::soft::abi
