// A service, and well-behaved clients that hostile ones must not disturb.
#pragma once

#include <memory>
#include <string>

#include "test/support/hostile.h"
#include "test/support/pair.h"

namespace verbs::doca_comm::model::test {

struct Stage {
  explicit Stage(const char* service_name = "stage") : service(devices.dpu, devices.rep), name(service_name) {
    REQUIRE(doca_comm_channel_ep_listen(service.ep, service_name) == DOCA_SUCCESS);
  }

  // Makes the service accept pending clients. It must have no messages.
  void accept() {
    std::string message;
    Addr* from = nullptr;
    CHECK(service.receive(&message, &from) == DOCA_ERROR_AGAIN);
  }

  // A correct handshake of the hostile client.
  void admit(Hostile& hostile) {
    const HandshakeMessage request = hostile.request(name);
    hostile.send(request);
    std::optional<HandshakeMessage> response;
    while ((response = hostile.receive(request.client_id)) && response->type == HandshakeMessage::Type::kPending)
      accept();
    REQUIRE(response);
    REQUIRE(response->type == HandshakeMessage::Type::kAccept);
    hostile.establish(response->end);
  }

  // The lost peer that recvfrom reports. There must be no messages.
  Addr* wait_for_loss() {
    std::string message;
    Addr* from = nullptr;
    doca_error_t error = DOCA_ERROR_AGAIN;
    until([&] { return (error = service.receive(&message, &from)) != DOCA_ERROR_AGAIN; });
    CHECK(error == DOCA_ERROR_CONNECTION_RESET);
    return from;
  }

  std::uint32_t peers() {
    Addr** list = nullptr;
    std::uint32_t count = 0;
    CHECK(doca_comm_channel_ep_update_service_state_info(service.ep) == DOCA_SUCCESS);
    CHECK(doca_comm_channel_ep_get_peer_addr_list(service.ep, &list, &count) == DOCA_SUCCESS);
    return count;
  }
  std::uint32_t pending() {
    std::uint32_t count = 0;
    CHECK(doca_comm_channel_ep_update_service_state_info(service.ep) == DOCA_SUCCESS);
    CHECK(doca_comm_channel_ep_get_pending_connections(service.ep, &count) == DOCA_SUCCESS);
    return count;
  }

  Devices devices;
  Endpoint service;
  std::string name;
};

struct HonestClient {
  explicit HonestClient(Stage& where) : stage(where), client(where.devices.host) {
    REQUIRE(doca_comm_channel_ep_connect(client.ep, stage.name.c_str(), &to_service) == DOCA_SUCCESS);
    until([&] {
      stage.accept();
      return doca_comm_channel_peer_addr_update_info(to_service) == DOCA_SUCCESS;
    });
  }

  // A round trip.
  bool echoes(const std::string& message) {
    Addr* from = nullptr;
    return client.send(message, to_service) == DOCA_SUCCESS && stage.service.wait_for_message(&from) == message &&
           stage.service.send(message, from) == DOCA_SUCCESS && client.wait_for_message(&from) == message;
  }

  Stage& stage;
  Endpoint client;
  Addr* to_service = nullptr;
};

}  // namespace verbs::doca_comm::model::test
