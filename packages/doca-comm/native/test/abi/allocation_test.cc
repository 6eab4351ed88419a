// Without memory a call fails with DOCA_ERROR_NO_MEMORY and changes nothing: the nth allocation of each call, and all
// from it on, fail in turn.
#include <cstdio>
#include <cstring>

#include "../../../../soft/native/test/abi/support/failing_object.h"
#include "doca_log.h"
#include "doca_version.h"
#include "test/support/pair.h"

extern "C" {
void* priv_doca_zalloc(std::size_t size);
void priv_doca_free(void* memory);
std::size_t priv_doca_strlcpy(char* to, const char* from, std::size_t size);
}

using namespace verbs::doca_comm::model::test;
using namespace verbs::soft::test;

namespace {

// As errno values, for until_it_succeeds().
int errno_of(doca_error_t error) {
  if (error == DOCA_SUCCESS) return 0;
  return error == DOCA_ERROR_NO_MEMORY ? ENOMEM : EINVAL;
}

template <typename Call>
void until_success(const std::string& name, const Call& call) {
  until_it_succeeds(name, [&] { return errno_of(call()); });
}
template <typename Call, typename Undo>
void until_success(const std::string& name, const Call& call, const Undo& undo) {
  until_it_succeeds(name, [&] { return errno_of(call()); }, [&](int) { CHECK(undo() == DOCA_SUCCESS); });
}

// The functions of one property, by their old and their new names: they allocate nothing.
template <typename... Arguments>
void check_property(std::initializer_list<const char*> names, Arguments... arguments) {
  for (const char* name : names) CHECK(calls_without_allocating<doca_error_t>(name, arguments...) == DOCA_SUCCESS);
}

}  // namespace

TEST_CASE("devices and representors without memory" * doctest::skip(!kAllocationsCanFail)) {
  doca_devinfo** list = nullptr;
  std::uint32_t count = 0;
  const auto destroy = [&] { return doca_devinfo_destroy_list(list); };
  for (auto* const create : {doca_devinfo_create_list, doca_devinfo_list_create}) {
    until_success("doca_devinfo_create_list", [&] { return create(&list, &count); }, destroy);
    CHECK(count == 2);
    until_success("doca_devinfo_destroy_list", destroy);
  }
  failed_calls().insert({"doca_devinfo_list_create", "doca_devinfo_list_destroy"});
  doca_devinfo* const info = info_of("5f5f:03:00.0");
  doca_dev* dpu = nullptr;
  until_success("doca_dev_open", [&] { return doca_dev_open(info, &dpu); }, [&] { return doca_dev_close(dpu); });
  CHECK(without_allocating("doca_dev_as_devinfo", [&] { return doca_dev_as_devinfo(dpu); }) == info);
  doca_devinfo_rep** reps = nullptr;
  for (auto* const create : {doca_devinfo_rep_create_list, doca_devinfo_rep_list_create}) {
    until_success("doca_devinfo_rep_create_list",
                  [&] { return create(dpu, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &count); });
    if (create == doca_devinfo_rep_create_list) CHECK(doca_devinfo_rep_destroy_list(reps) == DOCA_SUCCESS);
  }
  failed_calls().insert({"doca_devinfo_rep_list_create", "doca_devinfo_rep_list_destroy"});
  doca_dev_rep* rep = nullptr;
  until_success(
      "doca_dev_rep_open", [&] { return doca_dev_rep_open(reps[0], &rep); }, [&] { return doca_dev_rep_close(rep); });
  doca_devinfo_rep* const rep_info = reps[0];
  CHECK(without_allocating("doca_dev_rep_as_devinfo", [&] { return doca_dev_rep_as_devinfo(rep); }) == rep_info);
  until_success("doca_devinfo_rep_destroy_list", [&] { return doca_devinfo_rep_list_destroy(reps); });

  char text[256];
  std::uint8_t bytes[256];
  const std::uint32_t size = sizeof text;
  doca_pci_bdf bdf{};
  std::uint16_t lid = 0;
  doca_pci_func_type type{};
  const char* const pci = "5f5f:03:00.0";
  check_property({"doca_devinfo_get_pci_addr_str"}, info, text);
  check_property({"doca_devinfo_rep_get_pci_addr_str"}, rep_info, text);
  check_property({"doca_devinfo_get_pci_addr"}, info, &bdf);
  check_property({"doca_devinfo_rep_get_pci_addr"}, rep_info, &bdf);
  check_property({"doca_devinfo_is_equal_pci_addr", "doca_devinfo_get_is_pci_addr_equal"}, info, pci, bytes);
  check_property({"doca_devinfo_rep_is_equal_pci_addr", "doca_devinfo_rep_get_is_pci_addr_equal"}, rep_info, pci,
                 bytes);
  check_property({"doca_devinfo_get_ipv4_addr", "doca_devinfo_get_ipv6_addr", "doca_devinfo_get_mac_addr"}, info, bytes,
                 size);
  check_property({"doca_devinfo_get_iface_name", "doca_devinfo_get_ibdev_name"}, info, text, size);
  check_property({"doca_devinfo_get_lid"}, info, &lid);
  check_property({"doca_devinfo_rep_cap_is_filter_all_supported", "doca_devinfo_rep_cap_is_filter_net_supported",
                  "doca_devinfo_rep_cap_is_filter_emulated_supported", "doca_devinfo_rep_get_is_list_all_supported",
                  "doca_devinfo_rep_get_is_list_net_supported", "doca_devinfo_rep_get_is_list_emulated_supported"},
                 info, bytes);
  check_property({"doca_devinfo_rep_get_pci_func_type"}, rep_info, &type);
  check_property({"doca_devinfo_rep_get_is_hotplug"}, rep_info, bytes);
  until_success("doca_devinfo_rep_get_vuid", [&] { return doca_devinfo_rep_get_vuid(rep_info, text, size); });
  std::uint32_t most = 0;
  check_property({"doca_comm_channel_get_max_service_name_len"}, &most);
  check_property({"doca_comm_channel_get_max_message_size", "doca_comm_channel_get_max_send_queue_size",
                  "doca_comm_channel_get_max_recv_queue_size", "doca_comm_channel_get_service_max_num_connections"},
                 info, &most);
  // Nothing was left behind that still uses them.
  until_success("doca_dev_rep_close", [&] { return doca_dev_rep_close(rep); });
  until_success("doca_dev_close", [&] { return doca_dev_close(dpu); });
}

