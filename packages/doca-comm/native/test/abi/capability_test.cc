// doca_comm_channel_get_*, ep_create, ep_destroy, and the properties: every error code that is documented for them.
#include <cstring>

#include "test/support/pair.h"

using namespace verbs::doca_comm::model::test;

TEST_CASE("get_max_service_name_len: INVALID_VALUE") {
  std::uint32_t length = 0;
  CHECK(doca_comm_channel_get_max_service_name_len(nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_get_max_service_name_len(&length) == DOCA_SUCCESS);
  CHECK(length == 120);
}

TEST_CASE("capabilities of a device: INVALID_VALUE, UNEXPECTED, NOT_SUPPORTED") {
  using Getter = doca_error_t (*)(doca_devinfo*, std::uint32_t*);
  const std::pair<Getter, std::uint32_t> getters[] = {{doca_comm_channel_get_max_message_size, 4080},
                                                      {doca_comm_channel_get_max_send_queue_size, 8192},
                                                      {doca_comm_channel_get_max_recv_queue_size, 8192},
                                                      {doca_comm_channel_get_service_max_num_connections, 512}};
  doca_devinfo* dpu = info_of("5f5f:03:00.0");
  for (const auto& [getter, expected] : getters) {
    std::uint32_t value = 0;
    CHECK(getter(nullptr, &value) == DOCA_ERROR_INVALID_VALUE);
    CHECK(getter(dpu, nullptr) == DOCA_ERROR_INVALID_VALUE);
    faults("query_device:1");
    CHECK(getter(dpu, &value) == DOCA_ERROR_UNEXPECTED);
    CHECK(getter(dpu, &value) == DOCA_SUCCESS);
    CHECK(value == expected);
  }
  std::uint32_t value = 0;
  CHECK(doca_comm_channel_get_service_max_num_connections(info_of("5f5f:3b:00.0"), &value) == DOCA_ERROR_NOT_SUPPORTED);
  faults(nullptr);
}

TEST_CASE("ep_create: INVALID_VALUE, NO_MEMORY, INITIALIZATION, DRIVER; ep_destroy: NOT_CONNECTED") {
  Ep* ep = nullptr;
  CHECK(doca_comm_channel_ep_create(nullptr) == DOCA_ERROR_INVALID_VALUE);
  faults("allocate:1:ENOMEM");
  CHECK(doca_comm_channel_ep_create(&ep) == DOCA_ERROR_NO_MEMORY);
  faults("descriptor:1:EMFILE");
  CHECK(doca_comm_channel_ep_create(&ep) == DOCA_ERROR_INITIALIZATION);
  faults("query_device:1");
  CHECK(doca_comm_channel_ep_create(&ep) == DOCA_ERROR_DRIVER);
  faults(nullptr);
  CHECK(doca_comm_channel_ep_create(&ep) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_destroy(nullptr) == DOCA_ERROR_NOT_CONNECTED);
  CHECK(doca_comm_channel_ep_destroy(ep) == DOCA_SUCCESS);
  CHECK_MESSAGE(doca_comm_channel_ep_destroy(ep) == DOCA_ERROR_NOT_CONNECTED, "an old pointer is noticed");
}

TEST_CASE("ep_get_device, ep_get_device_rep, ep_set_device, ep_set_device_rep: INVALID_VALUE") {
  Devices devices;
  Endpoint e;
  doca_dev* dev = nullptr;
  doca_dev_rep* rep = nullptr;
  CHECK(doca_comm_channel_ep_get_device(nullptr, &dev) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_get_device(e.ep, nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_get_device_rep(nullptr, &rep) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_get_device_rep(e.ep, nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_set_device(nullptr, devices.dpu) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_set_device(e.ep, nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_set_device_rep(nullptr, devices.rep) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_set_device_rep(e.ep, nullptr) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_comm_channel_ep_set_device(e.ep, devices.dpu) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_set_device_rep(e.ep, devices.rep) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_get_device(e.ep, &dev) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_get_device_rep(e.ep, &rep) == DOCA_SUCCESS);
  CHECK(dev == devices.dpu);
  CHECK(rep == devices.rep);
  CHECK(doca_dev_close(devices.dpu) == DOCA_ERROR_IN_USE);
}

TEST_CASE("ep_get_ and ep_set_ of the sizes: INVALID_VALUE; raised to minima, queues to powers of two") {
  Endpoint e;
  using Get = doca_error_t (*)(Ep*, std::uint16_t*);
  using Set = doca_error_t (*)(Ep*, std::uint16_t);
  struct Property {
    Get get;
    Set set;
    std::uint16_t initial, maximum;
    std::vector<std::pair<std::uint16_t, std::uint16_t>> becomes;
  };
  const Property properties[] = {
      {doca_comm_channel_ep_get_max_msg_size,
       doca_comm_channel_ep_set_max_msg_size,
       4080,
       4080,
       {{1, 64}, {64, 64}, {65, 65}, {4080, 4080}}},
      {doca_comm_channel_ep_get_send_queue_size,
       doca_comm_channel_ep_set_send_queue_size,
       64,
       8192,
       {{0, 8}, {1, 8}, {10, 16}, {64, 64}, {65, 128}, {8191, 8192}, {8192, 8192}}},
      {doca_comm_channel_ep_get_recv_queue_size,
       doca_comm_channel_ep_set_recv_queue_size,
       64,
       8192,
       {{0, 8}, {1, 8}, {10, 16}, {64, 64}, {65, 128}, {8191, 8192}, {8192, 8192}}},
  };
  for (const Property& property : properties) {
    std::uint16_t size = 0;
    CHECK(property.get(nullptr, &size) == DOCA_ERROR_INVALID_VALUE);
    CHECK(property.get(e.ep, nullptr) == DOCA_ERROR_INVALID_VALUE);
    CHECK(property.set(nullptr, 64) == DOCA_ERROR_INVALID_VALUE);
    CHECK(property.set(e.ep, static_cast<std::uint16_t>(property.maximum + 1)) == DOCA_ERROR_INVALID_VALUE);
    CHECK(property.set(e.ep, 65535) == DOCA_ERROR_INVALID_VALUE);
    CHECK(property.get(e.ep, &size) == DOCA_SUCCESS);
    CHECK(size == property.initial);
    for (const auto& [set, got] : property.becomes) {
      CHECK(property.set(e.ep, set) == DOCA_SUCCESS);
      CHECK(property.get(e.ep, &size) == DOCA_SUCCESS);
      CHECK(size == got);
    }
  }
}

TEST_CASE("ep_set_*: BAD_STATE once the endpoint is active") {
  Pair pair;
  for (Ep* ep : {pair.service.ep, pair.client.ep}) {
    CHECK(doca_comm_channel_ep_set_device(ep, pair.devices.dpu) == DOCA_ERROR_BAD_STATE);
    CHECK(doca_comm_channel_ep_set_device_rep(ep, pair.devices.rep) == DOCA_ERROR_BAD_STATE);
    CHECK(doca_comm_channel_ep_set_max_msg_size(ep, 100) == DOCA_ERROR_BAD_STATE);
    CHECK(doca_comm_channel_ep_set_send_queue_size(ep, 100) == DOCA_ERROR_BAD_STATE);
    CHECK(doca_comm_channel_ep_set_recv_queue_size(ep, 100) == DOCA_ERROR_BAD_STATE);
  }
}

TEST_CASE(
    "the software devices answer for their interface name, MAC address and LID: INVALID_VALUE for small buffers") {
  std::uint8_t host[6] = {}, dpu[6] = {};
  CHECK(doca_devinfo_get_mac_addr(info_of("5f5f:3b:00.0"), host, sizeof host) == DOCA_SUCCESS);
  CHECK(doca_devinfo_get_mac_addr(info_of("5f5f:03:00.0"), dpu, sizeof dpu) == DOCA_SUCCESS);
  CHECK_MESSAGE((host[0] & 3) == 2, "a locally administered address of one station");
  CHECK(std::memcmp(host, dpu, sizeof host) != 0);
  CHECK(doca_devinfo_get_mac_addr(info_of("5f5f:3b:00.0"), host, 5) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_devinfo_get_mac_addr(nullptr, host, 6) == DOCA_ERROR_INVALID_VALUE);
  char name[DOCA_DEVINFO_IFACE_NAME_SIZE];
  CHECK(doca_devinfo_get_iface_name(info_of("5f5f:3b:00.0"), name, sizeof name) == DOCA_SUCCESS);
  CHECK(std::string(name) == "doca_host0");
  CHECK(doca_devinfo_get_iface_name(info_of("5f5f:3b:00.0"), name, sizeof name - 1) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_devinfo_get_iface_name(info_of("5f5f:3b:00.0"), nullptr, sizeof name) == DOCA_ERROR_INVALID_VALUE);
  std::uint16_t lid = 7;
  CHECK(doca_devinfo_get_lid(info_of("5f5f:3b:00.0"), &lid) == DOCA_SUCCESS);
  CHECK(lid == 0);
  CHECK(doca_devinfo_get_lid(info_of("5f5f:3b:00.0"), nullptr) == DOCA_ERROR_INVALID_VALUE);
}
