// The devices of a libibverbs.
#pragma once

#include <infiniband/verbs.h>

#include <string>

#include "provider/core.h"

namespace verbs::provider {

// The device list of a libibverbs, for the time of a call. An exception is pending if the value is no libibverbs.
class DeviceList {
 public:
  DeviceList(napi_env env, napi_value library) {
    const auto get = symbol<ibv_device** (*)(int*)>(env, library, "ibv_get_device_list", "IBVERBS_1.1");
    free_ = symbol<void (*)(ibv_device**)>(env, library, "ibv_free_device_list", "IBVERBS_1.1");
    if (get && free_) list_ = get(&count_);
  }
  ~DeviceList() {
    if (list_) free_(list_);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  ibv_device* find(const std::string& name) const {
    for (int i = 0; i < count_; ++i) {
      if (name == list_[i]->name) return list_[i];
    }
    return nullptr;
  }

 private:
  template <typename T>
  static T symbol(napi_env env, napi_value library, const char* name, const char* version) {
    return reinterpret_cast<T>(core()->library_symbol(env, library, name, version));
  }
  void (*free_)(ibv_device**) = nullptr;
  ibv_device** list_ = nullptr;
  int count_ = 0;
};

inline bool exception_pending(napi_env env) {
  bool pending = false;
  napi_is_exception_pending(env, &pending);
  return pending;
}

}  // namespace verbs::provider
