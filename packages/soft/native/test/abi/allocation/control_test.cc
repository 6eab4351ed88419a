// Without memory: the control functions of verbs_soft.h, and the table for models.
#include <cstdlib>

#include "include/verbs_soft_extension.h"
#include "test/abi/support/device_pair.h"
#include "test/abi/support/failing_object.h"

using namespace verbs::soft::test;

namespace {

// Counts what a callback is given.
struct Count {
  int calls = 0;
};
template <typename... Arguments>
void count(void* data, Arguments...) {
  ++static_cast<Count*>(data)->calls;
}

}  // namespace

TEST_CASE("a configuration without memory" * doctest::skip(!kAllocationsCanFail)) {
  const std::string text = "x0,addr=" + local_address(1) + ",drop=0.1,seed=3,capture=/nowhere;y0,mtu=256";
  configure("before");
  until_it_succeeds("verbs_soft_configure", [&] { return verbs_soft_configure(text.c_str()); });
  const auto undo = [&](auto) { configure(text); };
  until_it_succeeds("verbs_soft_add_devices", [] { return verbs_soft_add_devices("z0,mtu=512;z1"); }, undo);
  until_it_has_memory("verbs_soft_device_name", [] { verbs_soft_device_name(3); });
  int devices = 0;
  while (verbs_soft_device_name(static_cast<unsigned>(devices))) ++devices;
  CHECK(devices == 4);
  CHECK(std::string(verbs_soft_device_name(3)) == "z1");
  // An error has its text, or is ENOMEM.
  until_it_has_memory("verbs_soft_configure", [] { verbs_soft_configure("x0,mtu=3"); });
  without_allocating("verbs_soft_last_error", [] { return verbs_soft_last_error(); });
  CHECK(std::string(verbs_soft_last_error()).find("mtu") != std::string::npos);
}

TEST_CASE("a device is controlled without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(1));
  for (const bool open : {false, true}) {
    CAPTURE(open);
    const Context context = open ? open_device("x0") : nullptr;
    Count counters, files, rules;
    until_it_succeeds("verbs_soft_stats", [&] { return verbs_soft_stats("x0", count, &counters); });
    CHECK(counters.calls > 0);
    Count events;
    until_it_succeeds("verbs_soft_reasons", [&] { return verbs_soft_reasons("x0", count, &events); });
    until_it_succeeds("verbs_soft_sysfs", [&] { return verbs_soft_sysfs("x0", count, &files); });
    CHECK(files.calls > 0);
    until_it_succeeds(
        "verbs_soft_set_faults",
        [] { return verbs_soft_set_faults("x0", "drop=0.1,seed=3,fault=drop:opcode=rc_send_only:nth=3"); },
        [](int) { verbs_soft_set_faults("x0", ""); });
    std::uint64_t seed = 0;
    until_it_succeeds("verbs_soft_get_faults", [&] { return verbs_soft_get_faults("x0", &seed, count, &rules); });
    CHECK(rules.calls > 0);
    REQUIRE(verbs_soft_set_faults("x0", "") == 0);
    until_it_succeeds("verbs_soft_set_mtu", [] { return verbs_soft_set_mtu("x0", 1, 512); });
    char folder[] = "/tmp/verbs-soft-memory-XXXXXX";
    REQUIRE(mkdtemp(folder));
    const std::string path = std::string(folder) + "/%d-%p.pcapng";
    until_it_succeeds(
        "verbs_soft_capture_start", [&] { return verbs_soft_capture_start("x0", path.c_str(), 0, 0); },
        [](int) { verbs_soft_capture_stop("x0"); });
    until_it_succeeds("verbs_soft_capture_stop", [] { return verbs_soft_capture_stop("x0"); });
    const std::string remove = "rm -r " + std::string(folder);
    CHECK(std::system(remove.c_str()) == 0);
  }
}

