// listen, connect, disconnect, the event channels and the state of a service: every documented error code.
#include "test/support/pair.h"

using namespace verbs::doca_comm::model::test;

TEST_CASE("ep_listen: INVALID_VALUE, BAD_STATE, NOT_SUPPORTED, NOT_PERMITTED, CONNECTION_ABORTED") {
  Devices devices;
  Endpoint service(devices.dpu, devices.rep), other(devices.dpu, devices.rep), bare, half(devices.dpu);
  Endpoint host(devices.host);
  CHECK(doca_comm_channel_ep_listen(nullptr, "name") == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_listen(service.ep, nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_listen(bare.ep, "name") == DOCA_ERROR_BAD_STATE);
  CHECK(doca_comm_channel_ep_listen(half.ep, "name") == DOCA_ERROR_BAD_STATE);
  CHECK(doca_comm_channel_ep_listen(host.ep, "name") == DOCA_ERROR_NOT_SUPPORTED);
  CHECK(doca_comm_channel_ep_listen(service.ep, std::string(120, 'x').c_str()) == DOCA_ERROR_CONNECTION_ABORTED);
  CHECK(doca_comm_channel_ep_listen(service.ep, "") == DOCA_ERROR_CONNECTION_ABORTED);
  CHECK(doca_comm_channel_ep_listen(service.ep, std::string(119, 'x').c_str()) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_listen(service.ep, "name") == DOCA_ERROR_NOT_PERMITTED);
  CHECK(doca_comm_channel_ep_listen(other.ep, std::string(119, 'x').c_str()) == DOCA_ERROR_CONNECTION_ABORTED);
  CHECK(doca_comm_channel_ep_listen(other.ep, "another") == DOCA_SUCCESS);
}

TEST_CASE("ep_listen: DRIVER, NO_MEMORY, INITIALIZATION; then it works") {
  Devices devices;
  Endpoint service(devices.dpu, devices.rep);
  faults("query_device:1");
  CHECK(doca_comm_channel_ep_listen(service.ep, "name") == DOCA_ERROR_DRIVER);
  faults("descriptor:1:ENOMEM");
  CHECK(doca_comm_channel_ep_listen(service.ep, "name") == DOCA_ERROR_NO_MEMORY);
  faults("descriptor:1:EMFILE");
  CHECK(doca_comm_channel_ep_listen(service.ep, "name") == DOCA_ERROR_INITIALIZATION);
  faults("registry:1:EACCES");
  CHECK(doca_comm_channel_ep_listen(service.ep, "name") == DOCA_ERROR_CONNECTION_ABORTED);
  faults(nullptr);
  CHECK(doca_comm_channel_ep_listen(service.ep, "name") == DOCA_SUCCESS);
}

TEST_CASE("ep_connect: INVALID_VALUE, BAD_STATE, NOT_SUPPORTED, CONNECTION_ABORTED, NOT_PERMITTED") {
  Pair pair;
  Addr* peer = nullptr;
  Endpoint client(pair.devices.host), bare, dpu(pair.devices.dpu);
  CHECK(doca_comm_channel_ep_connect(nullptr, "pair", &peer) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_connect(client.ep, nullptr, &peer) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_connect(client.ep, "pair", nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_connect(bare.ep, "pair", &peer) == DOCA_ERROR_BAD_STATE);
  CHECK(doca_comm_channel_ep_connect(dpu.ep, "pair", &peer) == DOCA_ERROR_NOT_SUPPORTED);
  CHECK(doca_comm_channel_ep_connect(client.ep, "nobody", &peer) == DOCA_ERROR_CONNECTION_ABORTED);
  CHECK(doca_comm_channel_ep_connect(pair.client.ep, "pair", &peer) == DOCA_ERROR_NOT_PERMITTED);
  CHECK(doca_comm_channel_ep_connect(pair.service.ep, "pair", &peer) == DOCA_ERROR_NOT_PERMITTED);
  CHECK(doca_comm_channel_ep_listen(pair.client.ep, "other") == DOCA_ERROR_NOT_PERMITTED);
}

TEST_CASE("ep_connect: DRIVER, NO_MEMORY, INITIALIZATION; then it works") {
  Devices devices;
  Endpoint service(devices.dpu, devices.rep), client(devices.host);
  REQUIRE(doca_comm_channel_ep_listen(service.ep, "name") == DOCA_SUCCESS);
  Addr* peer = nullptr;
  faults("query_device:1");
  CHECK(doca_comm_channel_ep_connect(client.ep, "name", &peer) == DOCA_ERROR_DRIVER);
  for (const char* plan : {"register_memory:1:ENOMEM", "create_queue:1:ENOMEM", "create_queue:4:ENOMEM"}) {
    faults(plan);
    CHECK(doca_comm_channel_ep_connect(client.ep, "name", &peer) == DOCA_ERROR_NO_MEMORY);
  }
  for (const char* plan : {"create_queue:3:EINVAL", "modify_queue:2:EIO", "post_receive:5:EIO"}) {
    faults(plan);
    CHECK(doca_comm_channel_ep_connect(client.ep, "name", &peer) == DOCA_ERROR_INITIALIZATION);
  }
  faults(nullptr);
  CHECK(doca_comm_channel_ep_connect(client.ep, "name", &peer) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_peer_addr_update_info(peer) == DOCA_ERROR_CONNECTION_INPROGRESS);
}

TEST_CASE("ep_disconnect: INVALID_VALUE, NOT_CONNECTED, UNKNOWN, NO_MEMORY; the endpoint connects again") {
  Pair pair;
  Addr* peer = nullptr;
  CHECK(doca_comm_channel_ep_disconnect(nullptr, pair.to_service) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_disconnect(pair.client.ep, nullptr) == DOCA_ERROR_NOT_CONNECTED);
  CHECK(doca_comm_channel_ep_disconnect(pair.client.ep, pair.to_client) == DOCA_ERROR_NOT_CONNECTED);
  CHECK(doca_comm_channel_ep_disconnect(pair.client.ep, pair.to_service) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_disconnect(pair.client.ep, pair.to_service) == DOCA_ERROR_NOT_CONNECTED);
  std::string none;
  CHECK_MESSAGE(pair.client.receive(&none, &peer) == DOCA_ERROR_NOT_CONNECTED, "nothing will ever come");
  for (const auto& [plan, error] : {std::pair{"destroy_queue:1:EIO", DOCA_ERROR_UNKNOWN},
                                    std::pair{"destroy_queue:1:ENOMEM", DOCA_ERROR_NO_MEMORY}}) {
    REQUIRE(doca_comm_channel_ep_connect(pair.client.ep, "pair", &peer) == DOCA_SUCCESS);
    faults(plan);
    CHECK(doca_comm_channel_ep_disconnect(pair.client.ep, peer) == error);
    faults(nullptr);
  }
  REQUIRE(doca_comm_channel_ep_connect(pair.client.ep, "pair", &peer) == DOCA_SUCCESS);
  std::string message;
  until([&] {
    Addr* from = nullptr;
    pair.service.receive(&message, &from);
    return doca_comm_channel_peer_addr_update_info(peer) == DOCA_SUCCESS;
  });
}

TEST_CASE("ep_get_event_channel: INVALID_VALUE, BAD_STATE, NOT_FOUND; ep_event_handle_arm_*: INVALID_VALUE") {
  Pair pair;
  Endpoint idle(pair.devices.host);
  doca_event_channel_t send = -1, receive = -1;
  CHECK(doca_comm_channel_ep_get_event_channel(nullptr, &send, &receive) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_get_event_channel(pair.client.ep, nullptr, nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_get_event_channel(idle.ep, &send, &receive) == DOCA_ERROR_BAD_STATE);
  faults("descriptor:1");
  CHECK(doca_comm_channel_ep_get_event_channel(pair.client.ep, &send, &receive) == DOCA_ERROR_NOT_FOUND);
  faults(nullptr);
  CHECK(doca_comm_channel_ep_get_event_channel(pair.client.ep, &send, nullptr) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_get_event_channel(pair.client.ep, nullptr, &receive) == DOCA_SUCCESS);
  CHECK(send != receive);
  CHECK(doca_comm_channel_ep_event_handle_arm_send(nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_event_handle_arm_recv(nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_event_handle_arm_send(pair.client.ep) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_event_handle_arm_recv(pair.client.ep) == DOCA_SUCCESS);
}

TEST_CASE("the service's functions of 2.x: INVALID_VALUE, BAD_STATE, NOT_SUPPORTED, DRIVER") {
  Pair pair;
  Endpoint idle(pair.devices.dpu, pair.devices.rep);
  doca_event_channel_t fd = -1;
  Addr** list = nullptr;
  std::uint32_t count = 0, pending = 0;
  Ep *service = pair.service.ep, *client = pair.client.ep;
  CHECK(doca_comm_channel_ep_get_service_event_channel(nullptr, &fd) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_get_service_event_channel(service, nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_get_service_event_channel(idle.ep, &fd) == DOCA_ERROR_BAD_STATE);
  CHECK(doca_comm_channel_ep_get_service_event_channel(client, &fd) == DOCA_ERROR_NOT_SUPPORTED);
  CHECK(doca_comm_channel_ep_get_service_event_channel(service, &fd) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_update_service_state_info(nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_update_service_state_info(client) == DOCA_ERROR_NOT_SUPPORTED);
  faults("query_device:1");
  CHECK(doca_comm_channel_ep_update_service_state_info(service) == DOCA_ERROR_DRIVER);
  faults(nullptr);
  CHECK(doca_comm_channel_ep_update_service_state_info(service) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_get_peer_addr_list(nullptr, &list, &count) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_get_peer_addr_list(service, nullptr, &count) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_get_peer_addr_list(service, &list, nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_get_peer_addr_list(client, &list, &count) == DOCA_ERROR_NOT_SUPPORTED);
  CHECK(doca_comm_channel_ep_get_peer_addr_list(service, &list, &count) == DOCA_SUCCESS);
  REQUIRE(count == 1);
  CHECK(list[0] == pair.to_client);
  CHECK(doca_comm_channel_ep_get_pending_connections(nullptr, &pending) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_get_pending_connections(service, nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_get_pending_connections(client, &pending) == DOCA_ERROR_NOT_SUPPORTED);
  Endpoint second(pair.devices.host);
  Addr* peer = nullptr;
  REQUIRE(doca_comm_channel_ep_connect(second.ep, "pair", &peer) == DOCA_SUCCESS);
  pollfd event{fd, POLLIN, 0};
  CHECK(poll(&event, 1, 5000) == 1);
  CHECK(doca_comm_channel_ep_update_service_state_info(service) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_get_pending_connections(service, &pending) == DOCA_SUCCESS);
  CHECK(pending == 1);
}
