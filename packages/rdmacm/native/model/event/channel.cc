#include "model/event/channel.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "verbs_soft_cancel.h"

namespace verbs::rdmacm::model {

std::unique_ptr<Channel> Channel::open() {
  std::unique_ptr<Channel> channel(new Channel);
  channel->ibv.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  if (channel->ibv.fd < 0) return nullptr;
  return channel;
}

Channel::~Channel() { close(); }

void Channel::close() {
  if (ibv.fd >= 0) ::close(ibv.fd);
  ibv.fd = -1;
  closed_ = true;
}

// At the same number, since the program has it. Without a descriptor to be had the parent's is closed all the same: a
// reader of the child would take the parent's events from it.
void Channel::renew() noexcept {
  events_ = EventQueue();
  if (ibv.fd < 0) return;
  const int flags = fcntl(ibv.fd, F_GETFL), made = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  if (made < 0 || dup3(made, ibv.fd, O_CLOEXEC) < 0) {
    ::close(std::exchange(ibv.fd, -1));
  } else {
    fcntl(ibv.fd, F_SETFL, flags);
  }
  if (made >= 0) ::close(made);
}

int Channel::wait() const {
  const soft::Cancellable wait;
  eventfd_t one = 0;
  return ::read(ibv.fd, &one, sizeof one) == sizeof one ? 0 : errno;
}

void Channel::push(std::unique_ptr<Event> event) noexcept {
  events_.push(std::move(event));
  if (ibv.fd >= 0) eventfd_write(ibv.fd, 1);
}

void Channel::push_front(std::unique_ptr<Event> event) noexcept {
  events_.push_front(std::move(event));
  if (ibv.fd >= 0) eventfd_write(ibv.fd, 1);
}

std::unique_ptr<Event> Channel::pop() noexcept { return events_.pop(); }

EventQueue Channel::remove(const Id* id) noexcept {
  return remove_if([id](const Event& event) { return event.id == id; });
}

EventQueue Channel::remove(const Group* group) noexcept {
  return remove_if([group](const Event& event) { return event.group == group; });
}

template <typename Leaves>
EventQueue Channel::remove_if(Leaves&& leaves) noexcept {
  EventQueue kept, removed;
  int count = 0;
  while (std::unique_ptr<Event> event = events_.pop()) {
    const bool gone = leaves(*event);
    count += gone;
    (gone ? removed : kept).push(std::move(event));
  }
  events_ = std::move(kept);
  // Takes their counts from the descriptor, whose flags are the program's. A kernel that cannot do it without blocking
  // leaves them, and readers find no event then.
  for (; count > 0; --count) {
    eventfd_t one = 0;
    iovec part{&one, sizeof one};
    if (preadv2(ibv.fd, &part, 1, -1, RWF_NOWAIT) < 0) break;
  }
  return removed;
}

}  // namespace verbs::rdmacm::model
