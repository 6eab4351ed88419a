#include "binding/comch/context.h"

#include <new>

namespace verbs::doca_comm::binding {

void ContextHolder::abandon() {
  if (context == nullptr) return;
  context->holder_ = nullptr;
  std::exchange(context, nullptr)->abandon();
  engine->reap();
}

Context::~Context() {
  engine_.add_backlog(-static_cast<std::ptrdiff_t>(events_.size()));
  if (holder_ != nullptr) holder_->context = nullptr;
}

doca_error_t Context::set_up() {
  const EngineFunctions& f = engine_.functions();
  if (ctx_ == nullptr) return DOCA_ERROR_UNEXPECTED;
  doca_error_t error = f.pe_connect_ctx(engine_.get(), ctx_);
  doca_data self{};
  self.ptr = this;
  if (error == DOCA_SUCCESS) error = f.ctx_set_user_data(ctx_, self);
  if (error == DOCA_SUCCESS) error = f.ctx_set_state_changed_cb(ctx_, state_changed);
  return error;
}

doca_error_t Context::stop() {
  const Engine::Current current(engine_);
  return engine_.functions().ctx_stop(ctx_);
}

doca_error_t Context::destroy() {
  if (state_ != DOCA_CTX_STATE_IDLE || needed()) return DOCA_ERROR_IN_USE;
  const doca_error_t error = destroy_object();
  if (error == DOCA_SUCCESS) engine_.forget(*this);  // which deletes it
  return error;
}

void Context::push(const Event& event, const std::uint8_t* bytes, std::uint32_t length) noexcept {
  if (abandoned_) return;  // nobody takes it
  const std::size_t before = events_.size();
  try {
    events_.push(event, bytes, length);
  } catch (const std::bad_alloc&) {
    lost_ = true;
  }
  engine_.add_backlog(static_cast<std::ptrdiff_t>(events_.size() - before));
  engine_.set_ready(*this);
}

Event Context::pop_front() {
  const Event event = events_.front();
  if (event.kind == EventKind::kNone) return event;
  const std::size_t before = events_.size();
  events_.pop(event);
  engine_.add_backlog(static_cast<std::ptrdiff_t>(events_.size()) - static_cast<std::ptrdiff_t>(before));
  return event;
}

void Context::abandon() {
  if (abandoned_) return;
  abandoned_ = true;
  engine_.abandoned_.push_back(id_);
  while (!events_.empty()) pop_front();
}

void Context::state_changed(const doca_data user_data, doca_ctx*, doca_ctx_states, doca_ctx_states state) {
  auto& context = *static_cast<Context*>(user_data.ptr);
  context.state_ = state;
  context.on_state(state);
  context.push({.kind = EventKind::kState, .number = static_cast<std::uint32_t>(state)});
}

Napi::Value give_context(Napi::Env env, const std::shared_ptr<Engine>& engine, std::unique_ptr<Context> made) {
  Context& context = *made;
  auto holder = std::make_unique<ContextHolder>();
  holder->engine = engine;
  const std::uint32_t id = engine->add(std::move(made));
  holder->context = &context;
  context.holder_ = holder.get();
  Napi::Object result = Napi::Object::New(env);
  // Where the handle cannot be made, the holder's end abandons the context.
  result.Set("handle", kContexts.give(env, std::move(holder)));
  result.Set("id", id);
  return result;
}

}  // namespace verbs::doca_comm::binding
