// mlx5dv_devx_create_event_channel, mlx5dv_devx_subscribe_devx_event, its form with a descriptor, mlx5dv_devx_get_event
// and their ends; mlx5dv_devx_query_eqn.
#include "model/devx/events.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "model/devx/channel.h"
#include "model/devx/object.h"
#include "model/devx/queues.h"

namespace verbs::mlx5::model {
namespace {

constexpr std::size_t kCookie = 8, kEntry = 64;   // bytes of an event, and of the entry behind it
constexpr std::size_t kTypeAt = 1, kDataAt = 32;  // in an entry
constexpr std::uint32_t kOmitData = MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA;

struct Subscription {
  const DevxObject* object;
  DevxEvent event;
  std::uint64_t cookie;
  Descriptor counter;  // an eventfd that is told instead of the channel
};

struct EventChannel : mlx5dv_devx_event_channel {
  EventChannel(Context& its_owner, bool omits) : owner(&its_owner), omits_data(omits) {}
  Context* const owner;
  const bool omits_data;
  MessageChannel channel;
  bool overflowed = false;
  std::vector<Subscription> subscriptions;
};

using Channels = Live<EventChannel, mlx5dv_devx_event_channel>;
Channels& channels() { return live<EventChannel, mlx5dv_devx_event_channel>(); }

bool is_eventfd(int fd) {
  std::array<char, 64> target{};
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return readlink(path.c_str(), target.data(), target.size() - 1) > 0 &&
         std::strcmp(target.data(), "anon_inode:[eventfd]") == 0;
}

// Never waits: a counter that the program has filled to its end stays as it is.
void count_one(int fd) {
  pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
  const std::uint64_t one = 1;
  if (poll(&ready, 1, 0) == 1) [[maybe_unused]]
    const ssize_t written = write(fd, &one, sizeof one);
}

void deliver(EventChannel& channel, const Subscription& subscription, std::span<const std::uint8_t, kEventData> data) {
  if (subscription.counter.get() >= 0) return count_one(subscription.counter.get());
  std::array<std::uint8_t, kCookie + kEntry> message{};
  std::memcpy(message.data(), &subscription.cookie, kCookie);
  message[kCookie + kTypeAt] = static_cast<std::uint8_t>(subscription.event);
  std::copy(data.begin(), data.end(), message.begin() + kCookie + kDataAt);
  const std::size_t size = channel.omits_data ? kCookie : message.size();
  if (!channel.channel.send(std::span(message).first(size))) channel.overflowed = true;
}

// What both forms of a subscription check. The kernel answers EINVAL for an event that the device does not raise.
int check(const EventChannel* channel, const mlx5dv_devx_obj* handle, DevxObject** object,
          std::span<const std::uint16_t> events) {
  if (!channel) return EINVAL;
  Context* context = nullptr;
  *object = find_devx_object(handle, &context);
  if (!*object || context != channel->owner) return handle ? EINVAL : EOPNOTSUPP;
  const bool known = std::ranges::all_of(
      events, [](std::uint16_t event) { return event == static_cast<std::uint16_t>(DevxEvent::kCqError); });
  return known && (*object)->query_opcode() == DevxCq::kQueryOpcode ? 0 : EINVAL;
}

}  // namespace

void raise_devx_event(const DevxObject& object, DevxEvent event, std::span<const std::uint8_t, kEventData> data) {
  channels().each([&](EventChannel& channel) {
    for (const Subscription& each : channel.subscriptions) {
      if (each.object == &object && each.event == event) deliver(channel, each, data);
    }
  });
}

void forget_subscriptions(const DevxObject& object) {
  channels().each([&](EventChannel& channel) {
    std::erase_if(channel.subscriptions, [&](const Subscription& each) { return each.object == &object; });
  });
}

void forget_event_channels(Context& context) {
  channels().remove_if([&](const EventChannel& channel) { return channel.owner == &context; });
}

mlx5dv_devx_event_channel* mlx5dv_devx_create_event_channel(ibv_context* verbs,
                                                            mlx5dv_devx_create_event_channel_flags flags) {
  const auto given = static_cast<std::uint32_t>(flags);
  if (!verbs) return null_with<mlx5dv_devx_event_channel>(EINVAL);
  const ModelLock guard(model_mutex());
  Context* context = context_of(verbs);
  if (!context) return null_with<mlx5dv_devx_event_channel>(EOPNOTSUPP);
  if ((given & ~kOmitData) != 0) return null_with<mlx5dv_devx_event_channel>(EINVAL);
  auto made = std::make_unique<EventChannel>(*context, (given & kOmitData) != 0);
  if (const int error = made->channel.open()) return null_with<mlx5dv_devx_event_channel>(error);
  made->fd = made->channel.fd();
  return channels().add(std::move(made));
}

void mlx5dv_devx_destroy_event_channel(mlx5dv_devx_event_channel* handle) {
  const ModelLock guard(model_mutex());
  if (EventChannel* channel = channels().find(handle)) channels().remove(channel);
}

int mlx5dv_devx_subscribe_devx_event(mlx5dv_devx_event_channel* handle, mlx5dv_devx_obj* on, std::uint16_t events_size,
                                     std::uint16_t events[], std::uint64_t cookie) {
  const ModelLock guard(model_mutex());
  EventChannel* channel = channels().find(handle);
  DevxObject* object = nullptr;
  if (!events || events_size == 0 || events_size % sizeof *events != 0) return EINVAL;
  const std::span wanted(events, events_size / sizeof *events);
  if (const int error = check(channel, on, &object, wanted)) return error;
  for (const std::uint16_t event : wanted) {
    channel->subscriptions.push_back({object, static_cast<DevxEvent>(event), cookie, Descriptor()});
  }
  return 0;
}

int mlx5dv_devx_subscribe_devx_event_fd(mlx5dv_devx_event_channel* handle, int fd, mlx5dv_devx_obj* on,
                                        std::uint16_t event) {
  const ModelLock guard(model_mutex());
  EventChannel* channel = channels().find(handle);
  DevxObject* object = nullptr;
  if (const int error = check(channel, on, &object, std::span(&event, 1))) return error;
  if (fcntl(fd, F_GETFD) < 0) return EBADF;
  if (!is_eventfd(fd)) return EINVAL;
  Descriptor counter(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (counter.get() < 0) return errno;
  channel->subscriptions.push_back({object, static_cast<DevxEvent>(event), 0, std::move(counter)});
  return 0;
}

// The event queue of a completion vector, as the kernel has one for each. Queues of devx commands name it.
int mlx5dv_devx_query_eqn(ibv_context* verbs, std::uint32_t vector, std::uint32_t* number) {
  if (!verbs || !number) return EINVAL;
  const ModelLock guard(model_mutex());
  if (!context_of(verbs)) return EOPNOTSUPP;
  if (vector >= static_cast<std::uint32_t>(verbs->num_comp_vectors)) return EINVAL;
  *number = 1 + vector;
  return 0;
}

// Waits without the lock, as a read() of the descriptor does.
ssize_t mlx5dv_devx_get_event(mlx5dv_devx_event_channel* handle, mlx5dv_devx_async_event_hdr* event, std::size_t size) {
  int fd = -1;
  {
    const ModelLock guard(model_mutex());
    EventChannel* channel = channels().find(handle);
    errno = channel && event ? 0 : EINVAL;
    // Once: then come the events that there was room for.
    if (errno == 0 && std::exchange(channel->overflowed, false)) errno = EOVERFLOW;
    if (errno != 0) return -1;
    fd = channel->fd;
  }
  return receive_message(fd, event, size, EINVAL);
}

}  // namespace verbs::mlx5::model
