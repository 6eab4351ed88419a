// The state of a service: its registry entry is removed, or there are more new clients than one call lists.
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "test/support/pair.h"

using namespace verbs::doca_comm::model::test;

namespace {

// The registry entry of the service "dying", with its name in hexadecimal digits.
std::filesystem::path entry() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::filesystem::path directory =
      runtime && *runtime ? std::filesystem::path(runtime) / "verbs-doca-comm"
                          : std::filesystem::path("/dev/shm/verbs-doca-comm-" + std::to_string(getuid()));
  return directory / "5f5f:3b:00.0-6479696e67";
}

}  // namespace

TEST_CASE("ep_update_service_state_info: CONNECTION_RESET and an event when the registry entry was removed") {
  Pair pair("dying");
  doca_event_channel_t fd = -1;
  REQUIRE(doca_comm_channel_ep_get_service_event_channel(pair.service.ep, &fd) == DOCA_SUCCESS);
  REQUIRE(doca_comm_channel_ep_update_service_state_info(pair.service.ep) == DOCA_SUCCESS);
  REQUIRE(std::filesystem::remove(entry()));
  pollfd event{fd, POLLIN, 0};
  CHECK(poll(&event, 1, 10'000) == 1);
  CHECK(doca_comm_channel_ep_update_service_state_info(pair.service.ep) == DOCA_ERROR_CONNECTION_RESET);
  // Connections stay until the service is destroyed.
  Addr* from = nullptr;
  REQUIRE(pair.client.send("still", pair.to_service) == DOCA_SUCCESS);
  CHECK(pair.service.wait_for_message(&from) == "still");
  CHECK(doca_comm_channel_ep_destroy(std::exchange(pair.service.ep, nullptr)) == DOCA_SUCCESS);
  Endpoint successor(pair.devices.dpu, pair.devices.rep);
  CHECK(doca_comm_channel_ep_listen(successor.ep, "dying") == DOCA_SUCCESS);
}

TEST_CASE("ep_update_service_state_info: AGAIN when there are more new clients than one call lists; then the rest") {
  Devices devices;
  Endpoint service(devices.dpu, devices.rep);
  REQUIRE(doca_comm_channel_ep_set_recv_queue_size(service.ep, 8) == DOCA_SUCCESS);
  REQUIRE(doca_comm_channel_ep_set_send_queue_size(service.ep, 8) == DOCA_SUCCESS);
  REQUIRE(doca_comm_channel_ep_listen(service.ep, "crowd") == DOCA_SUCCESS);
  std::vector<std::unique_ptr<Endpoint>> clients;
  std::vector<Addr*> peers(70);
  std::string message;
  Addr* from = nullptr;
  for (Addr*& peer : peers) {
    clients.push_back(std::make_unique<Endpoint>(devices.host));
    REQUIRE(doca_comm_channel_ep_set_recv_queue_size(clients.back()->ep, 8) == DOCA_SUCCESS);
    REQUIRE(doca_comm_channel_ep_set_send_queue_size(clients.back()->ep, 8) == DOCA_SUCCESS);
    REQUIRE(doca_comm_channel_ep_connect(clients.back()->ep, "crowd", &peer) == DOCA_SUCCESS);
  }
  for (Addr* peer : peers) {
    until([&] {
      service.receive(&message, &from);
      return doca_comm_channel_peer_addr_update_info(peer) == DOCA_SUCCESS;
    });
  }
  Addr** list = nullptr;
  std::uint32_t count = 0;
  CHECK(doca_comm_channel_ep_update_service_state_info(service.ep) == DOCA_ERROR_AGAIN);
  CHECK(doca_comm_channel_ep_get_peer_addr_list(service.ep, &list, &count) == DOCA_SUCCESS);
  CHECK(count == 64);
  CHECK(doca_comm_channel_ep_update_service_state_info(service.ep) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_get_peer_addr_list(service.ep, &list, &count) == DOCA_SUCCESS);
  CHECK(count == 70);
}
