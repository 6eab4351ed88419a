// sendto, recvfrom and the peer addresses: every documented error code, and their documented behaviour.
#include <algorithm>
#include <fstream>
#include <utility>

#include "test/support/pair.h"

using namespace verbs::doca_comm::model::test;

TEST_CASE("ep_sendto: NOT_CONNECTED, INVALID_VALUE, INITIALIZATION, UNKNOWN") {
  Pair pair;
  const std::string long_message(4081, 'x');
  CHECK(doca_comm_channel_ep_sendto(nullptr, "x", 1, 0, pair.to_service) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_sendto(pair.client.ep, nullptr, 1, 0, pair.to_service) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_sendto(pair.client.ep, "x", 1, 1, pair.to_service) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_sendto(pair.client.ep, "x", 1, 0, nullptr) == DOCA_ERROR_NOT_CONNECTED);
  CHECK(doca_comm_channel_ep_sendto(pair.client.ep, "x", 1, 0, pair.to_client) == DOCA_ERROR_NOT_CONNECTED);
  CHECK(pair.client.send(long_message, pair.to_service) == DOCA_ERROR_INVALID_VALUE);
  faults("post_send:1:EINVAL");
  CHECK(pair.client.send("x", pair.to_service) == DOCA_ERROR_INITIALIZATION);
  faults("post_send:1:EIO");
  CHECK(pair.client.send("x", pair.to_service) == DOCA_ERROR_UNKNOWN);
  faults(nullptr);
  CHECK(pair.client.send("after", pair.to_service) == DOCA_SUCCESS);
  Addr* from = nullptr;
  CHECK(pair.service.wait_for_message(&from) == "after");
  Endpoint second(pair.devices.host);
  Addr* waiting = nullptr;
  REQUIRE(doca_comm_channel_ep_connect(second.ep, "pair", &waiting) == DOCA_SUCCESS);
  CHECK_MESSAGE(second.send("x", waiting) == DOCA_ERROR_NOT_CONNECTED, "the handshake is pending");
}

TEST_CASE("ep_sendto: AGAIN when the queue is full, and the event afterwards; nothing is lost") {
  Pair pair;
  int sent = 0;
  doca_error_t error = DOCA_SUCCESS;
  while ((error = pair.client.send(std::to_string(sent), pair.to_service)) == DOCA_SUCCESS) ++sent;
  CHECK(error == DOCA_ERROR_AGAIN);
  // At most 64. The peer reports consumed messages a quarter of its queue at a time.
  CHECK(sent <= 64);
  CHECK(sent > 48);
  doca_event_channel_t fd = -1;
  REQUIRE(doca_comm_channel_ep_get_event_channel(pair.client.ep, &fd, nullptr) == DOCA_SUCCESS);
  REQUIRE(doca_comm_channel_ep_event_handle_arm_send(pair.client.ep) == DOCA_SUCCESS);
  CHECK(pair.client.send("x", pair.to_service) == DOCA_ERROR_AGAIN);
  pollfd event{fd, POLLIN, 0};
  // A keep-alive reports what the connection's set-up consumed: then the queue is full for good.
  until([&] {
    while (pair.client.send(std::to_string(sent), pair.to_service) == DOCA_SUCCESS) ++sent;
    return sent == 64;
  });
  CHECK(doca_comm_channel_ep_event_handle_arm_send(pair.client.ep) == DOCA_SUCCESS);
  CHECK_MESSAGE(poll(&event, 1, 500) == 0, "acknowledgements and keep-alives make no room");
  Addr* from = nullptr;
  for (int i = 0; i < sent; ++i) CHECK(pair.service.wait_for_message(&from) == std::to_string(i));
  CHECK(poll(&event, 1, 5000) == 1);
  CHECK(pair.client.send("more", pair.to_service) == DOCA_SUCCESS);
  CHECK(pair.service.wait_for_message(&from) == "more");
}

