// The engine, and what is common to its contexts, for JavaScript.
#include "binding/comch/arguments.h"
#include "binding/comch/calls.h"

namespace verbs::doca_comm::binding {

namespace {

// createEngine(library): a handle, or the error
Napi::Value create_engine(const Napi::CallbackInfo& info) {
  const Library& library = kLibraries.of(info, 0);
  if (!library.engine()) return failure(info.Env(), DOCA_ERROR_NOT_SUPPORTED);
  doca_error_t error = DOCA_SUCCESS;
  auto engine = Engine::create(library, environment_of<Environment>(info.Env()), &error);
  if (!engine) return failure(info.Env(), error);
  return kEngines.give(info.Env(), std::make_unique<EngineHolder>(std::move(engine)));
}

Engine& engine_of(Napi::Value handle) { return *kEngines.of(handle).engine; }

// destroyEngine(engine): IN_USE while it has contexts. JavaScript has dropped these as well: it is destroyed after
// them.
Napi::Value destroy_engine(const Napi::CallbackInfo& info) {
  Engine& engine = engine_of(info[0]);
  const doca_error_t error = engine.close();
  if (error != DOCA_SUCCESS) engine.orphan();
  return failure(info.Env(), error);
}

// progress(engine, times, backlog, ready): how often something happened, until more than `backlog` bytes of events
// wait. In ready[0] the number of contexts that have events since the last call, and their ids behind it.
Napi::Value progress(const Napi::CallbackInfo& info) {
  Engine& engine = engine_of(info[0]);
  const std::uint32_t happened = engine.progress(number_of<std::uint32_t>(info[1]), number_of<std::uint32_t>(info[2]));
  const auto ready = words_of<std::uint32_t>(info[3]);
  if (ready.size > 0) {
    ready.data[0] = static_cast<std::uint32_t>(engine.take_ready(ready.data + 1, ready.size - 1));
  }
  return number(info.Env(), happened);
}

// engineBacklog(engine): bytes of events that wait
Napi::Value engine_backlog(const Napi::CallbackInfo& info) {
  Engine& engine = engine_of(info[0]);
  return number(info.Env(), static_cast<double>(engine.backlog()));
}

// watchEngine(engine, callback), armEngine(engine), clearEngine(engine)
Napi::Value watch_engine(const Napi::CallbackInfo& info) {
  Engine& engine = engine_of(info[0]);
  if (!info[1].IsFunction()) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  return failure(info.Env(), engine.watch(info[1]));
}
Napi::Value arm_engine(const Napi::CallbackInfo& info) {
  Engine& engine = engine_of(info[0]);
  return failure(info.Env(), engine.arm());
}
Napi::Value clear_engine(const Napi::CallbackInfo& info) {
  Engine& engine = engine_of(info[0]);
  return failure(info.Env(), engine.clear());
}
// holdEngine(engine, held): whether the watched descriptor keeps Node's loop alive.
Napi::Value hold_engine(const Napi::CallbackInfo& info) {
  Engine& engine = engine_of(info[0]);
  engine.hold(flag_of(info[1]));
  return info.Env().Undefined();
}
// restEngine(engine): the descriptor is not watched until the next arming.
Napi::Value rest_engine(const Napi::CallbackInfo& info) {
  Engine& engine = engine_of(info[0]);
  engine.rest();
  return info.Env().Undefined();
}

// waitEngine(engine, milliseconds): whether the descriptor is readable. Blocks.
Napi::Value wait_engine(const Napi::CallbackInfo& info) {
  Engine& engine = engine_of(info[0]);
  const std::uint32_t milliseconds = number_of<std::uint32_t>(info[1]);
  return Napi::Boolean::New(info.Env(), engine.wait(milliseconds > 1000 ? 1000 : static_cast<int>(milliseconds)));
}

// startContext(context), stopContext(context), destroyContext(context)
Napi::Value start_context(const Napi::CallbackInfo& info) {
  Context& context = context_of(info[0]);
  return failure(info.Env(), context.start());
}
Napi::Value stop_context(const Napi::CallbackInfo& info) {
  Context& context = context_of(info[0]);
  return failure(info.Env(), context.stop());
}
Napi::Value destroy_context(const Napi::CallbackInfo& info) {
  Context& context = context_of(info[0]);
  return failure(info.Env(), context.destroy());
}
// abandonContext(context): it is stopped, and destroyed when it is idle
Napi::Value abandon_context(const Napi::CallbackInfo& info) {
  static_cast<void>(context_of(info[0]));
  kContexts.of(info, 0).abandon();
  return info.Env().Undefined();
}
// contextState(context): its state, or the error
Napi::Value context_state(const Napi::CallbackInfo& info) {
  Context& context = context_of(info[0]);
  return number(info.Env(), context.state());
}

// takeEvent(context, record, bytes): the kind of the oldest event, 0 without one, or the error. Its fields are in
// `record` (connection, number, cookie, extra, length), its bytes in `bytes`; where these are too few it stays, and its
// kind comes negated by adding 0x100.
Napi::Value take_event(const Napi::CallbackInfo& info) {
  Context& context = context_of(info[0]);
  if (context.take_lost()) return failure(info.Env(), DOCA_ERROR_NO_MEMORY);
  const Event event = context.events().front();
  if (event.kind == EventKind::kNone) return number(info.Env(), 0);
  const auto record = words_of<std::uint32_t>(info[1]);
  const Bytes bytes = bytes_of(info[2]);
  if (record.size < 5) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  const std::uint32_t fields[] = {event.connection, event.number, event.cookie, event.extra, event.length};
  std::copy(std::begin(fields), std::end(fields), record.data);
  if (event.length > bytes.size) return number(info.Env(), 0x100 + static_cast<std::uint32_t>(event.kind));
  context.events().copy_front(event, bytes.data);
  context.pop_front();
  return number(info.Env(), static_cast<std::uint32_t>(event.kind));
}

}  // namespace

void init_engine(Napi::Object exports) {
  export_function<create_engine>(exports, "createEngine");
  export_function<destroy_engine>(exports, "destroyEngine");
  export_function<progress>(exports, "progress");
  export_function<engine_backlog>(exports, "engineBacklog");
  export_function<watch_engine>(exports, "watchEngine");
  export_function<arm_engine>(exports, "armEngine");
  export_function<clear_engine>(exports, "clearEngine");
  export_function<hold_engine>(exports, "holdEngine");
  export_function<rest_engine>(exports, "restEngine");
  export_function<wait_engine>(exports, "waitEngine");
  export_function<start_context>(exports, "startContext");
  export_function<stop_context>(exports, "stopContext");
  export_function<destroy_context>(exports, "destroyContext");
  export_function<abandon_context>(exports, "abandonContext");
  export_function<context_state>(exports, "contextState");
  export_function<take_event>(exports, "takeEvent");
}

}  // namespace verbs::doca_comm::binding
