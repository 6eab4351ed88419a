// Pointers that are none of the library's: every function that takes one rejects it, and nothing crashes.
#include "../../../../soft/native/test/abi/support/dead_objects.h"
#include "doca_log.h"
#include "test/support/pair.h"

using namespace verbs::doca_comm::model::test;
using verbs::soft::test::check_addresses;

namespace {

// A function with one output behind the object.
template <typename Object, typename Output>
void rejects(doca_error_t (*function)(Object*, Output*), const void* stale, const void* other) {
  Output output{};
  check_addresses<std::remove_const_t<Object>>(
      DOCA_ERROR_INVALID_VALUE, static_cast<const std::remove_const_t<Object>*>(stale), other,
      [&](std::remove_const_t<Object>* wild) { return int{function(wild, &output)}; });
}

Ep* stale_endpoint() {
  Ep* ep = nullptr;
  REQUIRE(doca_comm_channel_ep_create(&ep) == DOCA_SUCCESS);
  REQUIRE(doca_comm_channel_ep_destroy(ep) == DOCA_SUCCESS);
  return ep;
}

}  // namespace

TEST_CASE("endpoints and peer addresses are found by their address") {
  Pair pair("pointers");
  const void* stale = stale_endpoint();
  const void* other = pair.devices.dpu;
  const auto check = [&](const auto& call) {
    check_addresses<Ep>(DOCA_ERROR_INVALID_VALUE, static_cast<const Ep*>(stale), other,
                        [&](Ep* wild) { return int{call(wild)}; });
    // Inside of a structure of ours.
    CHECK(call(reinterpret_cast<Ep*>(reinterpret_cast<char*>(pair.client.ep) + 8)) == DOCA_ERROR_INVALID_VALUE);
  };
  rejects(doca_comm_channel_ep_get_device, stale, other);
  rejects(doca_comm_channel_ep_get_device_rep, stale, other);
  rejects(doca_comm_channel_ep_get_max_msg_size, stale, other);
  rejects(doca_comm_channel_ep_get_send_queue_size, stale, other);
  rejects(doca_comm_channel_ep_get_recv_queue_size, stale, other);
  rejects(doca_comm_channel_ep_get_service_event_channel, stale, other);
  rejects(doca_comm_channel_ep_get_pending_connections, stale, other);
  check([&](Ep* wild) { return doca_comm_channel_ep_set_device(wild, pair.devices.dpu); });
  check([&](Ep* wild) { return doca_comm_channel_ep_set_device_rep(wild, pair.devices.rep); });
  check([](Ep* wild) { return doca_comm_channel_ep_set_max_msg_size(wild, 64); });
  check([](Ep* wild) { return doca_comm_channel_ep_set_send_queue_size(wild, 8); });
  check([](Ep* wild) { return doca_comm_channel_ep_set_recv_queue_size(wild, 8); });
  check([](Ep* wild) {
    doca_event_channel_t fd = -1;
    return doca_comm_channel_ep_get_event_channel(wild, &fd, &fd);
  });
  check(doca_comm_channel_ep_event_handle_arm_send);
  check(doca_comm_channel_ep_event_handle_arm_recv);
  check([](Ep* wild) { return doca_comm_channel_ep_listen(wild, "wild"); });
  check([](Ep* wild) {
    Addr* peer = nullptr;
    return doca_comm_channel_ep_connect(wild, "wild", &peer);
  });
  check([&](Ep* wild) { return doca_comm_channel_ep_disconnect(wild, pair.to_client); });
  check([&](Ep* wild) { return doca_comm_channel_ep_sendto(wild, "x", 1, 0, pair.to_client); });
  check([](Ep* wild) {
    char buffer[8];
    std::size_t length = sizeof buffer;
    Addr* from = nullptr;
    return doca_comm_channel_ep_recvfrom(wild, buffer, &length, 0, &from);
  });
  check(doca_comm_channel_ep_update_service_state_info);
  check([](Ep* wild) {
    Addr** list = nullptr;
    std::uint32_t count = 0;
    return doca_comm_channel_ep_get_peer_addr_list(wild, &list, &count);
  });
  check_addresses<Ep>(DOCA_ERROR_NOT_CONNECTED, static_cast<const Ep*>(stale), pair.to_client,
                      [](Ep* wild) { return int{doca_comm_channel_ep_destroy(wild)}; });

  rejects(doca_comm_channel_peer_addr_get_user_data, nullptr, pair.client.ep);
  rejects(doca_comm_channel_peer_addr_get_send_messages, nullptr, pair.client.ep);
  rejects(doca_comm_channel_peer_addr_get_send_bytes, nullptr, pair.client.ep);
  rejects(doca_comm_channel_peer_addr_get_recv_messages, nullptr, pair.client.ep);
  rejects(doca_comm_channel_peer_addr_get_recv_bytes, nullptr, pair.client.ep);
  rejects(doca_comm_channel_peer_addr_get_send_in_flight_messages, nullptr, pair.client.ep);
  const auto check_peer = [&](doca_error_t expected, const auto& call) {
    check_addresses<Addr>(expected, nullptr, pair.client.ep, [&](Addr* wild) { return int{call(wild)}; });
  };
  check_peer(DOCA_ERROR_INVALID_VALUE, [](Addr* wild) { return doca_comm_channel_peer_addr_set_user_data(wild, 1); });
  check_peer(DOCA_ERROR_INVALID_VALUE, doca_comm_channel_peer_addr_update_info);
  check_peer(DOCA_ERROR_NOT_CONNECTED,
             [&](Addr* wild) { return doca_comm_channel_ep_sendto(pair.client.ep, "x", 1, 0, wild); });
  check_peer(DOCA_ERROR_NOT_CONNECTED,
             [&](Addr* wild) { return doca_comm_channel_ep_disconnect(pair.client.ep, wild); });
  // The connection is as it was.
  Addr* from = nullptr;
  CHECK(pair.client.send("still", pair.to_service) == DOCA_SUCCESS);
  CHECK(pair.service.wait_for_message(&from) == "still");
}