TEST_CASE("a port is controlled without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(1));
  const Context context = open_device("x0");
  for (const int up : {0, 1}) {
    until_it_succeeds(
        "verbs_soft_set_link", [&] { return verbs_soft_set_link("x0", 1, up); },
        [&](int) { verbs_soft_set_link("x0", 1, 1 - up); });
  }
  const std::string address = local_address(9);
  until_it_succeeds(
      "verbs_soft_add_gid", [&] { return verbs_soft_add_gid("x0", 1, address.c_str(), nullptr); },
      [&](int) { CHECK(verbs_soft_remove_gid("x0", 1, address.c_str()) == 0); });
  until_it_succeeds(
      "verbs_soft_remove_gid", [&] { return verbs_soft_remove_gid("x0", 1, address.c_str()); },
      [&](int) { CHECK(verbs_soft_add_gid("x0", 1, address.c_str(), nullptr) == 0); });
  until_it_succeeds("verbs_soft_fail", [] { return verbs_soft_fail("x0"); }, [](int) {});
  Count processes;
  until_it_succeeds("verbs_soft_processes", [&] { return verbs_soft_processes(count, &processes); }, [](int) {});
}

TEST_CASE("the table for models without memory" * doctest::skip(!kAllocationsCanFail)) {
  const auto* const soft =
      without_allocating("verbs_soft_extension", [] { return verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION); });
  REQUIRE(soft);
  configure("x0,addr=" + local_address(1));
  const Context owner = open_device("x0");
  ibv_context* const context = owner.get();
  static verbs_soft_model model{};
  model.kind = "poor";
  model.default_device = "poor_model_with_a_long_name0";
  until_it_succeeds("register_model", [&] { return soft->register_model(&model); });
  without_allocating("device_kind", [&] { return soft->device_kind(context->device); });
  without_allocating("device_kind", [&] { return soft->device_kind(nullptr); });
  until_it_has_memory("device_option", [&] { soft->device_option(context->device, "an_option_with_a_long_name"); });
  until_it_has_memory("counter", [&] { soft->counter(context->device, "a_counter_with_a_long_name"); });
  ibv_pd* const pd = ibv_alloc_pd(context);
  const verbs_soft_use use{.type = VERBS_SOFT_PD, .object = pd};
  without_allocating("with_objects", [&] { return soft->with_objects(&use, 1, [](void*) {}, nullptr); });
  without_allocating("set_data", [&] { soft->set_data(pd, VERBS_SOFT_PD, nullptr, nullptr); });
  without_allocating("get_data", [&] { return soft->get_data(pd, VERBS_SOFT_PD); });
  without_allocating("verbs", [&] { return soft->verbs(context); });
  ibv_async_event event{};
  event.event_type = IBV_EVENT_DEVICE_FATAL;
  until_it_has_memory("raise_event", [&] { soft->raise_event(context, &event); });  // lost, as in the kernel
  std::uint8_t mac[6];
  without_allocating("port_mac", [&] { return soft->port_mac(context->device, 1, mac); });
  without_allocating("frame_limit", [&] { return soft->frame_limit(context->device, 1); });
  until_it_succeeds("lock_device", [&] { return soft->lock_device(context); });
  without_allocating("unlock_device", [&] { soft->unlock_device(context); });
  static char watched[4096];
  const auto ignore = [](void*, void*, void*) { return 0; };
  until_it_succeeds(
      "watch_faults", [&] { return soft->watch_faults(watched, sizeof watched, ignore, nullptr); },
      [&](int) { CHECK(soft->unwatch_faults(watched) == 0); });
  until_it_succeeds("unwatch_faults", [&] { return soft->unwatch_faults(watched); });
  REQUIRE(ibv_dealloc_pd(pd) == 0);
}

TEST_CASE("a model's default device without memory" * doctest::skip(!kAllocationsCanFail)) {
  const auto* const soft = verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION);
  configure("x0");
  static verbs_soft_model model{};
  model.kind = "poor2";
  model.default_device = "poor2_model_with_a_long_name0";
  REQUIRE(soft->register_model(&model) == 0);
  until_it_succeeds("ensure_device", [&] { return soft->ensure_device("poor2"); });
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  CHECK(count == 2);
  ibv_free_device_list(list);
}
