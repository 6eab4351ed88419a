// A vendor's loaded libraries, which nothing links, and the devices of a libibverbs.
#pragma once

#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "provider/core.h"
#include "provider/loaded_library.h"

namespace verbs::provider {

// `Library` has the member `handle`, the result of dlopen, and pointers to the library's functions.
template <typename Library>
class Libraries {
 public:
  // Finds the functions of library->handle. False, with the reason, if it is not the expected library.
  using Find = bool (*)(const std::string& name, Library* library, std::string* reason);

  // `kind` and `noun` are those of its handles.
  Libraries(std::uint64_t kind, const char* noun, Find find) : handles_(kind, noun), find_(find) {}

  // openLibrary(name): { handle, file } | { reason }. The library is never unloaded.
  Napi::Value open(const Napi::CallbackInfo& info) {
    std::string reason;
    const Library* library = load(string_of(info[0]), &reason);
    Napi::Object result = Napi::Object::New(info.Env());
    if (library) {
      result.Set("handle", handles_.lend(info.Env(), library));
      result.Set("file", loaded_file(library->handle));
    } else {
      result.Set("reason", reason);
    }
    return result;
  }

  // The library behind an argument. TypeError for anything else, and before setUp().
  const Library& of(const Napi::CallbackInfo& info, std::size_t index) const {
    return handles_.of(core() ? info[index] : info.Env().Undefined());
  }

  // attachModel(library, libibverbs): 0 | -errno. Attaches the model to the software NIC in that libibverbs.
  Napi::Value attach_model(const Napi::CallbackInfo& info) const {
    const Library& library = of(info, 0);
    void* extension = libibverbs_symbol<void*>(info[1], "verbs_soft_extension", nullptr);
    using Load = int (*)(void*);
    const auto attach = reinterpret_cast<Load>(dlsym(library.handle, "verbs_soft_model_load"));
    return failure(info.Env(), extension && attach ? attach(extension) : ENOSYS);
  }

 private:
  const Library* load(const std::string& name, std::string* reason) {
    const std::lock_guard guard(mutex_);
    if (const auto found = loaded_.find(name); found != loaded_.end()) return &found->second;
    Library library{};
    library.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library.handle) {
      *reason = dlerror();
      return nullptr;
    }
    if (!find_(name, &library, reason)) return nullptr;
    return &loaded_.emplace(name, library).first->second;
  }

  const Handles<const Library> handles_;
  const Find find_;
  std::mutex mutex_;
  std::map<std::string, Library> loaded_;
};

// The device list of a libibverbs, for the time of a call.
class DeviceList {
 public:
  explicit DeviceList(Napi::Value library)
      : free_(libibverbs_symbol<void (*)(ibv_device**)>(library, "ibv_free_device_list", "IBVERBS_1.1")) {
    const auto get = libibverbs_symbol<ibv_device** (*)(int*)>(library, "ibv_get_device_list", "IBVERBS_1.1");
    if (get && free_) list_ = get(&count_);
  }
  ~DeviceList() {
    if (list_) free_(list_);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  // Null if there is none of that name.
  ibv_device* find(const std::string& name) const {
    for (int i = 0; i < count_; ++i) {
      if (name == list_[i]->name) return list_[i];
    }
    return nullptr;
  }

 private:
  void (*const free_)(ibv_device**);
  ibv_device** list_ = nullptr;
  int count_ = 0;
};

}  // namespace verbs::provider
