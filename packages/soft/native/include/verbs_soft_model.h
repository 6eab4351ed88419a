// For models in C++: how a model finds the software NIC in its process, and how it attaches to it.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "verbs_soft_extension.h"

namespace verbs::soft::model {

// verbs_soft_extension() of the libibverbs that this process has loaded. nullptr if it has none, or a vendor's.
//
// For drop-in libraries, which are not handed the function. The symbols of libibverbs are global if the program was
// linked with it. A program that loaded it with RTLD_LOCAL (as Python loads the libraries of its modules) has it under
// its SONAME only.
inline verbs_soft_extension_function find_extension() {
  constexpr const char* kName = "verbs_soft_extension";
  void* found = dlsym(RTLD_DEFAULT, kName);
  if (!found) {
    if (void* library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD)) {
      found = dlsym(library, kName);
      dlclose(library);  // the count of RTLD_NOLOAD; the program's own stays
    }
  }
  return reinterpret_cast<verbs_soft_extension_function>(found);
}

// As find_extension(), and loads libibverbs.so.1 if the process has none. For drop-in libraries of which a program need
// not know that verbs are below them.
inline verbs_soft_extension_function load_extension() {
  if (const verbs_soft_extension_function found = find_extension()) return found;
  void* library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);  // stays loaded: the model calls it
  return library ? find_extension() : nullptr;
}

// For a drop-in library: the function table of the model under it, which `load` attaches to the NIC of this process.
// Without the software NIC the model supports no device.
template <typename Functions>
const Functions* attached(int (*load)(verbs_soft_extension_function extension, const Functions** functions)) {
  const Functions* functions = nullptr;
  load(find_extension(), &functions);
  return functions;
}

// The failure of a verb that returns a pointer.
template <typename T>
T* null_with(int error) {
  errno = error;
  return nullptr;
}

// A model's attachment to the NIC: one in a process. Usable before any constructor ran (constinit).
class Attachment {
 public:
  // The NIC's function table; nullptr before load().
  const verbs_soft_extension_table* table() const { return table_.load(std::memory_order_acquire); }

  // Whether the device is one of the kind.
  bool owns(const ibv_device* device, const char* kind) const {
    const char* its_kind = table() && device ? table()->device_kind(device) : nullptr;
    return its_kind && std::strcmp(its_kind, kind) == 0;
  }

  // verbs_soft_model_load: gets the table by `extension` and registers the model. 0, also if it is registered already;
  // ENOSYS without `extension` or if the NIC lacks this version of the table; the errno value of register_model.
  //
  // Holds no lock: the NIC has its own around its calls of the model and in register_model, and the table is set before
  // the NIC knows the model.
  int load(verbs_soft_extension_function extension, const verbs_soft_model& model) {
    const verbs_soft_extension_table* found = table();
    if (!found) {
      found = extension ? extension(VERBS_SOFT_EXTENSION_VERSION) : nullptr;
      if (!found) return ENOSYS;
      const verbs_soft_extension_table* first = nullptr;
      if (!table_.compare_exchange_strong(first, found)) found = first;
    }
    return found->register_model(&model);
  }

 private:
  std::atomic<const verbs_soft_extension_table*> table_ = nullptr;
};

}  // namespace verbs::soft::model

// The symbol by which core recognises a library of a software model; `name` is the model's, for example "hbl".
#define VERBS_SOFT_MARKER(name)                             \
  extern "C" {                                              \
  extern const char verbs_soft_marker[];                    \
  const char verbs_soft_marker[] = "verbs-soft-" name " 1"; \
  }
