// The end of an endpoint, and the endpoints of a forked child's parent.
#include <fcntl.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>

#include "test/support/pair.h"

using namespace verbs::doca_comm::model::test;

namespace {

bool is_descriptor(int fd) { return fcntl(fd, F_GETFD) != -1; }

}  // namespace

TEST_CASE("ep_destroy disconnects and closes the event channels; stale pointers are rejected") {
  Pair pair;
  doca_event_channel_t send = -1, receive = -1, service = -1;
  REQUIRE(doca_comm_channel_ep_get_event_channel(pair.service.ep, &send, &receive) == DOCA_SUCCESS);
  REQUIRE(doca_comm_channel_ep_get_service_event_channel(pair.service.ep, &service) == DOCA_SUCCESS);
  for (const int fd : {send, receive, service}) CHECK(is_descriptor(fd));
  REQUIRE(pair.service.send("last", pair.to_client) == DOCA_SUCCESS);
  Ep* old = std::exchange(pair.service.ep, nullptr);
  CHECK(doca_comm_channel_ep_destroy(old) == DOCA_SUCCESS);
  for (const int fd : {send, receive, service}) CHECK_FALSE(is_descriptor(fd));
  // The client receives the message, then the disconnect.
  Addr* from = nullptr;
  CHECK(pair.client.wait_for_message(&from) == "last");
  std::string message;
  doca_error_t error = DOCA_ERROR_AGAIN;
  until([&] { return (error = pair.client.receive(&message, &from)) != DOCA_ERROR_AGAIN; });
  CHECK(error == DOCA_ERROR_CONNECTION_RESET);
  // Stale pointers.
  std::uint16_t size = 0;
  std::uint64_t value = 0;
  CHECK(doca_comm_channel_ep_destroy(old) == DOCA_ERROR_NOT_CONNECTED);
  CHECK(doca_comm_channel_ep_get_max_msg_size(old, &size) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_listen(old, "again") == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_sendto(old, "x", 1, 0, pair.to_client) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_peer_addr_get_user_data(pair.to_client, &value) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_peer_addr_update_info(pair.to_client) == DOCA_ERROR_INVALID_VALUE);
}

TEST_CASE("after a fork the endpoints are the parent's: calls of the child are rejected, and its exit has no effect") {
  Pair pair;
  const pid_t child = fork();
  if (child == 0) {
    char buffer[4080];
    std::size_t length = sizeof buffer;
    Addr* from = nullptr;
    std::uint64_t value = 0;
    Ep* made = nullptr;
    const bool rejected =
        doca_comm_channel_ep_recvfrom(pair.service.ep, buffer, &length, 0, &from) == DOCA_ERROR_INVALID_VALUE &&
        doca_comm_channel_ep_sendto(pair.client.ep, "x", 1, 0, pair.to_service) == DOCA_ERROR_INVALID_VALUE &&
        doca_comm_channel_peer_addr_get_user_data(pair.to_client, &value) == DOCA_ERROR_INVALID_VALUE &&
        doca_comm_channel_ep_destroy(pair.client.ep) == DOCA_ERROR_NOT_CONNECTED &&
        doca_dev_close(pair.devices.host) == DOCA_ERROR_INVALID_VALUE;
    const bool makes = doca_comm_channel_ep_create(&made) == DOCA_SUCCESS &&
                       doca_comm_channel_ep_set_device(made, pair.devices.host) == DOCA_ERROR_INVALID_VALUE &&
                       doca_comm_channel_ep_destroy(made) == DOCA_SUCCESS;
    _exit(rejected && makes ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  // The child has not removed the registry entry: the service is still found.
  Endpoint second(pair.devices.host);
  Addr* peer = nullptr;
  CHECK(doca_comm_channel_ep_connect(second.ep, "pair", &peer) == DOCA_SUCCESS);
  Addr* from = nullptr;
  REQUIRE(pair.client.send("still", pair.to_service) == DOCA_SUCCESS);
  CHECK(pair.service.wait_for_message(&from) == "still");
}
