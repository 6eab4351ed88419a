// A vendor's function that creates an object instead of the library's.
#pragma once

#include <infiniband/verbs.h>

#include "verbs_core.h"

namespace verbs::core {

struct VendorMake {
  verbs_core_make make = nullptr;
  void* data = nullptr;
  // Of a queue pair; null leaves it to the library's function.
  int (*destroy)(void* data, void* object) = nullptr;

  template <typename T, typename Attr>
  T* operator()(ibv_context* context, Attr* attr) const {
    return static_cast<T*>(make(data, context, attr));
  }
};

}  // namespace verbs::core
