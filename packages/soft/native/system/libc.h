// libc's own functions, behind those that this library replaces.
#pragma once

#include <dlfcn.h>

// Declares a function of ours that has the name of libc's in the library: so that the declaration in libc's header,
// which knows that no pointer is null, is not in the way.
#define VERBS_REPLACES(result, name, ...)                                                               \
  extern "C" __attribute__((visibility("default"))) result replaced_##name(__VA_ARGS__) __asm__(#name); \
  result replaced_##name(__VA_ARGS__)

namespace verbs::soft::system {

// A function of libc. It is looked up when this library is loaded, because the look-up takes locks, or by the first
// call if another library's constructor is earlier.
template <typename Function>
class Libc {
 public:
  constexpr explicit Libc(const char* name) : name_(name) {}

  // nullptr: this libc has no such function.
  Function* find() {
    if (!looked_) {
      function_ = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
      looked_ = true;
    }
    return function_;
  }
  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    return find()(arguments...);
  }

 private:
  const char* name_;
  Function* function_ = nullptr;
  bool looked_ = false;
};

// At file scope, for each of them.
#define VERBS_LIBC(function, name)                                   \
  constinit Libc<function> libc_##name(#name);                       \
  [[gnu::constructor]] void look_up_##name() { libc_##name.find(); } \
  static_assert(true, "a semicolon follows")

}  // namespace verbs::soft::system
