// A vendor's model plugs in: the toy of toy_model.c, which links nothing of ours.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "include/verbs_soft_extension.h"
#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

const std::string kToy = std::string(",kind=toy,model=") + VERBS_TOY_MODEL;

std::vector<std::string> listed() {
  std::vector<std::string> names;
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  REQUIRE(list);
  names.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) names.emplace_back(ibv_get_device_name(list[i]));
  ibv_free_device_list(list);
  return names;
}

}  // namespace

TEST_CASE("a device without its model is left out, with the reason") {
  configure("real0;strange0,kind=strange;gone0,kind=gone,model=/no/such/library.so");
  CHECK(listed() == std::vector<std::string>{"real0"});
  const std::string reason = verbs_soft_last_error();
  CHECK(reason.find("strange0") != std::string::npos);
  CHECK(reason.find("kind strange") != std::string::npos);
  CHECK(reason.find("/no/such/library.so") != std::string::npos);
  // Each begins in the same way, whatever refused the device: @verbs/core tells them apart by it.
  CHECK(reason.starts_with("device strange0 is left out: no model of kind strange is loaded"));
  CHECK(reason.find("; device gone0 is left out: ") != std::string::npos);
}

TEST_CASE("a model describes its devices, reads its options and changes its contexts") {
  configure("t0,part=9" + kToy + ";t1,max_qp=5,kind=toy");
  CHECK(listed() == std::vector<std::string>{"t0", "t1"});
  const verbs_soft_extension_table* soft = verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION);
  const Context t0 = open_device("t0"), t1 = open_device("t1");
  ibv_device_attr attr;
  REQUIRE(ibv_query_device(t0.get(), &attr) == 0);
  CHECK(attr.vendor_id == 0x70ff);
  CHECK(attr.vendor_part_id == 9);
  CHECK(attr.phys_port_cnt == 2);
  CHECK(attr.max_qp == 100);
  REQUIRE(ibv_query_device(t1.get(), &attr) == 0);
  CHECK(attr.vendor_part_id == 7);
  CHECK(attr.max_qp == 5);
  char text[64];
  CHECK(ibv_read_sysfs_file(t0->device->ibdev_path, "board_id", text, sizeof text) > 0);
  CHECK(std::string(text) == "TOY_BOARD");
  ibv_gid first, second;
  REQUIRE(ibv_query_gid(t0.get(), 1, 0, &first) == 0);
  REQUIRE(ibv_query_gid(t0.get(), 2, 0, &second) == 0);
  CHECK(std::memcmp(&first, &second, sizeof first) != 0);

  ibv_values_ex values{};
  CHECK(verbs_get_ctx(t0.get())->query_rt_values(t0.get(), &values) == 0);
  CHECK(values.raw_clock.tv_sec == 4711);
  const auto* number = static_cast<const int*>(soft->get_data(t1.get(), VERBS_SOFT_CONTEXT));
  REQUIRE(number);
  CHECK(*number == 2);
  CHECK(std::string(soft->device_kind(t0->device)) == "toy");
  CHECK(std::string(soft->device_option(t0->device, "part")) == "9");
  CHECK(soft->device_option(t1->device, "part") == nullptr);
  ibv_device foreign{};
  CHECK(soft->device_kind(&foreign) == nullptr);
  // The toy changes frames, at all times.
  CHECK(soft->watch_frames(t0.get(), 1) == EOPNOTSUPP);
}

TEST_CASE("a device whose model sees the frames knows where no route leads") {
  configure("t0,ports=1,link=udp" + kToy);
  End a("t0");
  CHECK(a.route_to_nowhere() == ENETUNREACH);
}

