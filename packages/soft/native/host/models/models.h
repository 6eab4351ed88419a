// The vendors' models that are loaded in this process, by the kind of their devices.
#pragma once

#include <string>
#include <vector>

#include "host/configuration/configuration.h"
#include "verbs_soft_extension.h"

namespace verbs::soft::host {

class Models {
 public:
  // 0, also if the model is known already; EINVAL without a kind of its own, EEXIST if its kind has another model.
  int add(const verbs_soft_model* model);
  const verbs_soft_model* find(const std::string& kind) const;  // nullptr without such a model

 private:
  std::vector<const verbs_soft_model*> models_;
};

// Loads the library of a device with "model=PATH".

// 0, or fail()'s errno. The library is never unloaded.
int load_model(const std::string& path, verbs_soft_extension_function extension);

// Checks of a device's options against its model.

// The options that the configuration does not know: the model must know them. 0, or fail()'s EINVAL.
int check_own_options(const DeviceConfig& config, const verbs_soft_model& model);
// The options for raw packets, which the device may lack. `model` may be nullptr. 0, or fail()'s EINVAL.
int check_raw_options(const DeviceConfig& config, const verbs_soft_model* model);

}  // namespace verbs::soft::host
