#include "binding/comch/engine.h"

#include <poll.h>

#include <algorithm>

#include "binding/comch/context.h"

namespace verbs::doca_comm::binding {

std::shared_ptr<Engine> Engine::create(const Library& library, std::shared_ptr<provider::Environment> environment,
                                       doca_error_t* error) {
  std::shared_ptr<Engine> engine(new Engine(library, std::move(environment)));
  const EngineFunctions& f = engine->functions();
  *error = f.pe_create(&engine->pe_);
  if (*error == DOCA_SUCCESS) *error = f.pe_get_notification_handle(engine->pe_, &engine->fd_);
  if (*error != DOCA_SUCCESS) return nullptr;
  engine->environment_->loop_users.insert(engine.get());
  engines().push_back(engine);
  return engine;
}

std::vector<std::shared_ptr<Engine>>& Engine::engines() {
  static thread_local auto* all = new std::vector<std::shared_ptr<Engine>>;  // finalizers may run late
  return *all;
}

void Engine::progress_orphans() {
  for (std::size_t i = engines().size(); i-- > 0;) {
    const std::shared_ptr<Engine> engine = engines()[i];
    if (engine->orphan_) engine->orphan();
    i = std::min(i, engines().size());
  }
}

std::uint32_t Engine::progress(std::uint32_t times, std::size_t backlog) {
  if (pe_ == nullptr || progressing_) return 0;
  progress_orphans();
  reap();
  if (pe_ == nullptr) return 0;
  const Current current(*this);
  progressing_ = true;
  std::uint32_t happened = 0;
  while (happened < times && backlog_ <= backlog && functions().pe_progress(pe_) != 0) ++happened;
  progressing_ = false;
  return happened;
}

std::size_t Engine::take_ready(std::uint32_t* ids, std::size_t room) {
  const std::size_t count = std::min(room, ready_.size());
  for (std::size_t i = 0; i < count; ++i) {
    ids[i] = ready_[i];
    if (const auto found = contexts_.find(ids[i]); found != contexts_.end()) found->second->ready_ = false;
  }
  ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

std::uint32_t Engine::add(std::unique_ptr<Context> context) {
  // A callback that finds a context ready, or JavaScript that drops it, must not need memory.
  ready_.reserve(contexts_.size() + 1);
  abandoned_.reserve(contexts_.size() + 1);
  context->id_ = next_id_;
  contexts_[next_id_] = std::move(context);
  return next_id_++;
}

void Engine::forget(Context& context) {
  const std::uint32_t id = context.id_;
  std::erase(ready_, id);
  std::erase(abandoned_, id);
  contexts_.erase(id);
}

void Engine::set_ready(Context& context) {
  if (context.ready_) return;
  context.ready_ = true;
  ready_.push_back(context.id_);
}

doca_error_t Engine::watch(napi_value callback) {
  if (pe_ == nullptr) return DOCA_ERROR_BAD_STATE;
  if (watcher_.is_open()) return DOCA_SUCCESS;
  return watcher_.open(environment_, fd_, callback, "verbs.DocaEngine") == 0 ? DOCA_SUCCESS
                                                                             : DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t Engine::arm() {
  if (pe_ == nullptr) return DOCA_ERROR_BAD_STATE;
  if (const doca_error_t error = functions().pe_request_notification(pe_)) return error;
  return watcher_.start() == 0 ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t Engine::clear() {
  if (pe_ == nullptr) return DOCA_ERROR_BAD_STATE;
  return functions().pe_clear_notification(pe_, fd_);
}

bool Engine::wait(int milliseconds) const {
  pollfd readable{fd_, POLLIN, 0};
  return pe_ != nullptr && poll(&readable, 1, milliseconds) > 0;
}

doca_error_t Engine::close() {
  if (pe_ == nullptr) return DOCA_SUCCESS;
  reap();
  if (!contexts_.empty()) return DOCA_ERROR_IN_USE;
  const doca_error_t error = functions().pe_destroy(pe_);
  if (error != DOCA_SUCCESS) return error;
  pe_ = nullptr;
  watcher_.close();
  environment_->loop_users.erase(this);
  const std::shared_ptr<Engine> self = shared_from_this();
  std::erase(engines(), self);
  return DOCA_SUCCESS;
}

void Engine::orphan() {
  constexpr int kAtOnce = 64;
  orphan_ = true;
  if (pe_ == nullptr || progressing_) return;
  const Current current(*this);
  progressing_ = true;
  reap();
  for (int i = 0; i < kAtOnce && functions().pe_progress(pe_) != 0; ++i);
  progressing_ = false;
  close();
}

// What JavaScript has dropped is stopped, and destroyed when it is idle.
void Engine::reap() {
  for (std::size_t i = abandoned_.size(); i-- > 0;) {
    Context& context = *contexts_.at(abandoned_[i]);
    if (context.state() != DOCA_CTX_STATE_IDLE) context.stop();
    // destroy() takes it off the list.
    if (context.state() == DOCA_CTX_STATE_IDLE) context.destroy();
    i = std::min(i, abandoned_.size());
  }
}

void Engine::leave_loop(const std::shared_ptr<void>& done) {
  if (pe_ == nullptr) return;
  environment_->loop_users.erase(this);
  watcher_.close(done);
  abandoned_.reserve(contexts_.size());
  for (const auto& [id, context] : contexts_) {
    if (context->holder_ != nullptr) context->holder_->context = nullptr;
    context->holder_ = nullptr;
    context->abandon();
  }
  const Current current(*this);
  // An environment ends once, with all of its engines.
  static thread_local const auto kEnd = std::chrono::steady_clock::now() + kFarewell;
  const auto over = [] { return std::chrono::steady_clock::now() >= kEnd; };
  for (reap(); !contexts_.empty() && !over(); reap()) {
    // A peer that sends on and on always makes something happen.
    while (functions().pe_progress(pe_) != 0 && !over());
    for (const auto& [id, context] : contexts_) {
      while (!context->events_.empty()) context->pop_front();
    }
    if (!abandoned_.empty()) poll(nullptr, 0, 1);
  }
  // The library may still write to the memory of a context that it does not let go: that stays.
  for (auto& [id, context] : contexts_) static_cast<void>(context.release());
  const bool idle = contexts_.empty();
  contexts_.clear();
  abandoned_.clear();
  ready_.clear();
  if (idle) functions().pe_destroy(pe_);
  pe_ = nullptr;
  std::erase_if(engines(), [this](const auto& engine) { return engine.get() == this; });
}

}  // namespace verbs::doca_comm::binding
