// ibv_comp_channel, watched by Node's loop.
#pragma once

#include "binding/device/context.h"

namespace verbs::core {

class CompletionChannel final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_CHANNEL;

  CompletionChannel(std::shared_ptr<Context> context, ibv_comp_channel* channel);
  ~CompletionChannel() override { Dispose(); }

  void* pointer() const override { return channel_; }
  const Context& context() const override { return *context_; }
  ibv_comp_channel* channel() const { return channel_; }
  FdWatcher& watcher() { return watcher_; }

  static void Init(Napi::Object exports);

 private:
  int Release() override;

  std::shared_ptr<Context> context_;
  ibv_comp_channel* channel_;
  FdWatcher watcher_;
};

}  // namespace verbs::core
