#include "binding/endpoint.h"

#include <utility>

#include "binding/background_call.h"
#include "binding/device.h"
#include "binding/representor.h"

namespace verbs::doca_comm::binding {

Endpoint::Endpoint(const Library& library, std::shared_ptr<Environment> environment, doca_comm_channel_ep_t* ep)
    : library_(library), environment_(std::move(environment)), ep_(ep) {
  environment_->loop_users.insert(this);
}

void Endpoint::leave(const std::shared_ptr<void>& done) {
  for (DescriptorWatcher& watcher : watchers_) watcher.close(done);
  environment_->loop_users.erase(this);
  numbers_.clear();
  addresses_.clear();
}

doca_error_t Endpoint::destroy(const std::shared_ptr<void>& done) {
  if (!ep_) return DOCA_SUCCESS;
  leave(done);
  destroying_ = calls_ > 0;
  return destroying_ ? DOCA_SUCCESS : functions().ep_destroy(std::exchange(ep_, nullptr));
}

doca_comm_channel_ep_t* Endpoint::release() {
  if (!ep_ || calls_ > 0) return nullptr;
  leave(nullptr);
  return std::exchange(ep_, nullptr);
}

void Endpoint::end_call() {
  if (--calls_ > 0 || !destroying_) return;
  destroying_ = false;
  functions().ep_destroy(std::exchange(ep_, nullptr));
}

std::uint32_t Endpoint::number_of(doca_comm_channel_addr_t* address) {
  const auto [entry, fresh] = numbers_.try_emplace(address, next_number_);
  if (fresh) addresses_[next_number_++] = address;
  return entry->second;
}

doca_comm_channel_addr_t* Endpoint::address_of(std::uint32_t number) const {
  const auto found = get() ? addresses_.find(number) : addresses_.end();
  return found == addresses_.end() ? nullptr : found->second;
}

void Endpoint::forget(std::uint32_t number) {
  numbers_.erase(address_of(number));
  addresses_.erase(number);
}

doca_error_t Endpoint::watch(Channel channel, napi_value callback) {
  const ChannelFunctions& f = functions();
  doca_event_channel_t fd = -1;
  doca_error_t error = DOCA_ERROR_NOT_SUPPORTED;
  if (channel == kService) {
    if (f.ep_get_service_event_channel) error = f.ep_get_service_event_channel(get(), &fd);
  } else {
    error = f.ep_get_event_channel(get(), channel == kSend ? &fd : nullptr, channel == kReceive ? &fd : nullptr);
  }
  if (error != DOCA_SUCCESS || watchers_[channel].is_open()) return error;
  return watchers_[channel].open(environment_, fd, callback, "verbs.DocaEvent") == 0 ? DOCA_SUCCESS
                                                                                     : DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t Endpoint::arm(Channel channel) {
  doca_error_t error = DOCA_SUCCESS;  // the service's channel is armed by every update
  if (channel == kSend) error = functions().ep_event_handle_arm_send(get());
  if (channel == kReceive) error = functions().ep_event_handle_arm_recv(get());
  if (error != DOCA_SUCCESS) return error;
  watchers_[channel].set_ref(true);
  return watchers_[channel].start() == 0 ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

namespace {

Napi::Value create(const Napi::CallbackInfo& info) {
  const Library& library = kLibraries.of(info, 0);
  doca_comm_channel_ep_t* ep = nullptr;
  if (!library.channel()) return failure(info.Env(), DOCA_ERROR_NOT_SUPPORTED);
  if (const doca_error_t error = library.channel()->ep_create(&ep)) return failure(info.Env(), error);
  return kEndpoints.give(info.Env(), std::make_unique<Endpoint>(library, environment_of<Environment>(info.Env()), ep));
}

Napi::Value destroy_endpoint(const Napi::CallbackInfo& info) {
  return failure(info.Env(), endpoint_of(info).destroy(nullptr));
}

// destroyInBackground(endpoint): a promise of the result
Napi::Value destroy_in_background(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const ChannelFunctions& f = ep.functions();
  doca_comm_channel_ep_t* released = ep.release();
  const auto work = [&f, released] { return released ? f.ep_destroy(released) : DOCA_SUCCESS; };
  return BackgroundCall::start(info, ep, work, [](doca_error_t error) { return result_of(error); });
}

// getSize(endpoint, which): 0 message, 1 send queue, 2 receive queue
Napi::Value get_size(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const ChannelFunctions& f = ep.functions();
  const std::array getters{f.ep_get_max_msg_size, f.ep_get_send_queue_size, f.ep_get_recv_queue_size};
  std::uint16_t size = 0;
  const doca_error_t error = getters.at(number_of<std::uint32_t>(info[1]))(ep.get(), &size);
  return error ? failure(info.Env(), error) : number(info.Env(), size);
}

// setSize(endpoint, which, size)
Napi::Value set_size(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const ChannelFunctions& f = ep.functions();
  const std::array setters{f.ep_set_max_msg_size, f.ep_set_send_queue_size, f.ep_set_recv_queue_size};
  const auto size = number_of<std::uint16_t>(info[2]);
  return failure(info.Env(), setters.at(number_of<std::uint32_t>(info[1]))(ep.get(), size));
}

// An object of one library is no object of the other, which would read it as its own.
template <typename Object>
bool same_library(const Endpoint& ep, const Object& object) {
  return &ep.library() == &object.library();
}

Napi::Value set_device(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const Device& device = kDevices.of(info, 1);
  if (!same_library(ep, device)) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  return failure(info.Env(), ep.functions().ep_set_device(ep.get(), device.get()));
}

Napi::Value set_representor(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  const Representor& representor = kRepresentors.of(info, 1);
  if (!same_library(ep, representor)) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  return failure(info.Env(), ep.functions().ep_set_device_rep(ep.get(), representor.get()));
}

Napi::Value listen(const Napi::CallbackInfo& info) {
  Endpoint& ep = endpoint_of(info);
  return failure(info.Env(), ep.functions().ep_listen(ep.get(), string_of(info[1]).c_str()));
}

Endpoint::Channel channel_of(const Napi::CallbackInfo& info) {
  const std::uint32_t channel = number_of<std::uint32_t>(info[1]);
  if (channel >= Endpoint::kChannels) throw Napi::RangeError::New(info.Env(), "no such event channel");
  return static_cast<Endpoint::Channel>(channel);
}

// watch(endpoint, channel, callback), arm(endpoint, channel), rest(endpoint, channel), disarm(endpoint, channel)
Napi::Value watch_channel(const Napi::CallbackInfo& info) {
  return failure(info.Env(), endpoint_of(info).watch(channel_of(info), info[2].As<Napi::Function>()));
}
Napi::Value arm_channel(const Napi::CallbackInfo& info) {
  return failure(info.Env(), endpoint_of(info).arm(channel_of(info)));
}
Napi::Value rest_channel(const Napi::CallbackInfo& info) {
  endpoint_of(info).rest(channel_of(info));
  return info.Env().Undefined();
}
Napi::Value disarm_channel(const Napi::CallbackInfo& info) {
  endpoint_of(info).disarm(channel_of(info));
  return info.Env().Undefined();
}

}  // namespace

void Endpoint::init(Napi::Object exports) {
  export_function<create>(exports, "createEndpoint");
  export_function<destroy_endpoint>(exports, "destroyEndpoint");
  export_function<destroy_in_background>(exports, "destroyInBackground");
  export_function<get_size>(exports, "getSize");
  export_function<set_size>(exports, "setSize");
  export_function<set_device>(exports, "setDevice");
  export_function<set_representor>(exports, "setRepresentor");
  export_function<listen>(exports, "listen");
  export_function<watch_channel>(exports, "watch");
  export_function<arm_channel>(exports, "arm");
  export_function<rest_channel>(exports, "rest");
  export_function<disarm_channel>(exports, "disarm");
}

}  // namespace verbs::doca_comm::binding
