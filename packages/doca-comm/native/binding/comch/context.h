// A context (doca_ctx) of an engine: its state, the events that its callbacks queue, and the handle that JavaScript
// has.
#pragma once

#include <memory>

#include "binding/comch/engine.h"
#include "binding/comch/event_queue.h"

namespace verbs::doca_comm::binding {

// What a context's handle in JavaScript holds. The context may be destroyed before it.
struct ContextHolder {
  std::shared_ptr<Engine> engine;
  Context* context = nullptr;

  ContextHolder() = default;
  ~ContextHolder() { abandon(); }
  ContextHolder(const ContextHolder&) = delete;
  ContextHolder& operator=(const ContextHolder&) = delete;
  // The engine stops the context, and destroys it when it is idle.
  void abandon();
};

class Context {
 public:
  enum class Kind : std::uint8_t { kServer, kClient, kConsumer, kProducer };

  virtual ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Kind kind() const { return kind_; }
  std::uint32_t id() const { return id_; }
  Engine& engine() const { return engine_; }
  EventQueue& events() { return events_; }
  doca_ctx_states state() const { return state_; }

  // Connects it to the engine, and sets what every context has. Before start().
  doca_error_t set_up();
  virtual doca_error_t start() { return engine_.functions().ctx_start(ctx_); }
  doca_error_t stop();
  // Destroys the context if it is idle: IN_USE otherwise, and while another one needs it. It must not be used after
  // SUCCESS.
  doca_error_t destroy();

  // An event for JavaScript. Called in callbacks of C, so it throws nothing: `lost` becomes true if memory is short.
  void push(const Event& event, const std::uint8_t* bytes = nullptr, std::uint32_t length = 0) noexcept;
  Event pop_front();
  bool take_lost() { return std::exchange(lost_, false); }

  // JavaScript has dropped it.
  void abandon();

 protected:
  Context(Engine& engine, Kind kind) : engine_(engine), kind_(kind) {}
  virtual doca_error_t destroy_object() = 0;  // of the library
  virtual bool needed() const { return false; }
  virtual void on_state(doca_ctx_states) {}

  Engine& engine_;
  doca_ctx* ctx_ = nullptr;

 private:
  static void state_changed(const doca_data user_data, doca_ctx* ctx, doca_ctx_states before, doca_ctx_states state);

  const Kind kind_;
  std::uint32_t id_ = 0;
  doca_ctx_states state_ = DOCA_CTX_STATE_IDLE;
  EventQueue events_;
  bool ready_ = false;
  bool lost_ = false;
  bool abandoned_ = false;
  ContextHolder* holder_ = nullptr;

  friend class Engine;
  friend struct ContextHolder;
  friend Napi::Value give_context(Napi::Env env, const std::shared_ptr<Engine>& engine, std::unique_ptr<Context> made);
};

// Hands a context that is set up to its engine, and gives JavaScript { handle, id }.
Napi::Value give_context(Napi::Env env, const std::shared_ptr<Engine>& engine, std::unique_ptr<Context> made);

}  // namespace verbs::doca_comm::binding
