// A progress engine: it drives contexts, on the thread that calls it. Nothing here is locked: a program calls an engine
// and its contexts from one thread at a time, as the documents say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "doca_pe.h"
#include "model/base/descriptor.h"
#include "model/base/handles.h"
#include "model/engine/context.h"

namespace verbs::doca_comm::model {

class Engine {
 public:
  static doca_error_t create(std::shared_ptr<Engine>* engine);

  doca_error_t connect(doca_ctx* context);
  void disconnect(Context& context);
  // While contexts are connected, or progress() runs, it cannot be destroyed.
  bool in_use() const { return !contexts_.empty() || progressing_; }
  std::size_t in_flight() const;

  // Some events of each context. False if nothing happened, or if it was called by a callback of itself.
  bool progress();
  // An epoll set: a context adds descriptors that become readable when it has something and is armed. Closing them
  // removes them.
  int fd() const { return set_.get(); }
  void arm();
  void disarm();

 private:
  Engine() = default;

  Descriptor set_;  // an epoll set
  std::vector<std::shared_ptr<Context>> contexts_;
  std::vector<std::shared_ptr<Context>> retired_;  // while progress() runs
  bool progressing_ = false;
};

}  // namespace verbs::doca_comm::model

struct doca_pe : verbs::doca_comm::model::Handle<verbs::doca_comm::model::Engine> {};

namespace verbs::doca_comm::model {

doca_pe* publish(std::shared_ptr<Engine> engine);
Engine* find_engine(const doca_pe* handle);
bool destroy_engine(doca_pe* handle);

}  // namespace verbs::doca_comm::model