TEST_CASE("a keep-alive reports consumed messages that are too few for a report of their own") {
  Pair pair;
  while (pair.client.send("x", pair.to_service) == DOCA_SUCCESS);
  doca_event_channel_t fd = -1;
  REQUIRE(doca_comm_channel_ep_get_event_channel(pair.client.ep, &fd, nullptr) == DOCA_SUCCESS);
  Addr* from = nullptr;
  constexpr int kFew = 5;  // less than a quarter of the queue
  for (int i = 0; i < kFew; ++i) CHECK(pair.service.wait_for_message(&from) == "x");
  int sent = 0;
  pollfd event{fd, POLLIN, 0};
  do {
    REQUIRE(doca_comm_channel_ep_event_handle_arm_send(pair.client.ep) == DOCA_SUCCESS);
    while (sent < kFew && pair.client.send("y", pair.to_service) == DOCA_SUCCESS) ++sent;
  } while (sent < kFew && poll(&event, 1, 15'000) == 1);
  CHECK(sent == kFew);
}

TEST_CASE("sends are acknowledged: after the event of an armed handle, after updates, and by keep-alives") {
  Pair pair;
  doca_event_channel_t fd = -1;
  REQUIRE(doca_comm_channel_ep_get_event_channel(pair.client.ep, &fd, nullptr) == DOCA_SUCCESS);
  const auto in_flight = [&] {
    std::uint64_t value = 0;
    CHECK(doca_comm_channel_peer_addr_update_info(pair.to_service) == DOCA_SUCCESS);
    CHECK(doca_comm_channel_peer_addr_get_send_in_flight_messages(pair.to_service, &value) == DOCA_SUCCESS);
    return value;
  };
  for (int sent = 1; sent <= 40; ++sent) {
    CAPTURE(sent);
    REQUIRE(pair.client.send("x", pair.to_service) == DOCA_SUCCESS);
    REQUIRE(doca_comm_channel_ep_event_handle_arm_send(pair.client.ep) == DOCA_SUCCESS);
    pollfd event{fd, POLLIN, 0};
    CHECK(poll(&event, 1, 5000) == 1);
    if (sent % 7 == 0) until([&] { return in_flight() == 0; });
  }
  until([&] { return in_flight() == 0; });
  // The service does not arm its handle: the keep-alive flushes its sends.
  Addr* from = nullptr;
  for (int received = 0; received < 40; ++received) CHECK(pair.service.wait_for_message(&from) == "x");
  CHECK(pair.service.send("back", pair.to_client) == DOCA_SUCCESS);
  CHECK(pair.client.wait_for_message(&from) == "back");
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  CHECK(doca_comm_channel_peer_addr_update_info(pair.to_client) == DOCA_SUCCESS);
  std::uint64_t value = 1;
  CHECK(doca_comm_channel_peer_addr_get_send_in_flight_messages(pair.to_client, &value) == DOCA_SUCCESS);
  CHECK(value == 0);
}

TEST_CASE("ep_recvfrom: INVALID_VALUE, NOT_CONNECTED, AGAIN, UNKNOWN, INITIALIZATION") {
  Pair pair;
  Endpoint idle(pair.devices.dpu, pair.devices.rep);
  char buffer[4080];
  std::size_t length = sizeof buffer;
  Addr* from = nullptr;
  Ep* ep = pair.service.ep;
  CHECK(doca_comm_channel_ep_recvfrom(nullptr, buffer, &length, 0, &from) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_recvfrom(ep, nullptr, &length, 0, &from) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_recvfrom(ep, buffer, nullptr, 0, &from) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_recvfrom(ep, buffer, &length, 0, nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_recvfrom(ep, buffer, &length, 1, &from) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_recvfrom(idle.ep, buffer, &length, 0, &from) == DOCA_ERROR_NOT_CONNECTED);
  CHECK(doca_comm_channel_ep_recvfrom(ep, buffer, &length, 0, &from) == DOCA_ERROR_AGAIN);
  faults("poll:1");
  CHECK(doca_comm_channel_ep_recvfrom(ep, buffer, &length, 0, &from) == DOCA_ERROR_UNKNOWN);
  faults(nullptr);
  // A client that cannot be accepted is rejected, and the connected one is not affected.
  Endpoint second(pair.devices.host);
  Addr* peer = nullptr;
  REQUIRE(doca_comm_channel_ep_connect(second.ep, "pair", &peer) == DOCA_SUCCESS);
  faults("create_queue:1");
  CHECK(doca_comm_channel_ep_recvfrom(ep, buffer, &length, 0, &from) == DOCA_ERROR_INITIALIZATION);
  faults(nullptr);
  until([&] { return doca_comm_channel_peer_addr_update_info(peer) == DOCA_ERROR_CONNECTION_ABORTED; });
  CHECK(doca_comm_channel_ep_disconnect(second.ep, peer) == DOCA_SUCCESS);
  CHECK(pair.client.send("still there", pair.to_service) == DOCA_SUCCESS);
  CHECK(pair.service.wait_for_message(&from) == "still there");
}

TEST_CASE("ep_recvfrom: a buffer that is too small keeps the message; an empty message is delivered") {
  Pair pair;
  REQUIRE(pair.client.send("four", pair.to_service) == DOCA_SUCCESS);
  REQUIRE(pair.client.send("", pair.to_service) == DOCA_SUCCESS);
  char buffer[8];
  std::size_t length = 3;
  Addr* from = nullptr;
  doca_error_t error = DOCA_ERROR_AGAIN;
  until([&] {
    length = 3;
    return (error = doca_comm_channel_ep_recvfrom(pair.service.ep, buffer, &length, 0, &from)) != DOCA_ERROR_AGAIN;
  });
  CHECK(error == DOCA_ERROR_INVALID_VALUE);
  CHECK(length == 4);
  CHECK(pair.service.wait_for_message(&from) == "four");
  CHECK(pair.service.wait_for_message(&from).empty());
}

TEST_CASE(
    "a peer that disconnects: its messages arrive, then CONNECTION_RESET for receive and send, ABORTED for update") {
  Pair pair;
  REQUIRE(pair.client.send("last words", pair.to_service) == DOCA_SUCCESS);
  REQUIRE(doca_comm_channel_ep_disconnect(pair.client.ep, pair.to_service) == DOCA_SUCCESS);
  Addr* from = nullptr;
  CHECK(pair.service.wait_for_message(&from) == "last words");
  std::string message;
  doca_error_t error = DOCA_ERROR_AGAIN;
  until([&] { return (error = pair.service.receive(&message, &from)) != DOCA_ERROR_AGAIN; });
  CHECK(error == DOCA_ERROR_CONNECTION_RESET);
  CHECK(from == pair.to_client);
  CHECK_MESSAGE(pair.service.receive(&message, &from) == DOCA_ERROR_AGAIN, "a service reports it once");
  CHECK(pair.service.send("x", pair.to_client) == DOCA_ERROR_CONNECTION_RESET);
  CHECK(doca_comm_channel_peer_addr_update_info(pair.to_client) == DOCA_ERROR_CONNECTION_ABORTED);
  CHECK(doca_comm_channel_ep_disconnect(pair.service.ep, pair.to_client) == DOCA_SUCCESS);
}

TEST_CASE(
    "a service that is gone: its client gets CONNECTION_RESET once, then NOT_CONNECTED, and never waits for nothing") {
  Pair pair;
  REQUIRE(pair.service.send("last words", pair.to_client) == DOCA_SUCCESS);
  doca_event_channel_t fd = -1;
  REQUIRE(doca_comm_channel_ep_get_event_channel(pair.client.ep, nullptr, &fd) == DOCA_SUCCESS);
  REQUIRE(doca_comm_channel_ep_destroy(std::exchange(pair.service.ep, nullptr)) == DOCA_SUCCESS);
  Addr* from = nullptr;
  CHECK(pair.client.wait_for_message(&from) == "last words");
  std::string message;
  doca_error_t error = DOCA_ERROR_AGAIN;
  until([&] { return (error = pair.client.receive(&message, &from)) != DOCA_ERROR_AGAIN; });
  CHECK(error == DOCA_ERROR_CONNECTION_RESET);
  CHECK(from == pair.to_service);
  for (int i = 0; i < 3; ++i) CHECK(pair.client.receive(&message, &from) == DOCA_ERROR_NOT_CONNECTED);
  REQUIRE(doca_comm_channel_ep_event_handle_arm_recv(pair.client.ep) == DOCA_SUCCESS);
  pollfd event{fd, POLLIN, 0};
  CHECK(poll(&event, 1, 0) == 1);
  CHECK(pair.client.send("x", pair.to_service) == DOCA_ERROR_CONNECTION_RESET);
  CHECK(doca_comm_channel_peer_addr_update_info(pair.to_service) == DOCA_ERROR_CONNECTION_ABORTED);
  CHECK(doca_comm_channel_ep_disconnect(pair.client.ep, pair.to_service) == DOCA_SUCCESS);
}

TEST_CASE("peer_addr_*: INVALID_VALUE; user data is 0 at first; counters are as of the last update") {
  Pair pair;
  using Counter = doca_error_t (*)(const Addr*, std::uint64_t*);
  std::uint64_t value = 1;
  for (const Counter counter :
       {doca_comm_channel_peer_addr_get_send_messages, doca_comm_channel_peer_addr_get_send_bytes,
        doca_comm_channel_peer_addr_get_recv_messages, doca_comm_channel_peer_addr_get_recv_bytes,
        doca_comm_channel_peer_addr_get_send_in_flight_messages}) {
    CHECK(counter(nullptr, &value) == DOCA_ERROR_INVALID_VALUE);
    CHECK(counter(pair.to_client, nullptr) == DOCA_ERROR_INVALID_VALUE);
    CHECK(counter(pair.to_client, &value) == DOCA_SUCCESS);
    CHECK_MESSAGE(value == 0, "there was no update yet");
  }
  CHECK(doca_comm_channel_peer_addr_update_info(nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_peer_addr_update_info(pair.to_client) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_peer_addr_get_recv_messages(pair.to_client, &value) == DOCA_SUCCESS);
  CHECK(value == 1);
  CHECK(doca_comm_channel_peer_addr_get_recv_bytes(pair.to_client, &value) == DOCA_SUCCESS);
  CHECK(value == 5);
  REQUIRE(pair.service.send("back", pair.to_client) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_peer_addr_get_send_bytes(pair.to_client, &value) == DOCA_SUCCESS);
  CHECK(value == 0);
  until([&] {
    CHECK(doca_comm_channel_peer_addr_update_info(pair.to_client) == DOCA_SUCCESS);
    CHECK(doca_comm_channel_peer_addr_get_send_in_flight_messages(pair.to_client, &value) == DOCA_SUCCESS);
    return value == 0;
  });
  CHECK(doca_comm_channel_peer_addr_get_send_bytes(pair.to_client, &value) == DOCA_SUCCESS);
  CHECK(value == 4);
  CHECK(doca_comm_channel_peer_addr_get_user_data(nullptr, &value) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_peer_addr_get_user_data(pair.to_client, nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_peer_addr_set_user_data(nullptr, 1) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_peer_addr_get_user_data(pair.to_client, &value) == DOCA_SUCCESS);
  CHECK(value == 0);
  CHECK(doca_comm_channel_peer_addr_set_user_data(pair.to_client, UINT64_MAX) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_peer_addr_get_user_data(pair.to_client, &value) == DOCA_SUCCESS);
  CHECK(value == UINT64_MAX);
}

TEST_CASE("queues of 8192 occupy memory for the messages that are in them, not for their length") {
  const auto resident = [] {
    std::ifstream file("/proc/self/statm");
    std::size_t size = 0, pages = 0;
    file >> size >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) >> 20;
  };
  Devices devices;
  Endpoint service(devices.dpu, devices.rep), client(devices.host);
  for (Ep* ep : {service.ep, client.ep}) {
    REQUIRE(doca_comm_channel_ep_set_recv_queue_size(ep, 8192) == DOCA_SUCCESS);
    REQUIRE(doca_comm_channel_ep_set_send_queue_size(ep, 8192) == DOCA_SUCCESS);
  }
  REQUIRE(doca_comm_channel_ep_listen(service.ep, "long") == DOCA_SUCCESS);
  Addr *to_service = nullptr, *from = nullptr;
  REQUIRE(doca_comm_channel_ep_connect(client.ep, "long", &to_service) == DOCA_SUCCESS);
  std::string none;
  until([&] {
    service.receive(&none, &from);
    return doca_comm_channel_peer_addr_update_info(to_service) == DOCA_SUCCESS;
  });
  const std::size_t before = resident();
  // Twice around the queues, in different lengths of backlog; every byte is what was sent.
  constexpr int kMessages = 20'000;
  int sent = 0, received = 0;
  const auto message = [](int n) { return std::string(4080, static_cast<char>('a' + n % 26)); };
  while (received < kMessages) {
    const int backlog = 1 + received % 300;
    while (sent < kMessages && sent - received < backlog) {
      const doca_error_t error = client.send(message(sent), to_service);
      if (error == DOCA_ERROR_AGAIN) break;
      REQUIRE(error == DOCA_SUCCESS);
      ++sent;
    }
    while (received < sent) {
      const std::string got = service.wait_for_message(&from);
      REQUIRE(got == message(received));
      ++received;
    }
  }
  const std::size_t more = resident() - std::min(resident(), before);
  CAPTURE(more);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose shadow and freed memory would be counted
  CHECK(more < 24);  // MiB, of both ends; both queues of both ends have 134
#endif
  // The whole queue still fits.
  for (sent = 0; client.send(message(sent), to_service) == DOCA_SUCCESS;) ++sent;
  // All but what the service has consumed and not reported yet, a quarter of the queue at most, and some that it holds.
  CHECK(sent >= 8192 - 2048 - 64);
  CHECK(sent <= 8192);
  for (received = 0; received < sent; ++received) REQUIRE(service.wait_for_message(&from) == message(received));
}