TEST_CASE("endpoints without memory" * doctest::skip(!kAllocationsCanFail)) {
  const Devices devices;
  Ep* ep = nullptr;
  const auto create = [&] { return doca_comm_channel_ep_create(&ep); };
  const auto destroy = [&] { return doca_comm_channel_ep_destroy(ep); };
  until_success("doca_comm_channel_ep_create", create, destroy);
  until_success("doca_comm_channel_ep_set_device", [&] { return doca_comm_channel_ep_set_device(ep, devices.dpu); });
  until_success("doca_comm_channel_ep_set_device_rep",
                [&] { return doca_comm_channel_ep_set_device_rep(ep, devices.rep); });
  doca_dev* dev = nullptr;
  doca_dev_rep* rep = nullptr;
  std::uint16_t size = 0;
  check_property({"doca_comm_channel_ep_get_device"}, ep, &dev);
  check_property({"doca_comm_channel_ep_get_device_rep"}, ep, &rep);
  check_property({"doca_comm_channel_ep_get_max_msg_size", "doca_comm_channel_ep_get_send_queue_size",
                  "doca_comm_channel_ep_get_recv_queue_size"},
                 ep, &size);
  check_property({"doca_comm_channel_ep_set_max_msg_size", "doca_comm_channel_ep_set_send_queue_size",
                  "doca_comm_channel_ep_set_recv_queue_size"},
                 ep, std::uint16_t{64});
  until_success("doca_comm_channel_ep_listen", [&] { return doca_comm_channel_ep_listen(ep, "poor"); });
  until_success("doca_comm_channel_ep_destroy", destroy);
}

