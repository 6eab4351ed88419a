#include "system/nic_library.h"

#include <dlfcn.h>

#include <filesystem>

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

}  // namespace

bool NicLibrary::load() {
  void* library = open_library();
  if (!library) return false;
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
