// Handles of native objects in JavaScript: Externals with a type tag.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "provider/value.h"

namespace verbs::provider {

namespace detail {
inline const char kCopyOfTheAddon = 0;
}  // namespace detail

// The content of an External with that tag; null for any other value.
template <typename T>
T* tagged(napi_env env, napi_value value, const napi_type_tag& tag) {
  napi_valuetype type = napi_undefined;
  bool ours = false;
  void* data = nullptr;
  const bool is = napi_typeof(env, value, &type) == napi_ok && type == napi_external &&
                  napi_check_object_type_tag(env, value, &tag, &ours) == napi_ok && ours &&
                  napi_get_value_external(env, value, &data) == napi_ok;
  return is ? static_cast<T*>(data) : nullptr;
}

// The handles of one kind of objects.
template <typename T>
class Handles {
 public:
  // `kind` is a number that no other handles have; `noun` says in errors what was expected: 'a libhbl'.
  constexpr Handles(std::uint64_t kind, const char* noun) : kind_(kind), noun_(noun) {}

  // The object behind a handle. TypeError for any other value.
  T& of(napi_env env, napi_value value) const {
    T* content = tagged<T>(env, value, tag());
    if (content == nullptr) throw wrong_type(env, std::string("the native handle is not ") + noun_);
    return *content;
  }
  T& of(Napi::Value value) const { return of(value.Env(), value); }
  T& of(const Napi::CallbackInfo& info, std::size_t index) const { return of(info[index]); }

  // Hands the object to JavaScript: it is deleted when its handle is collected.
  Napi::Value give(Napi::Env env, std::unique_ptr<T> content) const {
    const auto drop = [](node_api_basic_env, void* held, void*) { delete static_cast<T*>(held); };
    napi_value external = nullptr;
    if (napi_create_external(env, content.get(), drop, nullptr, &external) != napi_ok) throw Napi::Error::New(env);
    static_cast<void>(content.release());  // the handle's now
    return marked(env, external);
  }
  // A handle of an object that lives as long as the process.
  Napi::Value lend(Napi::Env env, T* content) const {
    napi_value external = nullptr;
    void* data = const_cast<std::remove_const_t<T>*>(content);
    if (napi_create_external(env, data, nullptr, nullptr, &external) != napi_ok) throw Napi::Error::New(env);
    return marked(env, external);
  }

 private:
  // A process may have loaded two copies of an addon, of two versions even, and JavaScript may bring the handles of one
  // to the other, whose objects may be laid out differently. So a tag also names the copy, by an address in it.
  napi_type_tag tag() const { return {kind_, reinterpret_cast<std::uintptr_t>(&detail::kCopyOfTheAddon)}; }
  Napi::Value marked(Napi::Env env, napi_value external) const {
    const napi_type_tag its_tag = tag();
    if (napi_type_tag_object(env, external, &its_tag) != napi_ok) throw Napi::Error::New(env);
    return {env, external};
  }

  std::uint64_t kind_;
  const char* noun_;
};

// An ArrayBuffer of memory that is not JavaScript's; it has `keep` until it is collected.
// napi_no_external_buffers_allowed where the host has all memory of JavaScript in one cage, as Electron has.
inline napi_status external_buffer(Napi::Env env, void* data, std::size_t length, std::shared_ptr<void> keep,
                                   napi_value* buffer) {
  struct Hold {
    std::shared_ptr<void> keep;
    bool* finalized;
  };
  bool finalized = false;
  auto hold = std::make_unique<Hold>(Hold{std::move(keep), &finalized});
  const napi_status status = napi_create_external_arraybuffer(
      env, data, length,
      [](node_api_basic_env, void*, void* held) {
        const std::unique_ptr<Hold> last(static_cast<Hold*>(held));
        if (last->finalized != nullptr) *last->finalized = true;
      },
      hold.get(), buffer);
  // For some buffers that it rejects (one that is too long) Node runs the finalizer all the same.
  if (finalized) static_cast<void>(hold.release());
  if (status == napi_ok) hold.release()->finalized = nullptr;  // the finalizer's now
  return status;
}

}  // namespace verbs::provider
