// The client of Comch, on the host: one connection.
#pragma once

#include <memory>
#include <string>

#include "model/channel/client.h"
#include "model/comch/control.h"

namespace verbs::doca_comm::model::comch {

class Client final : public Control {
 public:
  static doca_error_t create(doca_dev* dev, const char* name, doca_comch_client** client);
  Client(doca_dev* dev, std::string name) : Control(dev, std::move(name)) {}

  doca_comch_client* client() const { return handle_; }
  // nullptr before RUNNING, and after it.
  doca_comch_connection* connection() const { return running() ? link_->handle : nullptr; }

 protected:
  doca_error_t open() override;
  Transport* transport() const override { return client_ ? &client_->transport() : nullptr; }
  bool step() override;
  bool has_step() const override;
  void on_loss(const std::shared_ptr<Link>& link) override;
  void leave() override { client_->begin_disconnect(); }
  bool left() override { return client_->drained(); }
  void shut() override;

 private:
  doca_comch_client* handle_ = nullptr;
  std::shared_ptr<model::Client> client_;
  Link* link_ = nullptr;
};

}  // namespace verbs::doca_comm::model::comch

struct doca_comch_client : verbs::doca_comm::model::Handle<verbs::doca_comm::model::comch::Client> {};

namespace verbs::doca_comm::model::comch {

Client* find_client(const doca_comch_client* handle);
// IN_USE unless it is idle.
doca_error_t destroy_client(doca_comch_client* handle);

}  // namespace verbs::doca_comm::model::comch
