#include "model/engine/context.h"

#include <utility>

#include "model/engine/engine.h"

namespace verbs::doca_comm::model {

namespace {

using ContextPool = HandlePool<doca_ctx, Context>;

}  // namespace

doca_ctx* publish(const std::shared_ptr<Context>& context) {
  context->handle_ = ContextPool::get().add(context);
  return context->handle_;
}

Context* find_context(const doca_ctx* handle) { return ContextPool::get().find(handle); }

void retire(Context& context) {
  if (context.engine()) context.engine()->disconnect(context);
  ContextPool::get().remove(context.handle());
}

void Context::enter(doca_ctx_states next) {
  const doca_ctx_states previous = std::exchange(state_, next);
  if (state_changed_) state_changed_(user_data_, handle_, previous, next);
}

doca_error_t Context::start() {
  if (!idle()) return DOCA_ERROR_BAD_STATE;
  if (!engine_) return DOCA_ERROR_NOT_CONNECTED;
  const doca_error_t error = open();
  if (error == DOCA_SUCCESS) enter(DOCA_CTX_STATE_RUNNING);
  if (error == DOCA_ERROR_IN_PROGRESS) enter(DOCA_CTX_STATE_STARTING);
  return error;
}

doca_error_t Context::stop() {
  if (idle()) return DOCA_ERROR_BAD_STATE;
  if (state_ == DOCA_CTX_STATE_STOPPING) return DOCA_ERROR_IN_PROGRESS;
  if (const doca_error_t error = may_stop()) return error;
  begin_stop();
  return finish_stop() ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
}

void Context::begin_stop() {
  begin_close();
  enter(DOCA_CTX_STATE_STOPPING);
}

// The callback of STOPPING may have ended it.
bool Context::finish_stop() {
  if (idle()) return true;
  if (!finish_close()) return false;
  enter(DOCA_CTX_STATE_IDLE);
  return true;
}

}  // namespace verbs::doca_comm::model
