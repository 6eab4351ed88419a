// Waits for a descriptor on Node's loop. The descriptor is the endpoint's and is never read or closed here.
#pragma once

#include <memory>

#include "binding/environment.h"

struct uv_poll_s;

namespace verbs::doca_comm {

class Watcher {
 public:
  Watcher() = default;
  ~Watcher() { close(nullptr); }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // `callback` is called in every turn of the loop in which a started watcher finds its descriptor readable. 0 or a
  // positive errno.
  int open(const std::shared_ptr<Environment>& environment, int fd, napi_value callback);
  bool is_open() const { return poll_ != nullptr; }
  // Each of the two costs system calls, unless it is the second of its kind. A started watcher keeps the loop alive,
  // until rest().
  void start();
  void stop();
  void rest();
  // Before the descriptor goes. `done` is dropped when the loop has let go of the handle.
  void close(std::shared_ptr<void> done);

 private:
  static void readable(uv_poll_s* poll, int status, int events);

  std::shared_ptr<Environment> environment_;
  uv_poll_s* poll_ = nullptr;
  bool started_ = false;
  napi_ref callback_ = nullptr;
  napi_async_context context_ = nullptr;
};

}  // namespace verbs::doca_comm
