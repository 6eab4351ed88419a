#include "host/models/model_options.h"

#include <cerrno>

#include "host/error.h"
#include "host/models/model_link.h"

namespace verbs::soft::host {

int check_own_options(const DeviceConfig& config, const verbs_soft_model& model) {
  std::string names;
  for (const char* const* name = model.option_names; name && *name; ++name) {
    names += std::string(names.empty() ? "" : ", ") + *name;
  }
  for (const auto& [key, value] : config.model_options) {
    bool known = false;
    for (const char* const* name = model.option_names; name && *name; ++name) known |= key == *name;
    if (!known) {
      return fail(EINVAL, "device " + config.name + ": unknown option " + key + "; kind " + config.kind + " has " +
                              (names.empty() ? "none of its own" : names));
    }
  }
  return 0;
}

int check_raw_options(const DeviceConfig& config, const verbs_soft_model* model) {
  if ((config.switch_name.empty() && config.tap.empty()) || FrameHook{model, nullptr}.has_raw_packets()) return 0;
  return fail(EINVAL, "device " + config.name + ": switch= and tap= are for devices with raw packets, and kind " +
                          config.kind + " has none");
}

}  // namespace verbs::soft::host