TEST_CASE("a model holds the objects of its caller, and rejects those that are not live") {
  configure("r0");
  const verbs_soft_extension_table* soft = verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION);
  ibv_context* context = open_device("r0").release();
  ibv_pd* pd = ibv_alloc_pd(context);
  ibv_cq* cq = ibv_create_cq(context, 4, nullptr, nullptr, 0);
  int calls = 0;
  const auto hold = [&](std::vector<verbs_soft_use> uses, void (*call)(void*)) {
    return soft->with_objects(uses.data(), uses.size(), call, &calls);
  };
  const auto count = [](void* data) { ++*static_cast<int*>(data); };
  CHECK(hold({}, count) == 0);
  CHECK(hold({{VERBS_SOFT_CONTEXT, context}, {VERBS_SOFT_PD, pd}, {VERBS_SOFT_CQ, cq}}, count) == 0);
  CHECK(calls == 2);
  CHECK(hold({{VERBS_SOFT_CONTEXT, pd}}, count) == EOPNOTSUPP);
  CHECK(hold({{VERBS_SOFT_CONTEXT, nullptr}}, count) == EOPNOTSUPP);
  CHECK(hold({{VERBS_SOFT_PD, cq}}, count) == EINVAL);
  CHECK(hold({{VERBS_SOFT_PD, pd}, {VERBS_SOFT_QP, &calls}}, count) == EINVAL);
  ++pd->handle;
  CHECK(hold({{VERBS_SOFT_PD, pd}}, count) == EINVAL);
  --pd->handle;
  CHECK(hold(std::vector<verbs_soft_use>(8, {VERBS_SOFT_PD, pd}), count) == 0);
  CHECK(hold(std::vector<verbs_soft_use>(9, {VERBS_SOFT_PD, pd}), count) == EINVAL);
  CHECK(calls == 3);
  // Held objects cannot be destroyed, and a context waits for the calls on it before its model forgets it.
  struct Busy {
    ibv_pd* pd;
    int error;
  } busy{pd, 0};
  const verbs_soft_use use{VERBS_SOFT_PD, pd};
  const auto destroy = [](void* data) {
    auto* held = static_cast<Busy*>(data);
    held->error = ibv_dealloc_pd(held->pd);
  };
  CHECK(soft->with_objects(&use, 1, destroy, &busy) == 0);
  CHECK(busy.error == EBUSY);
  std::atomic<bool> closed{false};
  struct Waiting {
    ibv_context* context;
    std::atomic<bool>* closed;
    std::thread closer;
    bool early;
  } waiting{context, &closed, {}, true};
  const auto close_meanwhile = [](void* data) {
    auto* held = static_cast<Waiting*>(data);
    held->closer = std::thread([held] {
      ibv_close_device(held->context);
      *held->closed = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    held->early = *held->closed;
  };
  CHECK(soft->with_objects(&use, 1, close_meanwhile, &waiting) == 0);
  waiting.closer.join();
  CHECK_FALSE(waiting.early);
  CHECK(hold({{VERBS_SOFT_CONTEXT, context}}, count) == EOPNOTSUPP);
  CHECK(hold({{VERBS_SOFT_PD, pd}}, count) == EINVAL);
}

TEST_CASE("wrong options and a refusal of the model leave a device out") {
  configure("t,colour=red" + kToy + ";u,part=13,kind=toy;v,kind=toy");
  CHECK(listed() == std::vector<std::string>{"v"});
  const std::string reason = verbs_soft_last_error();
  CHECK(reason.find("unknown option colour; kind toy has part") != std::string::npos);
  CHECK(reason.find("device u") != std::string::npos);
}

TEST_CASE("a model that is loaded brings its default device on demand") {
  const verbs_soft_extension_table* soft = verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION);
  configure("t" + kToy);
  listed();
  configure("soft0");
  CHECK(soft->ensure_device("toy") == 0);
  CHECK(soft->ensure_device("toy") == 0);
  CHECK(listed() == std::vector<std::string>{"soft0", "toy0"});
  configure("soft0;*,mtu=512");
  CHECK(soft->ensure_device("toy") == 0);
  CHECK(listed() == std::vector<std::string>{"soft0", "toy0"});
  for (const char* name : {"soft0", "toy0"}) {
    const Context context = open_device(name);
    ibv_port_attr port;
    REQUIRE(ibv_query_port(context.get(), 1, &port) == 0);
    CHECK(port.active_mtu == IBV_MTU_512);
  }
  CHECK(soft->ensure_device("strange") == ENODEV);
  static const verbs_soft_model again{.kind = "toy",
                                      .default_device = "x",
                                      .defaults = nullptr,
                                      .option_names = nullptr,
                                      .data = nullptr,
                                      .init_device = nullptr,
                                      .open_context = nullptr,
                                      .close_context = nullptr,
                                      .egress = nullptr,
                                      .ingress = nullptr,
                                      .reopen_context = nullptr,
                                      .keep_context = nullptr,
                                      .tunnels = 0,
                                      .raw_send = nullptr,
                                      .raw_receive = nullptr,
                                      .raw_packet_caps = 0};
  CHECK(soft->register_model(&again) == EEXIST);
}

TEST_CASE("a model rewrites the frames of its devices: they understand each other, a plain device does not") {
  configure("t0" + kToy + ",ports=1;t1,kind=toy,ports=1;plain0");
  End a("t0"), b("t1"), c("plain0");
  a.connect(b);
  b.connect(a);
  std::memcpy(a.memory.data(), "through the toy", 16);
  REQUIRE(b.post_recv(0, 8192) == 0);
  REQUIRE(a.send(0, 8192) == 0);
  CHECK(b.poll().byte_len == 8192);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  CHECK(std::memcmp(b.memory.data(), "through the toy", 16) == 0);

  End d("t0");
  d.connect(c, 1);
  c.connect(d, 1);
  REQUIRE(c.post_recv(0, 64) == 0);
  REQUIRE(d.send(0, 64) == 0);
  CHECK(d.poll().status == IBV_WC_RETRY_EXC_ERR);
}

TEST_CASE("a model gives a queue pair a number that its peers know beforehand") {
  const verbs_soft_extension_table* soft = verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION);
  configure("s0;s1");
  constexpr std::uint32_t kKnown = 0xd0ca00;
  End a("s0"), b("s1"), c("s1");
  CHECK(soft->set_qp_num(a.qp, 17) == EINVAL);
  CHECK(soft->set_qp_num(a.qp, 0xffffff) == EINVAL);
  REQUIRE(soft->set_qp_num(b.qp, kKnown) == 0);
  CHECK(soft->set_qp_num(c.qp, kKnown) == EADDRINUSE);
  CHECK(b.qp->qp_num == kKnown);
  a.connect(b);
  b.connect(a);
  CHECK(soft->set_qp_num(b.qp, kKnown + 1) == EINVAL);
  REQUIRE(b.post_recv(0, 64) == 0);
  REQUIRE(a.send(0, 64) == 0);
  CHECK(b.poll().qp_num == kKnown);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  REQUIRE(ibv_destroy_qp(b.qp) == 0);
  b.qp = nullptr;
  CHECK(soft->set_qp_num(c.qp, kKnown) == 0);
}