TEST_CASE("devices and representors are found by their address") {
  const Devices devices;
  const doca_devinfo* info = doca_dev_as_devinfo(devices.dpu);
  rejects(doca_comm_channel_get_max_message_size, nullptr, devices.rep);
  rejects(doca_comm_channel_get_max_send_queue_size, nullptr, devices.rep);
  rejects(doca_comm_channel_get_max_recv_queue_size, nullptr, devices.rep);
  rejects(doca_comm_channel_get_service_max_num_connections, nullptr, devices.rep);
  rejects(doca_dev_open, nullptr, devices.rep);
  rejects(doca_dev_rep_open, nullptr, info);
  rejects(doca_devinfo_get_pci_addr, nullptr, devices.rep);
  rejects(doca_devinfo_rep_get_pci_addr, nullptr, info);
  rejects(doca_devinfo_get_pci_addr_str, nullptr, devices.rep);
  rejects(doca_devinfo_rep_get_pci_addr_str, nullptr, info);
  rejects(doca_devinfo_get_lid, nullptr, devices.rep);
  rejects(doca_devinfo_rep_get_pci_func_type, nullptr, info);
  rejects(doca_devinfo_rep_get_is_hotplug, nullptr, info);
  rejects(doca_devinfo_rep_cap_is_filter_all_supported, nullptr, devices.rep);
  rejects(doca_devinfo_rep_cap_is_filter_net_supported, nullptr, devices.rep);
  rejects(doca_devinfo_rep_cap_is_filter_emulated_supported, nullptr, devices.rep);
  rejects(doca_devinfo_rep_get_is_list_all_supported, nullptr, devices.rep);
  const auto check_info = [&](const auto& call) {
    check_addresses<doca_devinfo>(DOCA_ERROR_INVALID_VALUE, nullptr, devices.rep,
                                  [&](doca_devinfo* wild) { return int{call(wild)}; });
  };
  std::uint8_t bytes[DOCA_DEVINFO_IPV6_ADDR_SIZE];
  char text[256];
  check_info([&](auto* wild) { return doca_devinfo_get_ipv4_addr(wild, bytes, sizeof bytes); });
  check_info([&](auto* wild) { return doca_devinfo_get_ipv6_addr(wild, bytes, sizeof bytes); });
  check_info([&](auto* wild) { return doca_devinfo_get_mac_addr(wild, bytes, sizeof bytes); });
  check_info([&](auto* wild) { return doca_devinfo_get_iface_name(wild, text, sizeof text); });
  check_info([&](auto* wild) { return doca_devinfo_get_ibdev_name(wild, text, sizeof text); });
  check_info([&](auto* wild) { return doca_devinfo_is_equal_pci_addr(wild, "3b:00.0", bytes); });
  check_addresses<doca_devinfo_rep>(DOCA_ERROR_INVALID_VALUE, nullptr, info, [&](doca_devinfo_rep* wild) {
    return int{doca_devinfo_rep_get_vuid(wild, text, sizeof text)};
  });
  check_addresses<doca_devinfo_rep>(DOCA_ERROR_INVALID_VALUE, nullptr, info, [&](doca_devinfo_rep* wild) {
    return int{doca_devinfo_rep_is_equal_pci_addr(wild, "3b:00.0", bytes)};
  });

  const Endpoint ep;
  const auto check_dev = [&](const auto& call) {
    check_addresses<doca_dev>(DOCA_ERROR_INVALID_VALUE, nullptr, info, [&](doca_dev* wild) { return int{call(wild)}; });
  };
  check_dev(doca_dev_close);
  check_dev([&](doca_dev* wild) { return doca_comm_channel_ep_set_device(ep.ep, wild); });
  check_dev([](doca_dev* wild) {
    doca_devinfo_rep** list = nullptr;
    std::uint32_t count = 0;
    return doca_devinfo_rep_create_list(wild, DOCA_DEVINFO_REP_FILTER_ALL, &list, &count);
  });
  check_dev([](doca_dev* wild) { return doca_dev_as_devinfo(wild) ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE; });
  const auto check_rep = [&](const auto& call) {
    check_addresses<doca_dev_rep>(DOCA_ERROR_INVALID_VALUE, nullptr, info,
                                  [&](doca_dev_rep* wild) { return int{call(wild)}; });
  };
  check_rep(doca_dev_rep_close);
  check_rep([&](doca_dev_rep* wild) { return doca_comm_channel_ep_set_device_rep(ep.ep, wild); });
  check_rep([](doca_dev_rep* wild) { return doca_dev_rep_as_devinfo(wild) ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE; });
  check_addresses<doca_devinfo*>(DOCA_ERROR_INVALID_VALUE, nullptr, info,
                                 [](doca_devinfo** wild) { return int{doca_devinfo_destroy_list(wild)}; });
  check_addresses<doca_devinfo_rep*>(DOCA_ERROR_INVALID_VALUE, nullptr, info,
                                     [](doca_devinfo_rep** wild) { return int{doca_devinfo_rep_destroy_list(wild)}; });
  check_addresses<doca_log_backend>(DOCA_ERROR_INVALID_VALUE, nullptr, info, [](doca_log_backend* wild) {
    return int{doca_log_backend_set_sdk_level(wild, DOCA_LOG_LEVEL_INFO)};
  });
}