TEST_CASE("a connection without memory" * doctest::skip(!kAllocationsCanFail)) {
  // Long names need memory, wherever they are copied.
  const char* const name = "a service with a long name";
  const Devices devices;
  Endpoint service(devices.dpu, devices.rep), client(devices.host);
  REQUIRE(doca_comm_channel_ep_listen(service.ep, name) == DOCA_SUCCESS);
  Addr* to_service = nullptr;
  until_success("doca_comm_channel_ep_connect",
                [&] { return doca_comm_channel_ep_connect(client.ep, name, &to_service); });
  // The service accepts while it receives. Whom it has no memory for it rejects, or the request is lost and repeated.
  std::string text;
  Addr* from = nullptr;
  const auto accept = [&] {
    char buffer[64];
    std::size_t length = sizeof buffer;
    const doca_error_t error = doca_comm_channel_ep_recvfrom(service.ep, buffer, &length, 0, &from);
    // The client of before, which has left.
    if (error == DOCA_ERROR_CONNECTION_RESET) CHECK(doca_comm_channel_ep_disconnect(service.ep, from) == DOCA_SUCCESS);
    return error;
  };
  int rejected = 0, accepted = 0;
  for (int turn = 0;; ++turn) {
    const int nth = turn / 2 + 1;
    const bool alone = turn % 2 != 0;
    CAPTURE(nth);
    CAPTURE(alone);
    until([&] {
      std::uint32_t pending = 0;
      CHECK(doca_comm_channel_ep_update_service_state_info(service.ep) == DOCA_SUCCESS);
      CHECK(doca_comm_channel_ep_get_pending_connections(service.ep, &pending) == DOCA_SUCCESS);
      return pending == 1;
    });
    alone ? fail_allocation(nth) : fail_allocations_from(nth);
    const doca_error_t error = accept();
    const bool failed = allocation_failed();
    fail_allocation(0);
    CAPTURE(error);
    CHECK((error == DOCA_ERROR_AGAIN || error == DOCA_ERROR_NO_MEMORY || error == DOCA_ERROR_CONNECTION_RESET));
    if (!failed) break;
    doca_error_t state = DOCA_ERROR_CONNECTION_INPROGRESS;
    until([&] {
      accept();
      state = doca_comm_channel_peer_addr_update_info(to_service);
      return state != DOCA_ERROR_CONNECTION_INPROGRESS;
    });
    ++(state == DOCA_SUCCESS ? accepted : rejected);
    CHECK(doca_comm_channel_ep_disconnect(client.ep, to_service) == DOCA_SUCCESS);
    REQUIRE(doca_comm_channel_ep_connect(client.ep, name, &to_service) == DOCA_SUCCESS);
  }
  failed_calls().insert("doca_comm_channel_ep_recvfrom");
  CHECK(rejected > 0);
  CHECK(accepted > 0);
  until([&] { return doca_comm_channel_peer_addr_update_info(to_service) == DOCA_SUCCESS; });
  until_success("doca_comm_channel_ep_sendto", [&] { return client.send("hello", to_service); });
  Addr* to_client = nullptr;
  CHECK(service.wait_for_message(&to_client) == "hello");

  int send_fd = -1, recv_fd = -1;
  until_success("doca_comm_channel_ep_get_event_channel",
                [&] { return doca_comm_channel_ep_get_event_channel(client.ep, &send_fd, &recv_fd); });
  until_success("doca_comm_channel_ep_get_service_event_channel",
                [&] { return doca_comm_channel_ep_get_service_event_channel(service.ep, &recv_fd); });
  until_success("doca_comm_channel_ep_event_handle_arm_send",
                [&] { return doca_comm_channel_ep_event_handle_arm_send(client.ep); });
  until_success("doca_comm_channel_ep_event_handle_arm_recv",
                [&] { return doca_comm_channel_ep_event_handle_arm_recv(client.ep); });
  until_success("doca_comm_channel_ep_update_service_state_info",
                [&] { return doca_comm_channel_ep_update_service_state_info(service.ep); });
  Addr** peers = nullptr;
  std::uint32_t count = 0;
  until_success("doca_comm_channel_ep_get_peer_addr_list",
                [&] { return doca_comm_channel_ep_get_peer_addr_list(service.ep, &peers, &count); });
  CHECK(count == 1);
  until_success("doca_comm_channel_ep_get_pending_connections",
                [&] { return doca_comm_channel_ep_get_pending_connections(service.ep, &count); });
  until_success("doca_comm_channel_peer_addr_update_info",
                [&] { return doca_comm_channel_peer_addr_update_info(to_service); });
  std::uint64_t value = 0;
  check_property({"doca_comm_channel_peer_addr_set_user_data"}, to_service, std::uint64_t{7});
  check_property(
      {"doca_comm_channel_peer_addr_get_user_data", "doca_comm_channel_peer_addr_get_send_messages",
       "doca_comm_channel_peer_addr_get_send_bytes", "doca_comm_channel_peer_addr_get_recv_messages",
       "doca_comm_channel_peer_addr_get_recv_bytes", "doca_comm_channel_peer_addr_get_send_in_flight_messages"},
      to_service, &value);
  // The end needs no memory, of a client and of a service with a peer.
  CHECK(without_allocating("doca_comm_channel_ep_disconnect",
                           [&] { return doca_comm_channel_ep_disconnect(client.ep, to_service); }) == DOCA_SUCCESS);
  REQUIRE(doca_comm_channel_ep_connect(client.ep, name, &to_service) == DOCA_SUCCESS);
  until([&] {
    accept();
    return doca_comm_channel_peer_addr_update_info(to_service) == DOCA_SUCCESS;
  });
  for (Endpoint* end : {&service, &client}) {
    fail_allocations_from(1);
    const doca_error_t error = doca_comm_channel_ep_destroy(end->ep);
    fail_allocation(0);
    CHECK(error == DOCA_SUCCESS);
    end->ep = nullptr;
  }
}

