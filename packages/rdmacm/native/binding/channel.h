// rdma_event_channel, and its descriptor on Node's loop.
#pragma once

#include <memory>

#include "binding/environment.h"
#include "binding/library.h"
#include "provider/descriptor_watcher.h"

namespace verbs::rdmacm::binding {

class Channel final : public Child {
 public:
  static constexpr char kType = 0;
  // Owns `channel`.
  Channel(const Library& library, rdma_event_channel* channel) : Child(&kType), library_(library), channel_(channel) {}
  ~Channel() override;

  const Library& library() const { return library_; }
  rdma_event_channel* get() const { return channel_; }
  DescriptorWatcher& watcher() { return watcher_; }

 private:
  int release() override;

  const Library& library_;
  rdma_event_channel* channel_;
  DescriptorWatcher watcher_;
};

}  // namespace verbs::rdmacm::binding
