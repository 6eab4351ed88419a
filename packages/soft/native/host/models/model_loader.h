// Loading the library that a device names by "model=PATH".
#pragma once

#include <string>

#include "verbs_soft_extension.h"

namespace verbs::soft::host {

// 0, or fail()'s errno. The library stays loaded for ever.
int load_model(const std::string& path, verbs_soft_extension_function extension);

}  // namespace verbs::soft::host
