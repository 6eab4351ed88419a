// Without memory: the devices, contexts, and what they are asked for.
#include "test/abi/support/device_pair.h"
#include "test/abi/support/failing_object.h"

using namespace verbs::soft::test;

TEST_CASE("without memory the devices are not listed" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(1));
  ibv_device** list = until_it_succeeds("ibv_get_device_list", [] { return (ibv_get_device_list)(nullptr); });
  REQUIRE(list[0]);
  CHECK(list[1] == nullptr);
  without_allocating("ibv_get_device_name", [&] { return ibv_get_device_name(list[0]); });
  without_allocating("ibv_get_device_guid", [&] { return ibv_get_device_guid(list[0]); });
  without_allocating("ibv_get_device_index", [&] { return ibv_get_device_index(list[0]); });
  without_allocating("ibv_free_device_list", [&] { ibv_free_device_list(list); });
}

TEST_CASE("a device without memory is not opened, and its address stays free" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(3));
  ibv_device** list = (ibv_get_device_list)(nullptr);
  REQUIRE(list);
  const auto open = [&] { return ibv_open_device(list[0]); };
  ibv_context* context = until_it_succeeds("ibv_open_device", open, ibv_close_device);
  // A descriptor that could not be imported stays its owner's.
  int fd = dup(context->cmd_fd);
  ibv_context* imported = until_it_succeeds(
      "ibv_import_device", [&] { return ibv_import_device(fd); },
      [&](ibv_context* made) {
        CHECK(ibv_close_device(made) == 0);
        fd = dup(context->cmd_fd);
      });
  REQUIRE(ibv_alloc_pd(imported));
  CHECK(ibv_close_device(imported) == 0);
  CHECK(ibv_close_device(context) == 0);
  // With an object that is destroyed with the context.
  const auto open_with_domain = [&] {
    ibv_context* const opened = open();
    REQUIRE(ibv_alloc_pd(opened));
    return opened;
  };
  until_it_ends("ibv_close_device", open_with_domain, ibv_close_device);
  auto* const open_device = exported<ibv_context*(ibv_device*, void*)>("verbs_open_device");
  context = until_it_succeeds("verbs_open_device", [&] { return open_device(list[0], nullptr); }, ibv_close_device);
  ibv_close_device(context);
  ibv_free_device_list(list);
}

TEST_CASE("what a device is asked for without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(4));
  const Context owner = open_device("x0");
  ibv_context* const context = owner.get();
  ibv_device_attr attr{};
  until_it_succeeds("ibv_query_device", [&] { return ibv_query_device(context, &attr); });
  ibv_device_attr_ex ex{};
  until_it_succeeds("query_device_ex", [&] { return ibv_query_device_ex(context, nullptr, &ex); });
  ibv_values_ex values{.comp_mask = IBV_VALUES_MASK_RAW_CLOCK, .raw_clock = {}};
  until_it_succeeds("query_rt_values", [&] { return ibv_query_rt_values_ex(context, &values); });
  ibv_port_attr port{};
  until_it_succeeds("query_port", [&] { return ibv_query_port(context, 1, &port); });
  _compat_ibv_port_attr* const old = reinterpret_cast<_compat_ibv_port_attr*>(&port);
  until_it_succeeds("ibv_query_port", [&] { return (ibv_query_port)(context, 1, old); });

  ibv_gid gid{};
  until_it_succeeds("ibv_query_gid", [&] { return ibv_query_gid(context, 1, 0, &gid); });
  ibv_gid_entry entry{}, table[16];
  until_it_succeeds("_ibv_query_gid_ex", [&] { return ibv_query_gid_ex(context, 1, 0, &entry, 0); });
  // All of it, or none.
  const ssize_t all = ibv_query_gid_table(context, table, 16, 0);
  REQUIRE(all > 0);
  until_it_succeeds("_ibv_query_gid_table", [&] {
    const ssize_t count = ibv_query_gid_table(context, table, 16, 0);
    return count == all ? 0 : static_cast<int>(count);
  });
  unsigned int type = 0;
  auto* const query_type = exported<int(ibv_context*, std::uint8_t, unsigned, unsigned*)>("ibv_query_gid_type");
  until_it_succeeds("ibv_query_gid_type", [&] { return query_type(context, 1, 0, &type); });
  __be16 pkey = 0;
  until_it_succeeds("ibv_query_pkey", [&] { return ibv_query_pkey(context, 1, 0, &pkey); });
  until_it_succeeds("ibv_get_pkey_index", [&] { return ibv_get_pkey_index(context, 1, pkey); });
  ibv_ah_attr address{};
  address.is_global = 1;
  address.port_num = 1;
  std::uint8_t mac[ETHERNET_LL_SIZE];
  until_it_succeeds("ibv_resolve_eth_l2_from_gid",
                    [&] { return ibv_resolve_eth_l2_from_gid(context, &address, mac, nullptr); });

  // Folders of ours, of the kernel, and of nobody.
  char text[64];
  CHECK(ibv_read_sysfs_file("/sys/class/infiniband/nobody", "fw_ver", text, sizeof text) == -1);
  for (const char* folder : {static_cast<const char*>(context->device->ibdev_path), "/proc/self"}) {
    until_it_succeeds("ibv_read_sysfs_file", [&] {
      const int length = ibv_read_sysfs_file(folder, folder[1] == 's' ? "fw_ver" : "comm", text, sizeof text);
      return length > 0 ? 0 : length;
    });
  }
  // It reads no file.
  auto* const read = exported<int(char*, std::size_t, void*, const char*, ...)>("ibv_read_ibdev_sysfs_file");
  CHECK(without_allocating("ibv_read_ibdev_sysfs_file", [&] { return read(text, 64, nullptr, "x"); }) == -1);
}

