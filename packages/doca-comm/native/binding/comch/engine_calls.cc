// The engine, and what is common to its contexts, for JavaScript.
#include "binding/comch/arguments.h"
#include "binding/comch/calls.h"

namespace verbs::doca_comm::binding {

namespace {

using provider::number;

// createEngine(library, backlog): a handle, or the error. More than `backlog` bytes of events stop the progress.
napi_value create_engine(const Arguments& arguments) {
  const auto* library = held<Library>(arguments, 0, kLibraryTag);
  if (!library) return nullptr;
  if (!library->engine()) return failure(arguments, DOCA_ERROR_NOT_SUPPORTED);
  doca_error_t error = DOCA_SUCCESS;
  const auto backlog = static_cast<std::size_t>(provider::to_u32(arguments.env, arguments[1]));
  auto engine =
      Engine::create(*library, provider::environment_of<provider::Environment>(arguments.env), backlog, &error);
  if (!engine) return failure(arguments, error);
  return give(arguments.env, std::make_unique<EngineHolder>(std::move(engine)), kEngineTag);
}

Engine* engine_of(const Arguments& arguments) {
  auto* holder = held<EngineHolder>(arguments, 0, kEngineTag);
  return holder == nullptr ? nullptr : holder->engine.get();
}

// destroyEngine(engine): IN_USE while it has contexts
napi_value destroy_engine(const Arguments& arguments) {
  Engine* engine = engine_of(arguments);
  return engine ? failure(arguments, engine->close()) : nullptr;
}

// progress(engine, times, ready): how often something happened. In ready[0] the number of contexts that have events
// since the last call, and their ids behind it.
napi_value progress(const Arguments& arguments) {
  Engine* engine = engine_of(arguments);
  if (!engine) return nullptr;
  const std::uint32_t happened = engine->progress(provider::to_u32(arguments.env, arguments[1]));
  const Words ready = to_words(arguments.env, arguments[2]);
  if (ready.count > 0) {
    ready.data[0] = static_cast<std::uint32_t>(engine->take_ready(ready.data + 1, ready.count - 1));
  }
  return number(arguments.env, happened);
}

// watchEngine(engine, callback), armEngine(engine), clearEngine(engine)
napi_value watch_engine(const Arguments& arguments) {
  Engine* engine = engine_of(arguments);
  napi_valuetype type = napi_undefined;
  if (!engine) return nullptr;
  if (napi_typeof(arguments.env, arguments[1], &type) != napi_ok || type != napi_function) {
    return failure(arguments, DOCA_ERROR_INVALID_VALUE);
  }
  return failure(arguments, engine->watch(arguments[1]));
}
napi_value arm_engine(const Arguments& arguments) {
  Engine* engine = engine_of(arguments);
  return engine ? failure(arguments, engine->arm()) : nullptr;
}
napi_value clear_engine(const Arguments& arguments) {
  Engine* engine = engine_of(arguments);
  return engine ? failure(arguments, engine->clear()) : nullptr;
}
// holdEngine(engine, held): whether the watched descriptor keeps Node's loop alive.
napi_value hold_engine(const Arguments& arguments) {
  Engine* engine = engine_of(arguments);
  if (!engine) return nullptr;
  engine->hold(provider::to_boolean(arguments.env, arguments[1]));
  return provider::undefined(arguments.env);
}
// restEngine(engine): the descriptor is not watched until the next arming.
napi_value rest_engine(const Arguments& arguments) {
  Engine* engine = engine_of(arguments);
  if (!engine) return nullptr;
  engine->rest();
  return provider::undefined(arguments.env);
}

// waitEngine(engine, milliseconds): whether the descriptor is readable. Blocks.
napi_value wait_engine(const Arguments& arguments) {
  Engine* engine = engine_of(arguments);
  if (!engine) return nullptr;
  const std::uint32_t milliseconds = provider::to_u32(arguments.env, arguments[1]);
  return provider::boolean(arguments.env, engine->wait(milliseconds > 1000 ? 1000 : static_cast<int>(milliseconds)));
}

// startContext(context), stopContext(context), destroyContext(context)
napi_value start_context(const Arguments& arguments) {
  Context* context = context_of(arguments);
  return context ? failure(arguments, context->start()) : destroyed(arguments);
}
napi_value stop_context(const Arguments& arguments) {
  Context* context = context_of(arguments);
  return context ? failure(arguments, context->stop()) : destroyed(arguments);
}
napi_value destroy_context(const Arguments& arguments) {
  Context* context = context_of(arguments);
  return context ? failure(arguments, context->destroy()) : destroyed(arguments);
}
// abandonContext(context): it is stopped, and destroyed when it is idle
napi_value abandon_context(const Arguments& arguments) {
  Context* context = context_of(arguments);
  if (!context) return destroyed(arguments);
  held<ContextHolder>(arguments, 0, kContextTag)->abandon();
  return provider::undefined(arguments.env);
}
// contextState(context): its state, or the error
napi_value context_state(const Arguments& arguments) {
  Context* context = context_of(arguments);
  return context ? number(arguments.env, context->state()) : destroyed(arguments);
}

// takeEvent(context, record, bytes): the kind of the oldest event, 0 without one, or the error. Its fields are in
// `record` (connection, number, cookie, extra, length), its bytes in `bytes`; where these are too few it stays, and its
// kind comes negated by adding 0x100.
napi_value take_event(const Arguments& arguments) {
  Context* context = context_of(arguments);
  if (!context) return destroyed(arguments);
  if (context->take_lost()) return failure(arguments, DOCA_ERROR_NO_MEMORY);
  const Event event = context->events().front();
  if (event.kind == EventKind::kNone) return number(arguments.env, 0);
  const Words record = to_words(arguments.env, arguments[1]);
  const provider::Bytes bytes = provider::to_bytes(arguments.env, arguments[2]);
  if (record.count < 5) return failure(arguments, DOCA_ERROR_INVALID_VALUE);
  const std::uint32_t fields[] = {event.connection, event.number, event.cookie, event.extra, event.length};
  std::copy(std::begin(fields), std::end(fields), record.data);
  if (event.length > bytes.size) return number(arguments.env, 0x100 + static_cast<std::uint32_t>(event.kind));
  context->events().copy_front(event, bytes.data);
  context->pop_front();
  return number(arguments.env, static_cast<std::uint32_t>(event.kind));
}

}  // namespace

void init_engine(napi_env env, napi_value exports) {
  using provider::export_function;
  export_function<create_engine>(env, exports, "createEngine");
  export_function<destroy_engine>(env, exports, "destroyEngine");
  export_function<progress>(env, exports, "progress");
  export_function<watch_engine>(env, exports, "watchEngine");
  export_function<arm_engine>(env, exports, "armEngine");
  export_function<clear_engine>(env, exports, "clearEngine");
  export_function<hold_engine>(env, exports, "holdEngine");
  export_function<rest_engine>(env, exports, "restEngine");
  export_function<wait_engine>(env, exports, "waitEngine");
  export_function<start_context>(env, exports, "startContext");
  export_function<stop_context>(env, exports, "stopContext");
  export_function<destroy_context>(env, exports, "destroyContext");
  export_function<abandon_context>(env, exports, "abandonContext");
  export_function<context_state>(env, exports, "contextState");
  export_function<take_event>(env, exports, "takeEvent");
}

}  // namespace verbs::doca_comm::binding
