#include "sibling_api.h"

#include <new>

#include "context.h"
#include "handle.h"
#include "verbs_core.h"

// A counted reference, as C sees it.
struct verbs_core_object {
  std::shared_ptr<verbs::core::Object> object;
};

namespace verbs::core {
namespace {

class ForeignObject final : public Object {
 public:
  ForeignObject(const std::vector<std::shared_ptr<Object>>& parents, int (*destroy)(void*), void* object)
      : Object(VERBS_CORE_FOREIGN, parents), first_parent_(parents.front()), destroy_(destroy), object_(object) {}
  ~ForeignObject() override { Dispose(); }

  void* pointer() const override { return object_; }
  const Context& context() const override { return first_parent_->context(); }

 private:
  int Release() override {
    if (const int error = destroy_(object_); error != 0) return error;
    object_ = nullptr;
    return 0;
  }

  std::shared_ptr<Object> first_parent_;
  int (*destroy_)(void*);
  void* object_;
};

}  // namespace
}  // namespace verbs::core

struct verbs_core_child {
  std::shared_ptr<verbs::core::ForeignObject> object;
};

namespace verbs::core {
namespace {

verbs_core_object* Take(napi_env env, napi_value handle, verbs_core_kind kind) {
  try {
    return new verbs_core_object{UnwrapOpen(env, handle, kind)};
  } catch (const Napi::Error& error) {
    error.ThrowAsJavaScriptException();
  } catch (const std::bad_alloc&) {
    napi_throw_error(env, "ENOMEM", "out of memory");
  }
  return nullptr;
}

verbs_core_object* Retain(verbs_core_object* object) { return new (std::nothrow) verbs_core_object{object->object}; }

void Release(verbs_core_object* object) { delete object; }

void* Pointer(const verbs_core_object* object) { return object->object->open() ? object->object->pointer() : nullptr; }

verbs_core_library LibraryOf(const verbs_core_object* object) {
  return object->object->context().library().soft() ? VERBS_CORE_SOFT : VERBS_CORE_SYSTEM;
}

void* Symbol(const verbs_core_object* object, const char* name, const char* version) {
  return object->object->context().library().Symbol(name, version);
}

verbs_core_child* Attach(verbs_core_object* const* parents, std::size_t count, int (*destroy)(void*), void* object) {
  if (count == 0) return nullptr;
  try {
    std::vector<std::shared_ptr<Object>> shared;
    shared.reserve(count);
    for (std::size_t i = 0; i < count; i++) shared.push_back(parents[i]->object);
    return new verbs_core_child{std::make_shared<ForeignObject>(shared, destroy, object)};
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

int CloseChild(verbs_core_child* child) { return child->object->Close(); }

void Detach(verbs_core_child* child) { delete child; }

constexpr verbs_core_api kApi = {
    .version = VERBS_CORE_API_VERSION,
    .size = sizeof(verbs_core_api),
    .take = Take,
    .retain = Retain,
    .release = Release,
    .pointer = Pointer,
    .library = LibraryOf,
    .symbol = Symbol,
    .attach = Attach,
    .close = CloseChild,
    .detach = Detach,
};

}  // namespace

void InitSiblingApi(Napi::Object exports) {
  constexpr napi_type_tag kTag = VERBS_CORE_API_TAG;
  napi_value external = nullptr;
  napi_env env = exports.Env();
  if (napi_create_external(env, const_cast<verbs_core_api*>(&kApi), nullptr, nullptr, &external) != napi_ok ||
      napi_type_tag_object(env, external, &kTag) != napi_ok) {
    throw Napi::Error::New(env);
  }
  exports.Set("nativeApi", external);
}

}  // namespace verbs::core
