// Arguments of the functions of Comch.
#pragma once

#include <memory>
#include <utility>

#include "binding/comch/context.h"
#include "binding/handle.h"

namespace verbs::doca_comm::binding {

// An engine that JavaScript has.
struct EngineHolder {
  std::shared_ptr<Engine> engine;

  explicit EngineHolder(std::shared_ptr<Engine> its_engine) : engine(std::move(its_engine)) {}
  ~EngineHolder() { engine->orphan(); }
  EngineHolder(const EngineHolder&) = delete;
  EngineHolder& operator=(const EngineHolder&) = delete;
};

// The context of the handle, which is of a kind that fits: TypeError for any other. NOT_CONNECTED where it is
// destroyed.
template <typename T>
T& context_of(Napi::Value handle, bool (*fits)(Context::Kind)) {
  Context* context = kContexts.of(handle).context;
  if (context == nullptr) throw Refused{DOCA_ERROR_NOT_CONNECTED};
  if (!fits(context->kind())) throw wrong_type(handle.Env(), "the native handle is of another kind of context");
  return static_cast<T&>(*context);
}
inline Context& context_of(Napi::Value handle) {
  return context_of<Context>(handle, [](Context::Kind) { return true; });
}

}  // namespace verbs::doca_comm::binding
