#include "host/models/models.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstring>

#include "host/error.h"
#include "host/models/model_link.h"

namespace verbs::soft::host {

int Models::add(const verbs_soft_model* model) {
  if (!model || !model->kind || std::string("roce") == model->kind) {
    return fail(EINVAL, "a model needs a kind of its own");
  }
  const verbs_soft_model* known = find(model->kind);
  if (known == model) return 0;
  if (known) return fail(EEXIST, std::string("kind ") + model->kind + " has a model already");
  models_.push_back(model);
  return 0;
}

const verbs_soft_model* Models::find(const std::string& kind) const {
  for (const verbs_soft_model* model : models_) {
    if (kind == model->kind) return model;
  }
  return nullptr;
}

int load_model(const std::string& path, verbs_soft_extension_function extension) {
  if (!extension) return fail(ENODEV, "the model " + path + " is loaded when the devices are listed");
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return fail(ENODEV, "the model cannot be loaded: " + std::string(dlerror()));
  const auto load = reinterpret_cast<int (*)(verbs_soft_extension_function)>(dlsym(library, "verbs_soft_model_load"));
  if (!load) return fail(ENODEV, "the library " + path + " is no model: it does not export verbs_soft_model_load");
  if (const int error = load(extension)) {
    return fail(error, "the model " + path + " failed to register: " + std::strerror(error));
  }
  return 0;
}

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