TEST_CASE("what needs no memory of C++" * doctest::skip(!kAllocationsCanFail)) {
  for (const char* name :
       {"doca_error_get_name", "doca_error_get_descr", "doca_get_error_name", "doca_get_error_string"}) {
    CHECK(calls_without_allocating<const char*>(name, DOCA_ERROR_AGAIN) != nullptr);
  }
  CHECK(calls_without_allocating<const char*>("doca_version_runtime") != nullptr);
  char text[8];
  void* const memory = calls_without_allocating<void*>("priv_doca_zalloc", std::size_t{8});
  calls_without_allocating<void>("priv_doca_free", memory);
  calls_without_allocating<std::size_t>("priv_doca_strlcpy", static_cast<char*>(text), "text", sizeof text);
  int source = 0;
  check_property({"doca_log_source_register"}, "source", &source);
  auto* const log = exported<doca_error_t(std::uint32_t, int, ...)>("doca_log");
  CHECK(without_allocating("doca_log", [&] { return log(DOCA_LOG_LEVEL_TRACE, source, 1, "%s", "text"); }) ==
        DOCA_SUCCESS);
  check_property({"doca_log_source_destroy"}, source);
  check_property({"doca_log_register_source"}, "source", &source);
  check_property({"doca_log_unregister_source"}, source);
  check_property({"doca_log_create_standard_backend", "doca_log_backend_create_standard"});
  check_property({"doca_log_global_level_set", "doca_log_level_set_global_lower_limit"},
                 std::uint32_t{DOCA_LOG_LEVEL_INFO});
  for (const char* name : {"doca_log_global_level_get", "doca_log_level_get_global_lower_limit"}) {
    CHECK(calls_without_allocating<std::uint32_t>(name) == DOCA_LOG_LEVEL_INFO);
  }
  doca_log_backend* backend = nullptr;
  check_property({"doca_log_backend_create_with_file_sdk"}, stderr, &backend);
  check_property({"doca_log_backend_set_sdk_level"}, backend, std::uint32_t{DOCA_LOG_LEVEL_INFO});
}

TEST_CASE("no exported function is missing here" * doctest::skip(!kAllocationsCanFail)) {
  check_no_call_is_missing("libdoca_common.so.2", {});
  check_no_call_is_missing("libdoca_comm_channel.so.2", {});
  check_no_call_is_missing("libdoca_comch.so.2", {});
}
