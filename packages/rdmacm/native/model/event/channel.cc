#include "model/event/channel.h"

#include <sys/eventfd.h>
#include <unistd.h>

namespace verbs::rdmacm::model {

std::unique_ptr<Channel> Channel::open() {
  std::unique_ptr<Channel> channel(new Channel);
  channel->ibv.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  if (channel->ibv.fd < 0) return nullptr;
  return channel;
}

Channel::~Channel() {
  if (ibv.fd >= 0) close(ibv.fd);
}

}  // namespace verbs::rdmacm::model