TEST_CASE("what needs no memory at all" * doctest::skip(!kAllocationsCanFail)) {
  calls_without_allocating<const char*>("ibv_get_sysfs_path");
  without_allocating("ibv_fork_init", ibv_fork_init);
  without_allocating("ibv_is_fork_initialized", ibv_is_fork_initialized);
  calls_without_allocating<int>("ibv_dontfork_range", nullptr, std::size_t{0});
  calls_without_allocating<int>("ibv_dofork_range", nullptr, std::size_t{0});
  without_allocating("ibv_wc_status_str", [] { return ibv_wc_status_str(IBV_WC_SUCCESS); });
  without_allocating("ibv_event_type_str", [] { return ibv_event_type_str(IBV_EVENT_CQ_ERR); });
  without_allocating("ibv_node_type_str", [] { return ibv_node_type_str(IBV_NODE_CA); });
  calls_without_allocating<const char*>("ibv_wr_opcode_str", 0);
  without_allocating("ibv_port_state_str", [] { return ibv_port_state_str(IBV_PORT_ACTIVE); });
  without_allocating("ibv_rate_to_mult", [] { return ibv_rate_to_mult(IBV_RATE_10_GBPS); });
  without_allocating("ibv_rate_to_mbps", [] { return ibv_rate_to_mbps(IBV_RATE_10_GBPS); });
  without_allocating("mult_to_ibv_rate", [] { return mult_to_ibv_rate(4); });
  without_allocating("mbps_to_ibv_rate", [] { return mbps_to_ibv_rate(10000); });
  alignas(16) char from[512] = {}, to[512] = {};
  for (const char* name : {"ibv_copy_ah_attr_from_kern", "ibv_copy_qp_attr_from_kern", "ibv_copy_path_rec_from_kern",
                           "ibv_copy_path_rec_to_kern"}) {
    calls_without_allocating<void>(name, to, from);
  }
}

// What only rdma-core's drivers call.
TEST_CASE("the calls of drivers need no memory" * doctest::skip(!kAllocationsCanFail)) {
  for (const std::string& name : exported_functions("libibverbs.so.1")) {
    if (!name.starts_with("ibv_cmd_") || name == "ibv_cmd_poll_cq" || name.starts_with("ibv_cmd_post")) continue;
    CHECK(calls_without_allocating<int>(name) == EOPNOTSUPP);
  }
  CHECK(calls_without_allocating<int>("ibv_cmd_poll_cq") == -1);
  void* bad = nullptr;
  for (const char* name : {"ibv_cmd_post_send", "ibv_cmd_post_recv", "ibv_cmd_post_srq_recv"}) {
    CHECK(calls_without_allocating<int>(name, nullptr, nullptr, &bad) == EOPNOTSUPP);
  }
  CHECK(calls_without_allocating<void*>("_verbs_init_and_alloc_context", nullptr, -1, std::size_t{0}, nullptr, 0) ==
        nullptr);
  calls_without_allocating<void>("verbs_uninit_context", nullptr);
  for (int number = 34; number < 100; ++number) {
    calls_without_allocating<void>("verbs_register_driver_" + std::to_string(number), nullptr);
  }
  CHECK(calls_without_allocating<void*>("ibv_dmabuf_heap_alloc", nullptr, std::size_t{1}, nullptr) == nullptr);
  CHECK(calls_without_allocating<int>("ibv_dmabuf_heap_cc_shared_init", nullptr) == EOPNOTSUPP);
  calls_without_allocating<void>("ibv_dmabuf_heap_destroy", nullptr);
  calls_without_allocating<void>("ibv_dmabuf_heap_free", nullptr, std::size_t{1}, -1);
  calls_without_allocating<void>("verbs_set_ops", nullptr, nullptr);
  auto* const log = exported<void(void*, std::uint32_t, const char*, ...)>("__verbs_log");
  without_allocating("__verbs_log", [&] { log(nullptr, 0, ""); });
  CHECK(calls_without_allocating<unsigned>("__ioctl_final_num_attrs", 3u, nullptr) == 3);
  CHECK(calls_without_allocating<int>("execute_ioctl", nullptr, nullptr) == EOPNOTSUPP);
}
