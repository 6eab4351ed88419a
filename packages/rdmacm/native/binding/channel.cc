#include "binding/channel.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

namespace verbs::rdmacm::binding {

Channel::~Channel() { static_cast<void>(release()); }

int Channel::release() {
  watcher_.close();
  // Its identifiers were destroyed before, and every event is acknowledged as soon as it is taken.
  if (rdma_event_channel* channel = std::exchange(channel_, nullptr)) library_.rdma_destroy_event_channel(channel);
  return 0;
}

namespace {

// createEventChannel(library): { handle, fd } | -errno
napi_value create_event_channel(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  if (!library) return nullptr;
  errno = 0;
  rdma_event_channel* made = library->rdma_create_event_channel();
  if (!made) return failure(env, errno == 0 ? EIO : errno);
  auto channel = std::make_unique<Channel>(*library, made);
  const int fd = made->fd;
  // A read of events must never block Node's thread.
  if (const int flags = fcntl(fd, F_GETFL); flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return failure(env, errno);
  }
  const napi_value handle = Child::attach(env, std::move(channel), {});
  if (!handle) return nullptr;
  napi_value result = object(env);
  set(env, result, "handle", handle);
  set(env, result, "fd", number(env, fd));
  return result;
}

// watchChannel(channel, callback): 0 | -errno. Watching does not keep the loop alive.
napi_value watch_channel(const Arguments& arguments) {
  Taken keep;
  auto* channel = Child::of<Channel>(arguments, 0, &keep);
  if (!channel) return nullptr;
  return failure(arguments.env, channel->watcher().watch(Environment::of(arguments.env), channel->get()->fd,
                                                         arguments[1], "verbs.CmEvent"));
}

// refChannel(channel, boolean)
napi_value ref_channel(const Arguments& arguments) {
  Taken keep;
  auto* channel = Child::of<Channel>(arguments, 0, &keep);
  if (!channel) return nullptr;
  channel->watcher().set_ref(to_boolean(arguments.env, arguments[1]));
  return undefined(arguments.env);
}

// pauseChannel(channel, boolean): 0 | -errno. While it is paused, nothing calls back.
napi_value pause_channel(const Arguments& arguments) {
  Taken keep;
  auto* channel = Child::of<Channel>(arguments, 0, &keep);
  if (!channel) return nullptr;
  if (!to_boolean(arguments.env, arguments[1])) return failure(arguments.env, channel->watcher().start());
  channel->watcher().stop();
  return failure(arguments.env, 0);
}

}  // namespace

void init_channel(napi_env env, napi_value exports) {
  export_guarded<create_event_channel>(env, exports, "createEventChannel");
  export_guarded<watch_channel>(env, exports, "watchChannel");
  export_guarded<ref_channel>(env, exports, "refChannel");
  export_guarded<pause_channel>(env, exports, "pauseChannel");
}

}  // namespace verbs::rdmacm::binding
