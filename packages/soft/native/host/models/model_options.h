// Checks of a device's options against its model.
#pragma once

#include "host/configuration/configuration.h"
#include "verbs_soft_extension.h"

namespace verbs::soft::host {

// The options that the configuration does not know: the model must know them. 0, or fail()'s EINVAL.
int check_own_options(const DeviceConfig& config, const verbs_soft_model& model);
// The options for raw packets, which the device may lack. `model` may be nullptr. 0, or fail()'s EINVAL.
int check_raw_options(const DeviceConfig& config, const verbs_soft_model* model);

}  // namespace verbs::soft::host
