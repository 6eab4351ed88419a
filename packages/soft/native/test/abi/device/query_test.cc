// The queries of a device.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

TEST_CASE("the GUID of a device is one for all processes that have it, and another one at other addresses") {
  const auto guid_of = [](const std::string& configuration) {
    configure(configuration);
    ibv_device** list = ibv_get_device_list(nullptr);
    REQUIRE(list);
    const __be64 guid = ibv_get_device_guid(list[0]);
    ibv_free_device_list(list);
    return guid;
  };
  const __be64 guid = guid_of("first");
  CHECK(guid_of("second") != guid);
  CHECK(guid_of("first,addr=127.0.0.9") != guid);
  CHECK(guid_of("first") == guid);
  const pid_t child = fork();
  if (child == 0) _exit(guid_of("first") == guid ? 0 : 1);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("listing claims no address; opening does, and closing releases it") {
  configure("first;second");
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  REQUIRE(list);
  REQUIRE(count == 2);
  CHECK(list[2] == nullptr);
  CHECK(std::string(ibv_get_device_name(list[0])) == "first");
  CHECK(ibv_get_device_guid(list[0]) != ibv_get_device_guid(list[1]));
  CHECK((be64toh(ibv_get_device_guid(list[0])) >> 56) == 0x02);
  CHECK(ibv_get_device_index(list[0]) == -1);
  const auto* bytes = reinterpret_cast<const unsigned char*>(list[0]);
  for (std::size_t i = 0; i < 256; ++i) CHECK(bytes[sizeof(ibv_device) + i] == 0);
  ibv_gid gid[3];
  for (int turn = 0; turn < 2; ++turn) {
    Context a(ibv_open_device(list[0])), b(ibv_open_device(list[1])), again(ibv_open_device(list[0]));
    REQUIRE((a && b && again));
    REQUIRE(ibv_query_gid(a.get(), 1, 0, &gid[0]) == 0);
    REQUIRE(ibv_query_gid(b.get(), 1, 0, &gid[1]) == 0);
    REQUIRE(ibv_query_gid(again.get(), 1, 0, &gid[2]) == 0);
    CHECK(std::memcmp(&gid[0], &gid[1], sizeof gid[0]) != 0);
    CHECK(std::memcmp(&gid[0], &gid[2], sizeof gid[0]) == 0);
    CHECK(gid[0].raw[10] == 0xff);
    CHECK(gid[0].raw[12] == 127);
  }
  ibv_free_device_list(list);
}

TEST_CASE("an old list does no harm after a new configuration") {
  configure("old0");
  ibv_device** list = ibv_get_device_list(nullptr);
  REQUIRE(list);
  configure("new0");
  CHECK(ibv_open_device(list[0]) == nullptr);
  CHECK(errno == ENODEV);
  CHECK(std::string(ibv_get_device_name(list[0])) == "old0");
  ibv_free_device_list(list);
}

TEST_CASE("a wrong VERBS_SOFT is EINVAL with a reason") {
  setenv("VERBS_SOFT", "soft0,mtu=7", 1);
  CHECK(verbs_soft_configure(nullptr) == EINVAL);
  int count = 1;
  errno = 0;
  CHECK(ibv_get_device_list(&count) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(count == 0);
  CHECK(std::string(verbs_soft_last_error()).find("mtu=7") != std::string::npos);
  unsetenv("VERBS_SOFT");
  configure(nullptr);
  CHECK(std::string(verbs_soft_device_name(0)) == "soft0");
  CHECK(verbs_soft_device_name(1) == nullptr);
}

TEST_CASE("device, port, GID and P_Key queries") {
  configure("q0,mtu=1024,max_qp=77,link=process,addr=127.0.0.77,addr=::1");
  const Context context = open_device("q0");
  ibv_device_attr_ex attr{};
  REQUIRE(ibv_query_device_ex(context.get(), nullptr, &attr) == 0);
  CHECK(attr.orig_attr.max_qp == 77);
  CHECK(attr.orig_attr.phys_port_cnt == 1);
  CHECK(attr.phys_port_cnt_ex == 1);
  CHECK(attr.orig_attr.node_guid == ibv_get_device_guid(context->device));
  ibv_query_device_ex_input input{.comp_mask = 1};
  CHECK(ibv_query_device_ex(context.get(), &input, &attr) == EINVAL);

  ibv_port_attr port{};
  REQUIRE(ibv_query_port(context.get(), 1, &port) == 0);
  CHECK(port.state == IBV_PORT_ACTIVE);
  CHECK(port.active_mtu == IBV_MTU_1024);
  CHECK(port.link_layer == IBV_LINK_LAYER_ETHERNET);
  CHECK((port.flags & IBV_QPF_GRH_REQUIRED));
  CHECK(ibv_query_port(context.get(), 0, &port) == EINVAL);
  CHECK(ibv_query_port(context.get(), 2, &port) == EINVAL);

  ibv_gid_entry entries[4];
  CHECK(ibv_query_gid_table(context.get(), entries, 4, 0) == 2);
  CHECK(entries[0].gid.raw[15] == 77);
  CHECK(entries[0].gid_type == IBV_GID_TYPE_ROCE_V2);
  CHECK(entries[1].gid.raw[15] == 1);
  CHECK(entries[1].gid_index == 1);
  CHECK(ibv_query_gid_table(context.get(), entries, 1, 0) == -EINVAL);
  CHECK(ibv_query_gid_ex(context.get(), 1, 1, entries, 0) == 0);
  CHECK(ibv_query_gid_ex(context.get(), 1, 5000, entries, 0) != 0);
  CHECK(ibv_query_gid_ex(context.get(), 1, 0, entries, 1) == EINVAL);
  CHECK(ibv_query_gid_table(context.get(), entries, 4, 1) == -EINVAL);
  CHECK(_ibv_query_gid_ex(context.get(), 1, 0, entries, 0, 0) == EINVAL);
  ibv_gid gid;
  CHECK(ibv_query_gid(context.get(), 1, -1, &gid) == -1);

  __be16 pkey = 0;
  CHECK(ibv_query_pkey(context.get(), 1, 0, &pkey) == 0);
  CHECK(pkey == 0xffff);
  CHECK(ibv_get_pkey_index(context.get(), 1, pkey) == 0);
  CHECK(ibv_get_pkey_index(context.get(), 1, 5) == -1);
}

TEST_CASE("the extended query fills the fields that the caller's structure has") {
  configure("q0");
  const Context context = open_device("q0");
  verbs_context* verbs = verbs_get_ctx(context.get());
  ibv_device_attr_ex attr{};
  REQUIRE(verbs->query_device_ex(context.get(), nullptr, &attr, sizeof attr) == 0);
  CHECK(attr.completion_timestamp_mask == UINT64_MAX);
  CHECK(attr.hca_core_clock == 1'000'000);
  CHECK(attr.cq_mod_caps.max_cq_period == UINT16_MAX);
  CHECK(attr.tso_caps.max_tso == 0);
  CHECK(attr.rss_caps.supported_qpts == 1u << IBV_QPT_RAW_PACKET);
  CHECK(attr.packet_pacing_caps.qp_rate_limit_max == 0);

  struct {
    ibv_device_attr_ex attr;
    unsigned char behind[64];
  } larger;
  std::memset(&larger, 0x55, sizeof larger);
  REQUIRE(verbs->query_device_ex(context.get(), nullptr, &larger.attr, sizeof larger) == 0);
  CHECK(larger.behind[0] == 0);
  CHECK(larger.behind[63] == 0);
  std::memset(&larger, 0x55, sizeof larger);
  const std::size_t older = offsetof(ibv_device_attr_ex, completion_timestamp_mask);
  REQUIRE(verbs->query_device_ex(context.get(), nullptr, &larger.attr, older) == 0);
  CHECK(larger.attr.odp_caps.general_caps == attr.odp_caps.general_caps);
  CHECK(larger.attr.completion_timestamp_mask == 0x5555555555555555);
  CHECK(verbs->query_device_ex(context.get(), nullptr, &attr, sizeof(ibv_device_attr)) == EINVAL);
}

TEST_CASE("the raw clock runs in ticks of completion timestamps") {
  configure("q0");
  const Context context = open_device("q0");
  ibv_values_ex values{.comp_mask = IBV_VALUES_MASK_RAW_CLOCK, .raw_clock = {}};
  REQUIRE(ibv_query_rt_values_ex(context.get(), &values) == 0);
  const auto first = values.raw_clock.tv_nsec;
  CHECK(values.comp_mask == IBV_VALUES_MASK_RAW_CLOCK);
  CHECK(values.raw_clock.tv_sec == 0);
  REQUIRE(ibv_query_rt_values_ex(context.get(), &values) == 0);
  CHECK(values.raw_clock.tv_nsec > first);
  values.comp_mask = IBV_VALUES_MASK_RESERVED;
  CHECK(ibv_query_rt_values_ex(context.get(), &values) == EINVAL);
}

TEST_CASE("calls for features that a queue pair lacks fail") {
  configure("q0");
  End end("q0");
  ibv_ece ece{.vendor_id = 1, .options = 2, .comp_mask = 3};
  CHECK(ibv_query_ece(end.qp, &ece) == EOPNOTSUPP);
  CHECK(ece.options == 0);
  CHECK(ibv_set_ece(end.qp, &ece) == EOPNOTSUPP);
  CHECK(ibv_query_qp_data_in_order(end.qp, IBV_WR_RDMA_WRITE, 0) == 0);
  ibv_qp_rate_limit_attr rate{.rate_limit = 1000, .max_burst_sz = 0, .typical_pkt_sz = 0, .comp_mask = 0};
  CHECK(ibv_modify_qp_rate_limit(end.qp, &rate) == EOPNOTSUPP);
}

TEST_CASE("the files that programs read in the device's folder") {
  configure("files0");
  const Context context = open_device("files0");
  const char* folder = context->device->ibdev_path;
  char text[64];
  CHECK(ibv_read_sysfs_file(folder, "board_id", text, sizeof text) == 10);
  CHECK(std::string(text) == "VERBS_SOFT");
  CHECK(ibv_read_sysfs_file(folder, "node_guid", text, sizeof text) == 19);
  CHECK(ibv_read_sysfs_file(folder, "board_id", text, 4) == 4);
  CHECK(std::string(text) == "VER");
  CHECK(ibv_read_sysfs_file(folder, "nothing", text, sizeof text) == -1);
  CHECK(ibv_read_sysfs_file("/proc/sys/kernel", "ostype", text, sizeof text) == 5);
  CHECK(std::string(text) == "Linux");
  CHECK(ibv_read_sysfs_file("/proc/sys/kernel", "no-such-file", text, sizeof text) == -1);
}

TEST_CASE("each file that a device lists is read by its name, with the same content") {
  using Files = std::map<std::string, std::string>;
  const auto note = [](void* files, const char* path, const char* content) {
    static_cast<Files*>(files)->emplace(path, content);
  };
  for (const char* configuration : {"files0", "files0,ports=2"}) {
    CAPTURE(configuration);
    configure(configuration);
    const Context context = open_device("files0");
    Files files;
    REQUIRE(verbs_soft_sysfs("files0", note, &files) == 0);
    CHECK(files.size() > 30);
    CHECK(files.count("ports/1/gids/0") == 1);
    CHECK(files.count("parent") == 1);
    for (const auto& [path, content] : files) {
      CAPTURE(path);
      char text[256];
      const int length = ibv_read_sysfs_file(context->device->ibdev_path, path.c_str(), text, sizeof text);
      CHECK((length < 0 ? std::string() : text + std::string("\n")) == content);
    }
  }
}

TEST_CASE("the error of an address that is not local, or taken, names the cause") {
  configure("far0,addr=192.0.2.1");
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  REQUIRE(count == 1);
  CHECK(ibv_open_device(list[0]) == nullptr);
  CHECK(errno == EADDRNOTAVAIL);
  CHECK(std::string(verbs_soft_last_error()).find("192.0.2.1 is not one of this machine") != std::string::npos);
  ibv_free_device_list(list);

  configure("a,addr=" + local_address(99) + ";b,addr=" + local_address(99) + ",link=udp");
  const Context first = open_device("a");
  list = ibv_get_device_list(&count);
  REQUIRE(count == 2);
  CHECK(ibv_open_device(list[1]) == nullptr);
  CHECK(errno == EADDRINUSE);
  const std::string text = verbs_soft_last_error();
  CAPTURE(text);
  CHECK(text.find("process " + std::to_string(getpid())) != std::string::npos);
  ibv_free_device_list(list);
}
