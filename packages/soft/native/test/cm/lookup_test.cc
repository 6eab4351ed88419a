// Lookups of datagram services, and which listener gets a request.
#include <cerrno>

#include "test/cm/cm_network.h"

namespace verbs::soft::cm {

TEST_CASE("a lookup gets the queue pair and key, also if each message is lost once, and is asked once") {
  for (const Attribute lost : {Attribute::kSidrReq, Attribute::kSidrRep}) {
    Network network;
    network.listen(kService, true);
    int left = 1;
    network.drops = [&](const Mad& mad) { return Network::attribute_of(mad) == lost && left-- > 0; };
    const std::uint32_t id = network.lookup();
    network.run(500 * kMs);
    const Node::Heard* asked = network.server.last(VERBS_SOFT_CM_LOOKUP);
    REQUIRE(asked);
    CHECK(asked->data == "who");
    CHECK(asked->event.ip.source_port == 40000);
    CHECK(network.server.manager.answer(asked->event.connection, 0, 55, 0x1234567, text("me"), network.now) == 0);
    network.run(2000 * kMs);
    const Node::Heard* reply = network.client.last(VERBS_SOFT_CM_LOOKUP_REPLY);
    REQUIRE(reply);
    CHECK(reply->event.status == 0);
    CHECK(reply->event.qp_num == 55);
    CHECK(reply->event.qkey == 0x1234567);
    CHECK(reply->data == "me");
    CHECK(network.server.count(VERBS_SOFT_CM_LOOKUP) == 1);
    CHECK(network.client.heard.size() == 1);
    network.client.manager.release(id, network.now);
    network.server.manager.release(asked->event.connection, network.now);
    network.run(10'000 * kMs);
    CHECK(network.client.manager.size() == 0);
    CHECK(network.server.manager.size() == 0);
  }
}

TEST_CASE("a lookup is rejected, unknown or unanswered") {
  Network network;
  network.lookup();
  network.run(200 * kMs);
  CHECK(network.client.heard.at(0).event.status == SidrRep::kUnsupported);
  network.listen();  // connections only
  network.lookup();
  network.run(200 * kMs);
  CHECK(network.client.heard.at(1).event.status == SidrRep::kUnsupported);
  network.listen(kService, true);
  network.lookup();
  network.run(kMs);
  CHECK(network.server.manager.reject(network.server.heard.at(0).event.connection, 28, {}, network.now) == 0);
  network.run(kMs);
  CHECK(network.client.heard.at(2).event.status == SidrRep::kRejected);
  network.drops = [](const Mad&) { return true; };
  network.lookup();
  network.run(20'000 * kMs);
  CHECK(network.client.heard.at(3).event.type == VERBS_SOFT_CM_UNREACHABLE);
}

TEST_CASE("a listener of the address itself comes before one of all addresses, and families are kept apart") {
  Listeners listeners;
  int any = 0, own = 0, v6 = 0;
  std::uint32_t number = 0;
  verbs_soft_cm_listen_attr attr{};
  attr.service_id = 5;
  attr.families = 4;
  CHECK(listeners.add(attr, {nullptr, &any}, &number) == 0);
  CHECK(listeners.add(attr, {nullptr, &any}, &number) == EADDRINUSE);
  attr.families = 6;
  CHECK(listeners.add(attr, {nullptr, &v6}, &number) == 0);
  attr.families = 0;
  CHECK(listeners.add(attr, {nullptr, &v6}, &number) == EADDRINUSE);
  const wire::Gid gid = address(9);
  std::copy(gid.bytes.begin(), gid.bytes.end(), attr.address);
  CHECK(listeners.add(attr, {nullptr, &own}, &number) == 0);
  CHECK(listeners.find(5, false, address(9))->data == &own);
  CHECK(listeners.find(5, false, address(8))->data == &any);
  CHECK(listeners.find(5, false, address(8, false))->data == &v6);
  CHECK(listeners.find(5, true, address(8)) == nullptr);
  CHECK(listeners.find(6, false, address(8)) == nullptr);
  listeners.remove(number);
  CHECK(listeners.find(5, false, address(9))->data == &any);
}

}  // namespace verbs::soft::cm
