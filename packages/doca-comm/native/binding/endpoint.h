// An endpoint, its peers by the numbers that JavaScript knows them by, and the watchers of its descriptors.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>

#include "binding/handle.h"
#include "provider/descriptor_watcher.h"

namespace verbs::doca_comm::binding {

class Endpoint final : public provider::LoopUser {
 public:
  enum Channel : std::uint8_t { kSend, kReceive, kService, kChannels };

  Endpoint(const Library& library, std::shared_ptr<provider::Environment> environment, doca_comm_channel_ep_t* ep);
  ~Endpoint() override { destroy(nullptr); }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  const ChannelFunctions& functions() const { return *library_.channel(); }
  // nullptr once it is destroyed, and while it connects: the C functions answer INVALID_VALUE then.
  doca_comm_channel_ep_t* get() const { return connecting_ ? nullptr : ep_; }
  const Library& library() const { return library_; }
  // Stops the watchers first. The last watcher that is closed drops `done`. The C endpoint is destroyed when the last
  // background call has returned.
  doca_error_t destroy(const std::shared_ptr<void>& done);
  void leave_loop(const std::shared_ptr<void>& done) override { destroy(done); }

  // Background calls.
  void begin_call() { ++calls_; }
  void end_call();
  void set_connecting(bool connecting) { connecting_ = connecting; }
  // Stops the watchers, and hands the C endpoint over to the caller, who destroys it. nullptr if it is destroyed
  // already, or a background call uses it.
  doca_comm_channel_ep_t* release();

  // A peer's number: the same as long as it is not disconnected.
  std::uint32_t number_of(doca_comm_channel_addr_t* address);
  doca_comm_channel_addr_t* address_of(std::uint32_t number) const;  // nullptr if there is none, and if get() is
  void forget(std::uint32_t number);
  // A disconnect in the background: the number is no peer's from its beginning. Messages that the library still has
  // keep it until the end, so that they are not taken for a new peer's.
  void begin_forgetting(std::uint32_t number) { addresses_.erase(number); }
  void end_forgetting(doca_comm_channel_addr_t* address) { numbers_.erase(address); }

  // Calls `callback` once for every arm() that is followed by an event.
  doca_error_t watch(Channel channel, napi_value callback);
  doca_error_t arm(Channel channel);
  void disarm(Channel channel) { watchers_[channel].stop(); }
  void rest(Channel channel) { watchers_[channel].set_ref(false); }

  static void init(Napi::Object exports);
  static void init_peers(Napi::Object exports);

 private:
  void leave(const std::shared_ptr<void>& done);

  const Library& library_;
  std::shared_ptr<provider::Environment> environment_;
  doca_comm_channel_ep_t* ep_;
  std::array<provider::DescriptorWatcher, kChannels> watchers_;
  int calls_ = 0;
  bool connecting_ = false;
  bool destroying_ = false;  // when the last background call has returned
  std::uint32_t next_number_ = 1;
  std::unordered_map<doca_comm_channel_addr_t*, std::uint32_t> numbers_;
  std::unordered_map<std::uint32_t, doca_comm_channel_addr_t*> addresses_;
};

// The endpoint that is the call's first argument; throws if it is none.
inline Endpoint& endpoint_of(const Napi::CallbackInfo& info) { return kEndpoints.of(info, 0); }

}  // namespace verbs::doca_comm::binding
