// Loads the library of a device with "model=PATH".
#pragma once

#include <string>

#include "verbs_soft_extension.h"

namespace verbs::soft::host {

// 0, or fail()'s errno. The library is never unloaded.
int load_model(const std::string& path, verbs_soft_extension_function extension);

}  // namespace verbs::soft::host
