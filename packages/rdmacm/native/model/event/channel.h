// An event channel: a descriptor that is readable while the channel has events.
#pragma once

#include <rdma/rdma_cma.h>

#include <memory>

namespace verbs::rdmacm::model {

class Channel {
 public:
  // nullptr and errno.
  static std::unique_ptr<Channel> open();
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  rdma_event_channel ibv{};  // what the program holds; first

 private:
  Channel() = default;
};

}  // namespace verbs::rdmacm::model
