// Ports that change while they run, through verbs_soft.h, as a verbs program sees it.
#include <doctest/doctest.h>
#include <poll.h>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

constexpr int kLong = 30'000;  // only a hang takes that long

const std::string kA = local_address(41), kB = local_address(42), kC = local_address(43);

std::string last_error() { return verbs_soft_last_error(); }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

ibv_async_event next_event(const Context& context) {
  pollfd entry{context->async_fd, POLLIN, 0};
  REQUIRE(poll(&entry, 1, kLong) == 1);
  ibv_async_event event{};
  REQUIRE(ibv_get_async_event(context.get(), &event) == 0);
  ibv_ack_async_event(&event);
  return event;
}

ibv_port_attr port_of(const Context& context, std::uint8_t port = 1) {
  ibv_port_attr attr{};
  REQUIRE(ibv_query_port(context.get(), port, &attr) == 0);
  return attr;
}

std::string gid_at(const Context& context, int index) {
  ibv_gid gid{};
  REQUIRE(ibv_query_gid(context.get(), 1, index, &gid) == 0);
  std::string text;
  for (int i = 12; i < 16; ++i) text += (text.empty() ? "" : ".") + std::to_string(gid.raw[i]);
  return text;
}

bool transfer(End& from, End& to) {
  REQUIRE(to.post_recv(0, 64) == 0);
  REQUIRE(from.send(0, 64) == 0);
  return from.poll().status == IBV_WC_SUCCESS && to.poll().status == IBV_WC_SUCCESS;
}

}  // namespace

TEST_CASE("link down changes the port state, raises an event, and ends transfers with a retry error") {
  for (const char* text : {"a;b", "a,link=udp;b,link=udp"}) {
    CAPTURE(text);
    configure(text);
    End a("a"), b("b");
    a.connect(b, 14);  // 8 times 67 ms: a busy machine must not end the first transfer
    b.connect(a);
    CHECK(transfer(a, b));
    REQUIRE(verbs_soft_set_link("b", 1, 0) == 0);
    CHECK(port_of(b.context).state == IBV_PORT_DOWN);
    const ibv_async_event down = next_event(b.context);
    CHECK(down.event_type == IBV_EVENT_PORT_ERR);
    CHECK(down.element.port_num == 1);
    REQUIRE(a.send(0, 64) == 0);
    CHECK(a.poll().status == IBV_WC_RETRY_EXC_ERR);
    REQUIRE(verbs_soft_set_link("b", 0, 1) == 0);
    CHECK(next_event(b.context).event_type == IBV_EVENT_PORT_ACTIVE);
    CHECK(port_of(b.context).state == IBV_PORT_ACTIVE);
    End c("a"), d("b");
    c.connect(d);
    d.connect(c);
    CHECK(transfer(c, d));
  }
  CHECK(verbs_soft_set_link("a", 2, 0) == EINVAL);
  CHECK(has(last_error(), "no port 2"));
  CHECK(verbs_soft_set_link("nobody", 1, 0) == ENODEV);
}

TEST_CASE("a port can be down or have another MTU from the beginning") {
  configure("a,ports=2,state=down,mtu=512");
  {
    const Context context = open_device("a");
    CHECK(port_of(context, 1).state == IBV_PORT_DOWN);
    CHECK(port_of(context, 2).state == IBV_PORT_DOWN);
    CHECK(port_of(context, 2).active_mtu == IBV_MTU_512);
  }
  REQUIRE(verbs_soft_set_link("a", 2, 1) == 0);
  REQUIRE(verbs_soft_set_mtu("a", 1, 2048) == 0);
  const Context context = open_device("a");
  CHECK(port_of(context, 1).state == IBV_PORT_DOWN);
  CHECK(port_of(context, 2).state == IBV_PORT_ACTIVE);
  CHECK(port_of(context, 1).active_mtu == IBV_MTU_2048);
  CHECK(port_of(context, 2).active_mtu == IBV_MTU_512);
  REQUIRE(verbs_soft_set_mtu("a", 0, 256) == 0);
  CHECK(port_of(context, 1).active_mtu == IBV_MTU_256);
  CHECK(port_of(context, 2).active_mtu == IBV_MTU_256);
  CHECK(verbs_soft_set_mtu("a", 1, 1500) == EINVAL);
  CHECK(has(last_error(), "1500"));
}

TEST_CASE("an added GID works at once, also for packets from another device") {
  for (const std::string& text :
       {"a,addr=" + kA + ";b,addr=" + kB, "a,addr=" + kA + ",link=udp;b,addr=" + kB + ",link=udp"}) {
    CAPTURE(text);
    configure(text);
    End a("a"), b("b");
    unsigned int index = 0;
    REQUIRE_MESSAGE(verbs_soft_add_gid("b", 1, kC.c_str(), &index) == 0, last_error());
    CHECK(index == 1);
    CHECK(next_event(b.context).event_type == IBV_EVENT_GID_CHANGE);
    CHECK(gid_at(b.context, 1) == kC);
    CHECK(port_of(b.context).gid_tbl_len >= 2);

    // b answers from its new address, and sleeps until the packet comes.
    End near("a"), far("b", IBV_QPT_RC, true);
    REQUIRE(ibv_query_gid(far.context.get(), 1, 1, &far.gid) == 0);
    near.connect(far, 13);
    far.sgid_index = 1;
    far.connect(near, 13);
    REQUIRE(far.post_recv(0, 64) == 0);
    REQUIRE(ibv_req_notify_cq(far.cq, 0) == 0);
    REQUIRE(near.send(0, 64) == 0);
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    REQUIRE(ibv_get_cq_event(far.channel, &cq, &context) == 0);
    ibv_ack_cq_events(cq, 1);
    CHECK(far.poll().status == IBV_WC_SUCCESS);
    CHECK(near.poll().status == IBV_WC_SUCCESS);

    REQUIRE(verbs_soft_remove_gid("b", 1, kC.c_str()) == 0);
    CHECK(next_event(b.context).event_type == IBV_EVENT_GID_CHANGE);
    CHECK(gid_at(b.context, 1) == "0.0.0.0");
    CHECK(port_of(b.context).gid_tbl_len >= 2);
    REQUIRE(near.send(0, 64) == 0);
    CHECK(near.poll().status == IBV_WC_RETRY_EXC_ERR);
    // What uses the other address is not touched.
    a.connect(b);
    b.connect(a);
    CHECK(transfer(a, b));
    // The address can be claimed again, also by another device.
    REQUIRE(verbs_soft_add_gid("a", 1, kC.c_str(), nullptr) == 0);
  }
}

