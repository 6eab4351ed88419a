#include "host/models/model_loader.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstring>

#include "host/error.h"

namespace verbs::soft::host {

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

}  // namespace verbs::soft::host
