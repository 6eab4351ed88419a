#include "model/engine/engine.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "model/base/error.h"
#include "model/nic/faults.h"

namespace verbs::doca_comm::model {

namespace {

using EnginePool = HandlePool<doca_pe, Engine>;

}  // namespace

doca_pe* publish(std::shared_ptr<Engine> engine) { return EnginePool::get().add(std::move(engine)); }

Engine* find_engine(const doca_pe* handle) { return EnginePool::get().find(handle); }

bool destroy_engine(doca_pe* handle) { return find_engine(handle) && EnginePool::get().remove(handle); }

doca_error_t Engine::create(std::shared_ptr<Engine>* engine) {
  if (const int error = Faults::get().next(Fault::kAllocate)) return error_of(error, DOCA_ERROR_NO_MEMORY);
  std::shared_ptr<Engine> created(new Engine);
  // Without a descriptor there is no memory for it, as far as the documented errors go.
  if (Faults::get().next(Fault::kDescriptor) != 0) return DOCA_ERROR_NO_MEMORY;
  created->set_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (!created->set_.is_open()) return DOCA_ERROR_NO_MEMORY;
  *engine = std::move(created);
  return DOCA_SUCCESS;
}

doca_error_t Engine::connect(doca_ctx* handle) {
  Context* context = find_context(handle);
  if (!context) return DOCA_ERROR_INVALID_VALUE;
  if (context->engine_) return DOCA_ERROR_NOT_PERMITTED;
  if (!context->idle()) return DOCA_ERROR_BAD_STATE;
  retired_.reserve(contexts_.size() + 1);
  contexts_.push_back(handle->object);
  context->engine_ = this;
  return DOCA_SUCCESS;
}

void Engine::disconnect(Context& context) {
  const auto found =
      std::find_if(contexts_.begin(), contexts_.end(), [&](const auto& each) { return each.get() == &context; });
  if (progressing_) {
    // progress() may be in this very context, and counts the places.
    retired_.push_back(std::move(*found));
  } else {
    contexts_.erase(found);
  }
}

std::size_t Engine::in_flight() const {
  std::size_t count = 0;
  for (const auto& context : contexts_) count += context ? context->in_flight() : 0;
  return count;
}

bool Engine::progress() {
  if (progressing_) return false;
  // A callback of the program may throw.
  struct Progressing {
    explicit Progressing(Engine& driver) : engine(driver) { engine.progressing_ = true; }
    ~Progressing() {
      engine.progressing_ = false;
      if (engine.retired_.empty()) return;
      std::erase(engine.contexts_, nullptr);
      engine.retired_.clear();
    }
    Engine& engine;
  } const progressing(*this);
  bool some = false;
  // By number: a callback may connect another context.
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    if (contexts_[i] && !contexts_[i]->idle()) some |= contexts_[i]->progress();
  }
  return some;
}

void Engine::arm() {
  for (const auto& context : contexts_) {
    if (context && !context->idle()) context->arm();
  }
}

void Engine::disarm() {
  for (const auto& context : contexts_) {
    if (context && !context->idle()) context->disarm();
  }
}

}  // namespace verbs::doca_comm::model
