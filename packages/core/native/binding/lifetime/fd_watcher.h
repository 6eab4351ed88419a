// Tells JavaScript that a descriptor is readable: a uv_poll on Node's loop with one JavaScript function to call.
#pragma once

#include <memory>

#include "binding/lifetime/environment.h"

struct uv_poll_s;

namespace verbs::core {

class FdWatcher {
 public:
  explicit FdWatcher(std::shared_ptr<Environment> environment);
  ~FdWatcher();
  FdWatcher(const FdWatcher&) = delete;
  FdWatcher& operator=(const FdWatcher&) = delete;

  // Calls `callback` whenever the descriptor is readable (level-triggered: it must drain it), until Close(). The loop
  // is not kept alive by it before SetRef(true). Gives 0 or a positive errno.
  int Start(int fd, napi_value callback);
  void SetRef(bool ref);
  bool started() const { return poll_ != nullptr; }
  // Must come before the descriptor itself is closed. `done` is dropped when the loop has let go of the handle.
  void Close(std::shared_ptr<void> done = nullptr);

 private:
  static void Readable(uv_poll_s* handle, int status, int events);

  std::shared_ptr<Environment> environment_;
  uv_poll_s* poll_ = nullptr;
  napi_ref callback_ = nullptr;
  napi_async_context async_context_ = nullptr;
};

}  // namespace verbs::core
