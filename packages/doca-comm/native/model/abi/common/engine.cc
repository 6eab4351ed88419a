// Progress engines, contexts and tasks.
#include "model/engine/engine.h"

#include "model/abi/common/versions.h"
#include "model/base/boundary.h"
#include "model/bluefield/device.h"

VERBS_DOCA_STABLE(doca_ctx_cap_get_num_completion_vectors);
VERBS_DOCA_STABLE(doca_ctx_flush_tasks);
VERBS_DOCA_STABLE(doca_ctx_get_num_inflight_tasks);
VERBS_DOCA_STABLE(doca_ctx_get_state);
VERBS_DOCA_STABLE(doca_ctx_get_user_data);
VERBS_DOCA_STABLE(doca_ctx_set_completion_vector);
VERBS_DOCA_STABLE(doca_ctx_set_state_changed_cb);
VERBS_DOCA_STABLE(doca_ctx_set_user_data);
VERBS_DOCA_STABLE(doca_ctx_start);
VERBS_DOCA_STABLE(doca_ctx_stop);
VERBS_DOCA_STABLE(doca_pe_clear_notification);
VERBS_DOCA_STABLE(doca_pe_connect_ctx);
VERBS_DOCA_STABLE(doca_pe_create);
VERBS_DOCA_STABLE(doca_pe_destroy);
VERBS_DOCA_STABLE(doca_pe_get_notification_handle);
VERBS_DOCA_STABLE(doca_pe_get_num_inflight_tasks);
VERBS_DOCA_STABLE(doca_pe_progress);
VERBS_DOCA_STABLE(doca_pe_request_notification);
VERBS_DOCA_STABLE(doca_pe_set_event_mode);
VERBS_DOCA_STABLE(doca_task_free);
VERBS_DOCA_STABLE(doca_task_get_ctx);
VERBS_DOCA_STABLE(doca_task_get_status);
VERBS_DOCA_STABLE(doca_task_get_user_data);
VERBS_DOCA_STABLE(doca_task_set_user_data);
VERBS_DOCA_STABLE(doca_task_submit);
VERBS_DOCA_STABLE(doca_task_submit_ex);
VERBS_DOCA_STABLE(doca_task_try_submit);

using verbs::doca_comm::model::Bluefield;
using verbs::doca_comm::model::contained;
using verbs::doca_comm::model::Context;
using verbs::doca_comm::model::Engine;
using verbs::doca_comm::model::find_context;
using verbs::doca_comm::model::find_engine;
using verbs::doca_comm::model::find_task;

namespace {

// A program has its own tasks only: one that the library has is not submitted again.
doca_error_t submit(doca_task* task) {
  return contained([&]() -> doca_error_t {
    if (!find_task(task)) return DOCA_ERROR_INVALID_VALUE;
    if (task->owner != doca_task::Owner::kProgram) return DOCA_ERROR_BAD_STATE;
    return task->context->submit(*task);
  });
}

}  // namespace

