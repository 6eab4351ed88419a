// The server of Comch, on the DPU: a service that accepts its clients by itself.
#pragma once

#include <memory>
#include <string>

#include "model/channel/service.h"
#include "model/comch/control.h"

namespace verbs::doca_comm::model::comch {

class Server final : public Control {
 public:
  static doca_error_t create(doca_dev* dev, doca_dev_rep* rep, const char* name, doca_comch_server** server);
  Server(doca_dev* dev, doca_dev_rep* rep, std::string name) : Control(dev, std::move(name)), rep_(rep) {}
  ~Server() override;

  doca_dev_rep* representor() const { return rep_; }
  doca_comch_server* server() const { return server_; }
  doca_error_t on_connection(doca_comch_event_connection_status_changed_cb_t connected,
                             doca_comch_event_connection_status_changed_cb_t disconnected);
  doca_error_t disconnect(Link& link);

 protected:
  doca_error_t open() override;
  Transport* transport() const override { return service_ ? &service_->transport() : nullptr; }
  bool step() override;
  bool has_step() const override;
  void on_loss(const std::shared_ptr<Link>& link) override;
  void leave() override { service_->begin_close(); }
  bool left() override { return service_->drained(); }
  void shut() override;

 private:
  doca_dev_rep* rep_;
  doca_comch_server* server_ = nullptr;
  doca_comch_event_connection_status_changed_cb_t connected_ = nullptr;
  doca_comch_event_connection_status_changed_cb_t disconnected_ = nullptr;
  std::shared_ptr<Service> service_;
};

}  // namespace verbs::doca_comm::model::comch

struct doca_comch_server : verbs::doca_comm::model::Handle<verbs::doca_comm::model::comch::Server> {};

namespace verbs::doca_comm::model::comch {

Server* find_server(const doca_comch_server* handle);
// IN_USE unless it is idle.
doca_error_t destroy_server(doca_comch_server* handle);

// Whether it can be the name of a service.
bool is_name(const char* name);

}  // namespace verbs::doca_comm::model::comch
