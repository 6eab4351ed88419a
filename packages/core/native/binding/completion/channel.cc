#include "binding/completion/channel.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "binding/lifetime/handle.h"

namespace verbs::core {

CompletionChannel::CompletionChannel(std::shared_ptr<Context> context, ibv_comp_channel* channel)
    : Object(kKind, {context}), context_(std::move(context)), channel_(channel) {
  // A read of events must never block Node's thread.
  const int flags = fcntl(channel_->fd, F_GETFL);
  if (flags >= 0) (void)fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK);
}

int CompletionChannel::destroy() {
  watcher_.close();
  return context_->functions().destroy_comp_channel(channel_);
}

int CompletionChannel::destroyed(int error) {
  // The library keeps the channel of queues that it could not destroy, but nobody waits for them any more.
  if (error != 0) (void)::close(channel_->fd);
  channel_ = nullptr;
  return 0;
}

namespace {

// createCompChannel(context): handle | -errno
Napi::Value create_comp_channel(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  errno = 0;
  ibv_comp_channel* channel = context->functions().create_comp_channel(context->ctx());
  if (channel == nullptr) return failure(info.Env(), creation_error());
  return wrap_object(info.Env(), std::make_shared<CompletionChannel>(context, channel));
}

// channelFd(channel): number
Napi::Value channel_fd(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), take<CompletionChannel>(info, 0)->channel()->fd);
}

// getCqEvent(channel): the id of a completion queue with an event, or -errno (EAGAIN: no more). The event is
// acknowledged before this returns.
Napi::Value get_cq_event(const Napi::CallbackInfo& info) {
  const auto channel = take<CompletionChannel>(info, 0);
  const Functions& functions = channel->context().functions();
  ibv_cq* cq = nullptr;
  void* id = nullptr;
  errno = 0;
  if (functions.get_cq_event(channel->channel(), &cq, &id) != 0) {
    return failure(info.Env(), errno == 0 ? EIO : errno);
  }
  functions.ack_cq_events(cq, 1);
  return Napi::Number::New(info.Env(), static_cast<double>(reinterpret_cast<std::uintptr_t>(id)));
}

// watchChannel(channel, callback): 0 | -errno; refChannel(channel, boolean)
Napi::Value watch_channel(const Napi::CallbackInfo& info) {
  const auto channel = take<CompletionChannel>(info, 0);
  return failure(info.Env(), channel->watcher().watch(channel->context().shared_environment(), channel->channel()->fd,
                                                      info[1].As<Napi::Function>(), "verbs.CompletionEvent"));
}

Napi::Value ref_channel(const Napi::CallbackInfo& info) {
  // A waiter hears of a close only after it is complete, and may come here with the closed object.
  if (!unwrap_object(info.Env(), info[0])->open()) return info.Env().Undefined();
  take<CompletionChannel>(info, 0)->watcher().set_ref(flag_of(info[1]));
  return info.Env().Undefined();
}

}  // namespace

void CompletionChannel::init(Napi::Object exports) {
  export_function<create_comp_channel>(exports, "createCompChannel");
  export_function<channel_fd>(exports, "channelFd");
  export_function<get_cq_event>(exports, "getCqEvent");
  export_function<watch_channel>(exports, "watchChannel");
  export_function<ref_channel>(exports, "refChannel");
}

}  // namespace verbs::core
