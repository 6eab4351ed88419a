// A context of DOCA: what a progress engine drives. Its state machine, and what all kinds have in common.
//
//   IDLE ─ start ─┬─ SUCCESS ──────────────────────→ RUNNING ─ stop, or the peer's end ─→ STOPPING ─ all is gone ─→
//   IDLE
//                 └─ IN_PROGRESS ─→ STARTING ─┬─ connected ─↑                                ↑
//                                             └─ rejected, or stop ─────────────────────────┘
//
// The state is changed by start() and stop(), and by progress(); the program's callback is called by the same.
#pragma once

#include <cstddef>
#include <memory>

#include "doca_ctx.h"
#include "model/base/handles.h"
#include "model/engine/task.h"

namespace verbs::doca_comm::model {

class Engine;

class Context {
 public:
  Context() = default;
  virtual ~Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  doca_ctx* handle() const { return handle_; }
  doca_ctx_states state() const { return state_; }
  bool idle() const { return state_ == DOCA_CTX_STATE_IDLE; }
  bool running() const { return state_ == DOCA_CTX_STATE_RUNNING; }
  Engine* engine() const { return engine_; }
  doca_data user_data() const { return user_data_; }
  void set_user_data(doca_data data) { user_data_ = data; }
  void set_state_changed(doca_ctx_state_changed_callback_t callback) { state_changed_ = callback; }
  std::size_t in_flight() const { return in_flight_; }

  doca_error_t start();
  doca_error_t stop();

  // What the engine calls; no lock is held. True if something happened: a callback was called, or the state changed.
  virtual bool progress() = 0;
  // The next event makes a descriptor readable that the engine waits for; at once if there is something already.
  virtual void arm() = 0;
  virtual void disarm() = 0;

  virtual doca_error_t submit(doca_task& task) = 0;
  virtual void free(doca_task& task) = 0;

 protected:
  // Begins to run. SUCCESS, IN_PROGRESS, or an error that leaves the context idle.
  virtual doca_error_t open() = 0;
  // SUCCESS, or why the program may not stop it now.
  virtual doca_error_t may_stop() { return DOCA_SUCCESS; }
  // Begins to end: everything in flight is completed with an error.
  virtual void begin_close() = 0;
  // Goes on to end. True if it has: nothing is open any more, and all tasks are free.
  virtual bool finish_close() = 0;

  void enter(doca_ctx_states next);
  // The end of a context that the program did not stop.
  void begin_stop();
  bool finish_stop();

  std::size_t in_flight_ = 0;  // tasks that the library has

 private:
  friend class Engine;
  friend doca_ctx* publish(const std::shared_ptr<Context>& context);

  doca_ctx* handle_ = nullptr;
  Engine* engine_ = nullptr;
  doca_ctx_states state_ = DOCA_CTX_STATE_IDLE;
  doca_data user_data_{};
  doca_ctx_state_changed_callback_t state_changed_ = nullptr;
};

}  // namespace verbs::doca_comm::model

struct doca_ctx : verbs::doca_comm::model::Handle<verbs::doca_comm::model::Context> {};

namespace verbs::doca_comm::model {

// The structure that the program gets for a context.
doca_ctx* publish(const std::shared_ptr<Context>& context);
Context* find_context(const doca_ctx* handle);
// The context has no handle any more, and its engine does not drive it.
void retire(Context& context);

}  // namespace verbs::doca_comm::model