TEST_CASE("the last GID can go, too, and come back") {
  configure("a,addr=" + kA + ";b,addr=" + kB);
  End a("a"), b("b");
  a.connect(b);
  b.connect(a);
  REQUIRE(verbs_soft_remove_gid("a", 1, kA.c_str()) == 0);
  CHECK(gid_at(a.context, 0) == "0.0.0.0");
  REQUIRE(b.post_recv(0, 64) == 0);
  REQUIRE(a.send(0, 64) == 0);
  REQUIRE(verbs_soft_add_gid("a", 1, kA.c_str(), nullptr) == 0);
  CHECK(gid_at(a.context, 0) == kA);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  CHECK(b.poll().status == IBV_WC_SUCCESS);
}

TEST_CASE("addresses that cannot be added or removed") {
  configure("a,addr=" + kA + ";b,addr=" + kB);
  CHECK(verbs_soft_add_gid("a", 1, kC.c_str(), nullptr) == ENOTCONN);
  CHECK(has(last_error(), "not open"));
  const Context a = open_device("a"), b = open_device("b");
  CHECK(verbs_soft_add_gid("a", 1, "192.0.2.1", nullptr) == EADDRNOTAVAIL);
  CHECK(has(last_error(), "192.0.2.1"));
  CHECK(verbs_soft_add_gid("a", 1, kB.c_str(), nullptr) == EADDRINUSE);
  CHECK(verbs_soft_add_gid("a", 1, kA.c_str(), nullptr) == EADDRINUSE);
  CHECK(verbs_soft_add_gid("a", 1, "somewhere", nullptr) == EINVAL);
  CHECK(has(last_error(), "somewhere"));
  CHECK(verbs_soft_add_gid("a", 1, "224.0.0.1", nullptr) == EINVAL);
  CHECK(verbs_soft_add_gid("a", 2, kC.c_str(), nullptr) == EINVAL);
  CHECK(verbs_soft_remove_gid("a", 1, kB.c_str()) == ENOENT);
  CHECK(has(last_error(), kB));
  for (int i = 0; i < 15; ++i) {
    REQUIRE(verbs_soft_add_gid("a", 1, local_address(101 + i).c_str(), nullptr) == 0);
  }
  CHECK(verbs_soft_add_gid("a", 1, local_address(116).c_str(), nullptr) == ENOSPC);
  CHECK(has(last_error(), "full"));
  CHECK(verbs_soft_add_gid("b", 1, local_address(116).c_str(), nullptr) == 0);  // it was given back
}

TEST_CASE("addresses change under a capture and a fault plan, which go on") {
  configure("a,addr=" + kA + ";b,addr=" + kB + ",fault=drop:opcode=rc_acknowledge:nth=1");
  End a("a"), b("b");
  a.connect(b, 12);
  b.connect(a, 12);
  CHECK(transfer(a, b));
  REQUIRE(verbs_soft_add_gid("b", 1, kC.c_str(), nullptr) == 0);
  CHECK(transfer(a, b));
  CHECK(counter("b", "fault_dropped") == 1);  // a plan that began anew would have dropped another one
  struct Rules {
    std::vector<std::string> texts;
    std::uint64_t hits = 0;
  } rules;
  std::uint64_t seed = 0;
  const auto rule = [](void* data, const char* text, std::uint64_t matched, std::uint64_t hits) {
    auto* all = static_cast<Rules*>(data);
    CHECK(matched >= hits);
    all->texts.emplace_back(text);
    all->hits += hits;
  };
  REQUIRE(verbs_soft_get_faults("b", &seed, rule, &rules) == 0);
  CHECK(seed == 1);
  CHECK(rules.texts == std::vector<std::string>{"drop:opcode=rc_acknowledge:nth=1"});
  CHECK(rules.hits == 1);
  CHECK(verbs_soft_get_faults("nobody", &seed, rule, &rules) == ENODEV);
}

TEST_CASE("a device that fails raises an event in every context, and its work is flushed") {
  configure("a;b");
  CHECK(verbs_soft_fail("a") == ENOTCONN);
  End a("a"), b("b");
  const Context other = open_device("a");
  a.connect(b);
  b.connect(a);
  REQUIRE(a.post_recv(0, 64) == 0);
  REQUIRE(verbs_soft_fail("a") == 0);
  CHECK(a.poll().status == IBV_WC_WR_FLUSH_ERR);
  CHECK(next_event(a.context).event_type == IBV_EVENT_DEVICE_FATAL);
  CHECK(next_event(other).event_type == IBV_EVENT_DEVICE_FATAL);
}
