#include "binding/lifetime/handle.h"

#include <cerrno>
#include <string>
#include <utility>

namespace verbs::core {
namespace {

// A process may have loaded two copies of this addon, of two versions even, and JavaScript may bring the handles of one
// to the other, whose objects may be laid out differently. So a tag also names the copy, by an address in it.
constexpr char kCopy = 0;

napi_type_tag object_tag() { return {0x3c96d1a7e05b4f28ull, reinterpret_cast<std::uintptr_t>(&kCopy)}; }
napi_type_tag library_tag() { return {0x58e2bb06d3174c9aull, reinterpret_cast<std::uintptr_t>(&kCopy)}; }

// The content of an External.
template <typename T>
struct Holder {
  std::shared_ptr<T> object;
  bool claimed = false;
};

template <typename T>
Napi::Value wrap(Napi::Env env, std::shared_ptr<T> object, const napi_type_tag& tag) {
  auto holder = std::make_unique<Holder<T>>(Holder<T>{std::move(object)});
  napi_value external = nullptr;
  const napi_status status = napi_create_external(
      env, holder.get(), [](node_api_basic_env, void* held, void*) { delete static_cast<Holder<T>*>(held); }, nullptr,
      &external);
  if (status != napi_ok) throw Napi::Error::New(env);
  holder.release();  // the finalizer's now
  if (napi_type_tag_object(env, external, &tag) != napi_ok) throw Napi::Error::New(env);
  return {env, external};
}

template <typename T>
Holder<T>& holder_of(napi_env env, napi_value value, const napi_type_tag& tag, const char* what) {
  napi_valuetype type = napi_undefined;
  bool ours = false;
  void* held = nullptr;
  if (napi_typeof(env, value, &type) == napi_ok && type == napi_external &&
      napi_check_object_type_tag(env, value, &tag, &ours) == napi_ok && ours &&
      napi_get_value_external(env, value, &held) == napi_ok) {
    return *static_cast<Holder<T>*>(held);
  }
  Napi::TypeError error =
      Napi::TypeError::New(env, std::string("the native handle is not ") + what + " of this copy of @verbs/core");
  error.Set("code", "ERR_INVALID_ARG_TYPE");
  throw error;
}

// TypeScript has looked before every call, but a getter in an argument may close what the call is about to use. The
// error is a VerbsError by its brand, see src/errors.ts.
Napi::Error closed_error(Napi::Env env, verbs_core_kind kind) {
  Napi::Error error =
      Napi::Error::New(env, std::string("ERR_VERBS_CLOSED: the ") + kind_name(kind) +
                                " is closed, it was closed while the call read its arguments: keep it open meanwhile");
  Napi::Object value = error.Value();
  value.Set("code", "ERR_VERBS_CLOSED");
  value.Set("errno", Napi::Number::New(env, -EBADF));
  value.Set("syscall", "verbs");
  const auto hidden = [](const Napi::Name& name, const Napi::Value& value) {
    return Napi::PropertyDescriptor::Value(name, value, napi_writable);
  };
  value.DefineProperties({
      hidden(Napi::Symbol::For(env, "@verbs/core.VerbsError"), Napi::Boolean::New(env, true)),
      hidden(Napi::String::New(env, "name"), Napi::String::New(env, "VerbsError")),
  });
  return error;
}

}  // namespace

Napi::Value wrap_object(Napi::Env env, std::shared_ptr<Object> object) {
  return wrap(env, std::move(object), object_tag());
}

Napi::Value wrap_library(Napi::Env env, std::shared_ptr<const Library> library) {
  return wrap(env, std::move(library), library_tag());
}

std::shared_ptr<Object> unwrap_object(napi_env env, napi_value value) {
  return holder_of<Object>(env, value, object_tag(), "a verbs object").object;
}

bool claim(napi_env env, napi_value value, std::string destroyer) {
  Holder<Object>& holder = holder_of<Object>(env, value, object_tag(), "a verbs object");
  if (std::exchange(holder.claimed, true)) return false;
  holder.object->set_destroyer(std::move(destroyer));
  return true;
}

std::shared_ptr<const Library> unwrap_library(napi_env env, napi_value value) {
  return holder_of<const Library>(env, value, library_tag(), "a library").object;
}

std::shared_ptr<Object> unwrap_open(napi_env env, napi_value value, verbs_core_kind kind) {
  std::shared_ptr<Object> object = unwrap_object(env, value);
  if (object->kind() != kind) {
    Napi::TypeError error = Napi::TypeError::New(
        env, std::string("expected a handle of a ") + kind_name(kind) + ", not of a " + kind_name(object->kind()));
    error.Set("code", "ERR_INVALID_ARG_TYPE");
    throw error;
  }
  if (!object->open()) {
    throw closed_error(env, kind);
  }
  return object;
}

const char* kind_name(verbs_core_kind kind) {
  switch (kind) {
    case VERBS_CORE_CONTEXT:
      return "Context";
    case VERBS_CORE_PD:
      return "ProtectionDomain";
    case VERBS_CORE_MR:
      return "MemoryRegion";
    case VERBS_CORE_CHANNEL:
      return "CompletionChannel";
    case VERBS_CORE_CQ:
      return "CompletionQueue";
    case VERBS_CORE_QP:
      return "QueuePair";
    case VERBS_CORE_AH:
      return "AddressHandle";
    case VERBS_CORE_SRQ:
      return "SharedReceiveQueue";
    case VERBS_CORE_TD:
      return "ThreadDomain";
    case VERBS_CORE_DM:
      return "DeviceMemory";
    case VERBS_CORE_MW:
      return "MemoryWindow";
    case VERBS_CORE_XRCD:
      return "XrcDomain";
    case VERBS_CORE_WQ:
      return "ReceiveWorkQueue";
    case VERBS_CORE_RWQ_IND_TABLE:
      return "IndirectionTable";
    case VERBS_CORE_FLOW:
      return "Flow";
    case VERBS_CORE_COUNTERS:
      return "Counters";
    case VERBS_CORE_COMP_CNTR:
      return "CompletionCounter";
    case VERBS_CORE_BUF:
      return "LibraryBuffer";
    case VERBS_CORE_DMAH:
      return "DmaHandle";
    case VERBS_CORE_FOREIGN:
      return "provider's object";
  }
  return "unknown object";
}

int creation_error() { return errno == 0 ? EINVAL : errno; }

namespace {

// An environment lives on one thread.
thread_local std::weak_ptr<Environment> current;

}  // namespace

std::shared_ptr<Environment> Environment::create(napi_env env) {
  auto environment = provider::create_environment<Environment>(env);
  current = environment;
  return environment;
}

std::shared_ptr<Environment> Environment::of_thread() { return current.lock(); }

const std::shared_ptr<Environment>& Environment::of(napi_env env) { return provider::environment_of<Environment>(env); }

}  // namespace verbs::core
