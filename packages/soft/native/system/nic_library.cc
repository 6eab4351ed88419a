#include "system/nic_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

namespace verbs::soft::system {

namespace {

constexpr const char* kName = "libverbs-soft-nic.so.1";

void* open_library() {
  if (void* loaded = dlopen(kName, RTLD_NOW | RTLD_NOLOAD)) return loaded;
  Dl_info self{};
  static const int kHere = 0;
  if (dladdr(&kHere, &self) == 0) return nullptr;
  const std::string beside = std::filesystem::path(self.dli_fname).replace_filename(kName);
  return dlopen(beside.c_str(), RTLD_NOW);
}

// The models of the devices that are configured, so that those are there also for programs that do not load a vendor's
// library. VERBS_SOFT_MODELS has the names of their libraries.
void load_models() {
  const char* names = std::getenv("VERBS_SOFT_MODELS");
  const char* configuration = std::getenv("VERBS_SOFT");
  if (!names || !configuration) return;
  // A text without a kind has none; a file may have one.
  if (configuration[0] != '/' && !std::strstr(configuration, "kind=")) return;
  void* verbs = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  void* extension = verbs ? dlsym(verbs, "verbs_soft_extension") : nullptr;
  if (!extension) return;
  std::stringstream list(names);
  for (std::string name; std::getline(list, name, ':');) {
    void* model = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    using Load = int (*)(void*);
    const auto load = model ? reinterpret_cast<Load>(dlsym(model, "verbs_soft_model_load")) : nullptr;
    if (load) load(extension);
  }
}

}  // namespace

bool NicLibrary::load() {
  void* library = open_library();
  if (!library) return false;
  load_models();
  device_name_ = reinterpret_cast<decltype(device_name_)>(dlsym(library, "verbs_soft_device_name"));
  sysfs_ = reinterpret_cast<decltype(sysfs_)>(dlsym(library, "verbs_soft_sysfs"));
  processes_ = reinterpret_cast<decltype(processes_)>(dlsym(library, "verbs_soft_processes"));
  return device_name_ && sysfs_ && processes_;
}

const NicLibrary* NicLibrary::get() {
  static NicLibrary library;
  static const bool kLoaded = library.load();
  return kLoaded ? &library : nullptr;
}

std::vector<std::string> NicLibrary::device_names() const {
  std::vector<std::string> names;
  for (unsigned i = 0; const char* name = device_name_(i); ++i) names.emplace_back(name);
  return names;
}

}  // namespace verbs::soft::system
