// A service and a client of the default BlueField in one process, through the drop-in libraries.
#pragma once

#include <doctest/doctest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "doca_comm_channel.h"
#include "verbs_doca_control.h"

namespace verbs::doca_comm::model::test {

using Ep = doca_comm_channel_ep_t;
using Addr = doca_comm_channel_addr_t;

// Waits for `done()`. Fails after 20 seconds.
template <typename Done>
void until(Done&& done) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!done()) {
    REQUIRE(std::chrono::steady_clock::now() < limit);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

inline doca_devinfo* info_of(const char* pci) {
  doca_devinfo** list = nullptr;
  std::uint32_t count = 0;
  REQUIRE(doca_devinfo_create_list(&list, &count) == DOCA_SUCCESS);
  doca_devinfo* found = nullptr;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint8_t equal = 0;
    REQUIRE(doca_devinfo_is_equal_pci_addr(list[i], pci, &equal) == DOCA_SUCCESS);
    if (equal) found = list[i];
  }
  REQUIRE(doca_devinfo_destroy_list(list) == DOCA_SUCCESS);
  REQUIRE(found);
  return found;
}

// Both devices and the representor, open.
struct Devices {
  Devices() {
    REQUIRE(doca_dev_open(info_of("5f5f:03:00.0"), &dpu) == DOCA_SUCCESS);
    REQUIRE(doca_dev_open(info_of("5f5f:3b:00.0"), &host) == DOCA_SUCCESS);
    doca_devinfo_rep** list = nullptr;
    std::uint32_t count = 0;
    REQUIRE(doca_devinfo_rep_create_list(dpu, DOCA_DEVINFO_REP_FILTER_ALL, &list, &count) == DOCA_SUCCESS);
    REQUIRE(count >= 1);
    REQUIRE(doca_dev_rep_open(list[0], &rep) == DOCA_SUCCESS);
    REQUIRE(doca_devinfo_rep_destroy_list(list) == DOCA_SUCCESS);
  }
  ~Devices() {
    verbs_doca_set_faults(nullptr);
    CHECK(doca_dev_rep_close(rep) == DOCA_SUCCESS);
    CHECK(doca_dev_close(host) == DOCA_SUCCESS);
    CHECK(doca_dev_close(dpu) == DOCA_SUCCESS);
  }
  doca_dev *dpu = nullptr, *host = nullptr;
  doca_dev_rep* rep = nullptr;
};

struct Endpoint {
  explicit Endpoint(doca_dev* dev = nullptr, doca_dev_rep* rep = nullptr) {
    REQUIRE(doca_comm_channel_ep_create(&ep) == DOCA_SUCCESS);
    if (dev) REQUIRE(doca_comm_channel_ep_set_device(ep, dev) == DOCA_SUCCESS);
    if (rep) REQUIRE(doca_comm_channel_ep_set_device_rep(ep, rep) == DOCA_SUCCESS);
  }
  ~Endpoint() {
    verbs_doca_set_faults(nullptr);
    if (ep) CHECK(doca_comm_channel_ep_destroy(ep) == DOCA_SUCCESS);
  }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  doca_error_t receive(std::string* message, Addr** from) {
    char buffer[4080];
    std::size_t length = sizeof buffer;
    const doca_error_t error = doca_comm_channel_ep_recvfrom(ep, buffer, &length, 0, from);
    if (error == DOCA_SUCCESS) message->assign(buffer, length);
    return error;
  }
  std::string wait_for_message(Addr** from) {
    std::string message;
    doca_error_t error = DOCA_ERROR_AGAIN;
    until([&] { return (error = receive(&message, from)) != DOCA_ERROR_AGAIN; });
    REQUIRE(error == DOCA_SUCCESS);
    return message;
  }
  doca_error_t send(const std::string& message, Addr* to) {
    return doca_comm_channel_ep_sendto(ep, message.data(), message.size(), 0, to);
  }
  Ep* ep = nullptr;
};

// A connected service and client, each with the address of the other.
struct Pair {
  explicit Pair(const char* name = "pair") : service(devices.dpu, devices.rep), client(devices.host) {
    REQUIRE(doca_comm_channel_ep_listen(service.ep, name) == DOCA_SUCCESS);
    REQUIRE(doca_comm_channel_ep_connect(client.ep, name, &to_service) == DOCA_SUCCESS);
    std::string message;
    until([&] {
      Addr* from = nullptr;
      CHECK(service.receive(&message, &from) == DOCA_ERROR_AGAIN);
      return doca_comm_channel_peer_addr_update_info(to_service) == DOCA_SUCCESS;
    });
    REQUIRE(client.send("hello", to_service) == DOCA_SUCCESS);
    CHECK(service.wait_for_message(&to_client) == "hello");
  }
  Devices devices;
  Endpoint service, client;
  Addr *to_service = nullptr, *to_client = nullptr;
};

inline void faults(const char* plan) { REQUIRE(verbs_doca_set_faults(plan) == 0); }

}  // namespace verbs::doca_comm::model::test
