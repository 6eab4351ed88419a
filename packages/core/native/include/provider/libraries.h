// A vendor's loaded libraries. Nothing links them.
#pragma once

#include <dlfcn.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "provider/core.h"
#include "provider/loaded_file.h"

namespace verbs::provider {

// `Library` has the member `handle`, the result of dlopen, and pointers to the library's functions.
template <typename Library>
class Libraries {
 public:
  // Finds the functions of library->handle. False, with the reason, if it is not the expected library.
  using Find = bool (*)(const std::string& name, Library* library, std::string* reason);

  // `noun` names such a library in an error. The handles of another copy of the addon, of another version perhaps, are
  // of another tag: each copy has its own object of this class.
  Libraries(napi_type_tag tag, std::string noun, Find find)
      : tag_{tag.lower, tag.upper ^ reinterpret_cast<std::uintptr_t>(this)}, noun_(std::move(noun)), find_(find) {}

  // openLibrary(name): { handle, file } | { reason }. The library is never unloaded.
  napi_value open(const Arguments& arguments) {
    const napi_env env = arguments.env;
    std::string reason;
    const Library* library = load(to_string(env, arguments[0]), &reason);
    napi_value result = object(env);
    if (!library) {
      set(env, result, "reason", text(env, reason));
      return result;
    }
    napi_value external = nullptr;
    napi_create_external(env, const_cast<Library*>(library), nullptr, nullptr, &external);
    napi_type_tag_object(env, external, &tag_);
    set(env, result, "handle", external);
    set(env, result, "file", text(env, loaded_file(library->handle)));
    return result;
  }

  // Null with a TypeError pending for anything that is no handle of such a library.
  const Library* of(const Arguments& arguments, std::size_t index) const {
    void* library = nullptr;
    if (core() && tagged(arguments.env, arguments[index], tag_, &library)) return static_cast<Library*>(library);
    const std::string message = "the native handle is not a " + noun_;
    napi_throw_type_error(arguments.env, "ERR_INVALID_ARG_TYPE", message.c_str());
    return nullptr;
  }

  // attachModel(library, libibverbs): 0 | -errno. Attaches the model to the software NIC in that libibverbs.
  napi_value attach_model(const Arguments& arguments) const {
    const Library* library = of(arguments, 0);
    if (!library) return nullptr;
    void* extension = core()->library_symbol(arguments.env, arguments[1], "verbs_soft_extension", nullptr);
    using Load = int (*)(void*);
    const auto attach = reinterpret_cast<Load>(dlsym(library->handle, "verbs_soft_model_load"));
    return failure(arguments.env, extension && attach ? attach(extension) : ENOSYS);
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

  const napi_type_tag tag_;
  const std::string noun_;
  const Find find_;
  std::mutex mutex_;
  std::map<std::string, Library> loaded_;
};

}  // namespace verbs::provider
