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
Napi::Value create_event_channel(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  errno = 0;
  rdma_event_channel* made = library.rdma_create_event_channel();
  if (!made) return failure(env, errno == 0 ? EIO : errno);
  auto channel = std::make_unique<Channel>(library, made);
  const int fd = made->fd;
  // A read of events must never block Node's thread.
  if (const int flags = fcntl(fd, F_GETFL); flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return failure(env, errno);
  }
  const Napi::Value handle = Child::attach(env, std::move(channel), {});
  Napi::Object result = Napi::Object::New(env);
  result.Set("handle", handle);
  result.Set("fd", fd);
  return result;
}

// watchChannel(channel, callback): 0 | -errno. Watching does not keep the loop alive.
Napi::Value watch_channel(const Napi::CallbackInfo& info) {
  const auto channel = take<Channel>(info, 0);
  return failure(info.Env(),
                 channel->watcher().watch(Environment::of(info.Env()), channel->get()->fd, info[1], "verbs.CmEvent"));
}

// refChannel(channel, boolean)
Napi::Value ref_channel(const Napi::CallbackInfo& info) {
  const auto channel = take<Channel>(info, 0);
  channel->watcher().set_ref(flag_of(info[1]));
  return info.Env().Undefined();
}

// pauseChannel(channel, boolean): 0 | -errno. While it is paused, nothing calls back.
Napi::Value pause_channel(const Napi::CallbackInfo& info) {
  const auto channel = take<Channel>(info, 0);
  if (!flag_of(info[1])) return failure(info.Env(), channel->watcher().start());
  channel->watcher().stop();
  return failure(info.Env(), 0);
}

}  // namespace

void init_channel(Napi::Object exports) {
  export_function<create_event_channel>(exports, "createEventChannel");
  export_function<watch_channel>(exports, "watchChannel");
  export_function<ref_channel>(exports, "refChannel");
  export_function<pause_channel>(exports, "pauseChannel");
}

}  // namespace verbs::rdmacm::binding
