// An endpoint: its properties, and after listen() or connect() its role as a service or a client.
#pragma once

#include <memory>

#include "doca_comm_channel.h"
#include "model/base/handles.h"
#include "model/channel/client.h"
#include "model/channel/service.h"

namespace verbs::doca_comm::model {

inline constexpr std::uint16_t kMaxMessage = 4080;
inline constexpr std::uint16_t kMinMessage = 64;
inline constexpr std::uint16_t kMaxQueue = 8192;
inline constexpr std::uint16_t kMinQueue = 8;

class Endpoint {
 public:
  static doca_error_t create(std::shared_ptr<Endpoint>* endpoint);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  doca_dev* device() const { return dev_; }
  doca_dev_rep* representor() const { return rep_; }
  const Sizes& sizes() const { return sizes_; }
  // BAD_STATE after listen() or connect().
  doca_error_t set_device(doca_dev* dev);
  doca_error_t set_representor(doca_dev_rep* rep);
  doca_error_t set_message_size(std::uint16_t size);
  doca_error_t set_queue_size(std::uint16_t Sizes::* queue, std::uint16_t size);

  doca_error_t listen(const char* name);
  doca_error_t connect(const char* name, doca_comm_channel_addr_t** address);
  doca_error_t disconnect(Peer& peer);

  Service* service() const { return service_.get(); }
  Client* client() const { return client_.get(); }
  // nullptr before listen() or connect().
  Transport* transport() const;
  doca_error_t receive(void* message, std::size_t* size, doca_comm_channel_addr_t** from);
  void arm_recv();

 private:
  Endpoint() = default;
  bool connected() const;  // a client
  bool active() const { return service_ != nullptr || client_ != nullptr; }

  doca_dev* dev_ = nullptr;
  doca_dev_rep* rep_ = nullptr;
  Sizes sizes_;
  std::shared_ptr<Service> service_;
  std::shared_ptr<Client> client_;
};

}  // namespace verbs::doca_comm::model

struct doca_comm_channel_ep_t : verbs::doca_comm::model::Handle<verbs::doca_comm::model::Endpoint> {};

namespace verbs::doca_comm::model {

// The structure that the user gets for an endpoint.
doca_comm_channel_ep_t* publish(std::shared_ptr<Endpoint> endpoint);
// The endpoint of a pointer that the user has; nullptr if it is none, or no longer.
Endpoint* find_endpoint(const doca_comm_channel_ep_t* handle);
// Destroys it. False if there is no such endpoint.
bool destroy_endpoint(doca_comm_channel_ep_t* handle);

}  // namespace verbs::doca_comm::model