extern "C" {

doca_error_t doca_pe_create(doca_pe** pe) {
  return contained([&]() -> doca_error_t {
    if (!pe) return DOCA_ERROR_INVALID_VALUE;
    std::shared_ptr<Engine> created;
    if (const doca_error_t error = Engine::create(&created)) return error;
    *pe = verbs::doca_comm::model::publish(std::move(created));
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_pe_destroy(doca_pe* pe) {
  return contained([&]() -> doca_error_t {
    const Engine* engine = find_engine(pe);
    if (!engine) return DOCA_ERROR_INVALID_VALUE;
    if (engine->in_use()) return DOCA_ERROR_IN_USE;
    return verbs::doca_comm::model::destroy_engine(pe) ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_pe_connect_ctx(doca_pe* pe, doca_ctx* ctx) {
  return contained([&]() -> doca_error_t {
    Engine* engine = find_engine(pe);
    return engine ? engine->connect(ctx) : DOCA_ERROR_INVALID_VALUE;
  });
}
// Without memory nothing happens: the next call finds the same.
std::uint8_t doca_pe_progress(doca_pe* pe) {
  return verbs::soft::contain_call(
      [&]() -> std::uint8_t {
        Engine* engine = find_engine(pe);
        return engine && engine->progress() ? 1 : 0;
      },
      [](int) -> std::uint8_t { return 0; });
}
doca_error_t doca_pe_get_notification_handle(const doca_pe* pe, doca_notification_handle_t* handle) {
  return contained([&]() -> doca_error_t {
    const Engine* engine = find_engine(pe);
    if (!engine || !handle) return DOCA_ERROR_INVALID_VALUE;
    *handle = engine->fd();
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_pe_request_notification(doca_pe* pe) {
  return contained([&]() -> doca_error_t {
    Engine* engine = find_engine(pe);
    if (!engine) return DOCA_ERROR_INVALID_VALUE;
    engine->arm();
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_pe_clear_notification(doca_pe* pe, doca_notification_handle_t handle) {
  return contained([&]() -> doca_error_t {
    Engine* engine = find_engine(pe);
    if (!engine || handle != engine->fd()) return DOCA_ERROR_INVALID_VALUE;
    engine->disarm();
    return DOCA_SUCCESS;
  });
}
// Both modes look at all contexts here, which costs no more.
doca_error_t doca_pe_set_event_mode(doca_pe* pe, doca_pe_event_mode mode) {
  return contained([&]() -> doca_error_t {
    const bool known = mode == DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE || mode == DOCA_PE_EVENT_MODE_PROGRESS_ALL;
    return find_engine(pe) && known ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_pe_get_num_inflight_tasks(const doca_pe* pe, std::size_t* num_inflight_tasks) {
  return contained([&]() -> doca_error_t {
    const Engine* engine = find_engine(pe);
    if (!engine || !num_inflight_tasks) return DOCA_ERROR_INVALID_VALUE;
    *num_inflight_tasks = engine->in_flight();
    return DOCA_SUCCESS;
  });
}

// The callback of a new state may destroy the context.
doca_error_t doca_ctx_start(doca_ctx* ctx) {
  return contained([&]() -> doca_error_t {
    if (!find_context(ctx)) return DOCA_ERROR_INVALID_VALUE;
    const std::shared_ptr<Context> context = ctx->object;
    return context->start();
  });
}
doca_error_t doca_ctx_stop(doca_ctx* ctx) {
  return contained([&]() -> doca_error_t {
    if (!find_context(ctx)) return DOCA_ERROR_INVALID_VALUE;
    const std::shared_ptr<Context> context = ctx->object;
    return context->stop();
  });
}
doca_error_t doca_ctx_get_state(const doca_ctx* ctx, doca_ctx_states* state) {
  return contained([&]() -> doca_error_t {
    const Context* context = find_context(ctx);
    if (!context || !state) return DOCA_ERROR_INVALID_VALUE;
    *state = context->state();
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_ctx_set_state_changed_cb(doca_ctx* ctx, doca_ctx_state_changed_callback_t cb) {
  return contained([&]() -> doca_error_t {
    Context* context = find_context(ctx);
    if (!context || !cb) return DOCA_ERROR_INVALID_VALUE;
    context->set_state_changed(cb);
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_ctx_set_user_data(doca_ctx* ctx, doca_data user_data) {
  return contained([&]() -> doca_error_t {
    Context* context = find_context(ctx);
    if (!context) return DOCA_ERROR_INVALID_VALUE;
    context->set_user_data(user_data);
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_ctx_get_user_data(const doca_ctx* ctx, doca_data* user_data) {
  return contained([&]() -> doca_error_t {
    const Context* context = find_context(ctx);
    if (!context || !user_data) return DOCA_ERROR_INVALID_VALUE;
    *user_data = context->user_data();
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_ctx_get_num_inflight_tasks(const doca_ctx* ctx, std::size_t* num_inflight_tasks) {
  return contained([&]() -> doca_error_t {
    const Context* context = find_context(ctx);
    if (!context || !num_inflight_tasks) return DOCA_ERROR_INVALID_VALUE;
    *num_inflight_tasks = context->in_flight();
    return DOCA_SUCCESS;
  });
}
// Every submission is flushed already.
void doca_ctx_flush_tasks(doca_ctx*) {}
// The software NIC has one completion vector.
doca_error_t doca_ctx_set_completion_vector(doca_ctx* ctx, std::uint32_t completion_vector) {
  return contained([&]() -> doca_error_t {
    const Context* context = find_context(ctx);
    if (!context || completion_vector != 0) return DOCA_ERROR_INVALID_VALUE;
    return context->idle() ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE;
  });
}
doca_error_t doca_ctx_cap_get_num_completion_vectors(const doca_devinfo* devinfo,
                                                     std::uint32_t* num_completion_vectors) {
  return contained([&]() -> doca_error_t {
    if (!Bluefield::get().knows(devinfo) || !num_completion_vectors) return DOCA_ERROR_INVALID_VALUE;
    *num_completion_vectors = 1;
    return DOCA_SUCCESS;
  });
}

doca_error_t doca_task_submit(doca_task* task) { return submit(task); }
doca_error_t doca_task_try_submit(doca_task* task) { return submit(task); }
doca_error_t doca_task_submit_ex(doca_task* task, std::uint32_t flags) {
  constexpr std::uint32_t kKnown = DOCA_TASK_SUBMIT_FLAG_FLUSH | DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS;
  return (flags & ~kKnown) != 0 ? DOCA_ERROR_INVALID_VALUE : submit(task);
}
// Decided here: a task that is in flight is not freed.
void doca_task_free(doca_task* task) {
  contained([&]() -> doca_error_t {
    if (find_task(task) && task->owner == doca_task::Owner::kProgram) task->context->free(*task);
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_task_get_status(const doca_task* task) {
  return find_task(task) ? task->status : DOCA_ERROR_INVALID_VALUE;
}
void doca_task_set_user_data(doca_task* task, doca_data user_data) {
  if (find_task(task)) task->user_data = user_data;
}
doca_data doca_task_get_user_data(const doca_task* task) { return find_task(task) ? task->user_data : doca_data{}; }
doca_ctx* doca_task_get_ctx(const doca_task* task) { return find_task(task) ? task->context->handle() : nullptr; }

}  // extern "C"
