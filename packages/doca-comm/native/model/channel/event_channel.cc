#include "model/channel/event_channel.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

int EventChannel::open(ibv_context* context) {
  fd_ = epoll_create1(EPOLL_CLOEXEC);
  return fd_ < 0 ? errno : open_in(fd_, context);
}

int EventChannel::open_in(int set, ibv_context* context) {
  if (const int error = Faults::get().next(Fault::kDescriptor)) return error;
  if (const int error = wake_.open()) return error;
  epoll_event event{.events = EPOLLIN, .data = {}};
  if (epoll_ctl(set, EPOLL_CTL_ADD, wake_.fd(), &event) != 0) return errno;
  if (!context) return 0;
  channel_ = Verbs::get()->create_comp_channel(context);
  if (!channel_) return errno;
  if (fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK) != 0) return errno;
  return epoll_ctl(set, EPOLL_CTL_ADD, channel_->fd, &event) == 0 ? 0 : errno;
}

void EventChannel::close() {
  if (channel_) Verbs::get()->destroy_comp_channel(std::exchange(channel_, nullptr));
  wake_.close();
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void EventChannel::signal() {
  if (!signaled_) signaled_ = wake_.signal();
}

void EventChannel::clear() {
  if (signaled_) wake_.drain();
  signaled_ = false;
}

}  // namespace verbs::doca_comm::model
