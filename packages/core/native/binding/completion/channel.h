// ibv_comp_channel, watched by Node's loop.
#pragma once

#include "binding/device/context.h"

namespace verbs::core {

class CompletionChannel final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_CHANNEL;

  CompletionChannel(std::shared_ptr<Context> context, ibv_comp_channel* channel);
  ~CompletionChannel() override { dispose(); }

  void* pointer() const override { return channel_; }
  const Context& context() const override { return *context_; }
  ibv_comp_channel* channel() const { return channel_; }
  provider::DescriptorWatcher& watcher() { return watcher_; }

  static void init(Napi::Object exports);

 private:
  int destroy() override;
  int destroyed(int error) override;

  std::shared_ptr<Context> context_;
  ibv_comp_channel* channel_;
  provider::DescriptorWatcher watcher_;
};

}  // namespace verbs::core
