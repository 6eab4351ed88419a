#include "binding/lifetime/handle.h"

#include <cerrno>
#include <string>
#include <utility>

#include "provider/handle.h"

namespace verbs::core {
namespace {

// The content of an External.
struct Holder {
  std::shared_ptr<Object> object;
  bool claimed = false;
};

constexpr Handles<Holder> kObjects{0x3c96d1a7e05b4f28ull, "a verbs object of this copy of @verbs/core"};
constexpr Handles<std::shared_ptr<const Library>> kLibraries{0x58e2bb06d3174c9aull,
                                                             "a library of this copy of @verbs/core"};

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
  return kObjects.give(env, std::make_unique<Holder>(Holder{std::move(object)}));
}

Napi::Value wrap_library(Napi::Env env, std::shared_ptr<const Library> library) {
  return kLibraries.give(env, std::make_unique<std::shared_ptr<const Library>>(std::move(library)));
}

std::shared_ptr<Object> unwrap_object(napi_env env, napi_value value) { return kObjects.of(env, value).object; }

std::shared_ptr<const Library> unwrap_library(napi_env env, napi_value value) { return kLibraries.of(env, value); }

bool claim(napi_env env, napi_value value, std::string destroyer) {
  Holder& holder = kObjects.of(env, value);
  if (std::exchange(holder.claimed, true)) return false;
  holder.object->set_destroyer(std::move(destroyer));
  return true;
}

std::shared_ptr<Object> unwrap_open(napi_env env, napi_value value, verbs_core_kind kind) {
  std::shared_ptr<Object> object = unwrap_object(env, value);
  if (object->kind() != kind) {
    throw wrong_type(
        env, std::string("expected a handle of a ") + kind_name(kind) + ", not of a " + kind_name(object->kind()));
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
  auto environment = create_environment<Environment>(env);
  current = environment;
  return environment;
}

std::shared_ptr<Environment> Environment::of_thread() { return current.lock(); }

const std::shared_ptr<Environment>& Environment::of(napi_env env) { return environment_of<Environment>(env); }

}  // namespace verbs::core
