// Connecting: what each side learns, and what happens when messages are lost, repeated, late or never answered.
#include <cerrno>
#include <set>

#include "test/cm/cm_network.h"

namespace verbs::soft::cm {

TEST_CASE("a connection: both sides learn of each other what they need, over IPv4 and IPv6") {
  for (const bool ipv4 : {true, false}) {
    Network network;
    network.listen();
    const std::uint32_t id = network.connect(17, ipv4);
    network.run(kMs);
    const Node::Heard* request = network.server.last(VERBS_SOFT_CM_REQUEST);
    REQUIRE(request);
    CHECK(request->data == "hello");
    CHECK(request->event.data.size == VERBS_SOFT_CM_CONNECT_DATA);
    CHECK(request->event.service_id == kService);
    CHECK(request->event.ip.source_port == 40000);
    const wire::Gid& from = ipv4 ? network.client.gid : network.client.gid6;
    const wire::Gid& to = ipv4 ? network.server.gid : network.server.gid6;
    CHECK(wire::Gid::from_bytes(request->event.ip.source) == from);
    CHECK(wire::Gid::from_bytes(request->event.ip.destination) == to);
    CHECK(wire::Gid::from_bytes(request->event.path.sgid) == to);
    CHECK(wire::Gid::from_bytes(request->event.path.dgid) == from);
    CHECK(request->event.end.qp_num == 17);
    CHECK(request->event.end.psn == 0x123456);
    CHECK(request->event.end.responder_resources == 4);
    CHECK(request->event.end.initiator_depth == 3);
    CHECK(request->event.end.flow_control == 1);
    CHECK(request->event.end.rnr_retry_count == 6);
    CHECK(request->event.end.srq == 1);
    CHECK(request->event.retry_count == 5);
    CHECK(request->event.path_mtu == 3);
    CHECK(request->event.ack_timeout == 17);

    CHECK(network.accept(request->event.connection) == 0);
    network.run(kMs);
    const Node::Heard* reply = network.client.last(VERBS_SOFT_CM_REPLY);
    REQUIRE(reply);
    CHECK(reply->data == "welcome");
    CHECK(reply->event.connection == id);
    CHECK(reply->event.end.qp_num == 99);
    CHECK(reply->event.end.psn == 0x654321);
    CHECK(reply->event.end.responder_resources == 2);
    CHECK(reply->event.end.initiator_depth == 1);
    CHECK(reply->event.end.rnr_retry_count == 7);
    CHECK(network.server.count(VERBS_SOFT_CM_READY) == 0);
    CHECK(network.client.manager.ready(id, {}, network.now) == 0);
    network.run(kMs);
    CHECK(network.server.count(VERBS_SOFT_CM_READY) == 1);
    CHECK(network.client.heard.size() == 1);
    network.run(100'000 * kMs);  // nothing more, however long it stands
    CHECK(network.client.heard.size() == 1);
    CHECK(network.server.heard.size() == 2);
  }
}

TEST_CASE("a path MTU that the server's way does not carry is asked for again, smaller") {
  for (const int copies : {1, 2}) {
    CAPTURE(copies);
    Network network;
    network.listen();
    network.copies = copies;
    network.server.most_mtu = IBV_MTU_512;
    network.establish();
    CHECK(network.server.last(VERBS_SOFT_CM_REQUEST)->event.path_mtu == IBV_MTU_512);
    CHECK(network.server.count(VERBS_SOFT_CM_REQUEST) == 1);
    CHECK(network.client.last(VERBS_SOFT_CM_REPLY)->event.path_mtu == IBV_MTU_512);
    CHECK(network.client.count(VERBS_SOFT_CM_REJECTED) == 0);
  }
}

TEST_CASE("a request names its transport, and an XRC target its queue pair number as that of an EE context") {
  for (const auto transport : {VERBS_SOFT_CM_RC, VERBS_SOFT_CM_UC, VERBS_SOFT_CM_XRC}) {
    CAPTURE(static_cast<int>(transport));
    const bool xrc = transport == VERBS_SOFT_CM_XRC;
    Network network;
    network.listen();
    network.transport = transport;
    network.establish();
    const verbs_soft_cm_event& request = network.server.last(VERBS_SOFT_CM_REQUEST)->event;
    CHECK(request.transport == transport);
    CHECK(request.end.qp_num == 17);
    CHECK(request.end.responder_resources == (xrc ? 0 : 4));  // an initiator responds to nothing
    CHECK(request.end.initiator_depth == 3);
    CHECK(request.end.srq == (xrc ? 0 : 1));
    const verbs_soft_cm_event& reply = network.client.last(VERBS_SOFT_CM_REPLY)->event;
    CHECK(reply.end.qp_num == 99);
    CHECK(reply.end.responder_resources == 2);
    CHECK(reply.end.srq == (xrc ? 1 : 0));
    const auto sent = std::ranges::find_if(
        network.sent, [](const Mad& mad) { return Network::attribute_of(mad) == Attribute::kRep; });
    REQUIRE(sent != network.sent.end());
    CHECK(Rep::parse(*sent).qpn == (xrc ? 0 : 99));
    CHECK(Rep::parse(*sent).eecn == (xrc ? 99 : 0));
  }
}

TEST_CASE("a transport that nobody knows is refused") {
  constexpr std::size_t kServiceType = 43, kExtended = 51;
  struct {
    unsigned service_type, extended;
    bool known;
  } const transports[] = {{0, 0, true}, {1, 0, true}, {2, 0, false}, {3, 0, false}, {3, 1, true}, {3, 2, false}};
  for (const auto& [service_type, extended, known] : transports) {
    CAPTURE(service_type);
    CAPTURE(extended);
    Network network;
    network.listen();
    network.drops = [](const Mad& mad) { return Network::attribute_of(mad) == Attribute::kReq; };
    network.connect();
    Mad req = network.sent.at(0);
    req[kMadHeader + kServiceType] =
        static_cast<std::uint8_t>((req[kMadHeader + kServiceType] & 0xf9) | service_type << 1);
    req[kMadHeader + kExtended] = static_cast<std::uint8_t>((req[kMadHeader + kExtended] & 0xf8) | extended);
    wire::Path path;
    path.sgid = network.client.gid;
    path.dgid = network.server.gid;
    network.server.manager.deliver(1, path, req, network.now);
    network.settle();
    CHECK(network.server.count(VERBS_SOFT_CM_REQUEST) == (known ? 1 : 0));
    REQUIRE(network.client.count(VERBS_SOFT_CM_REJECTED) == (known ? 0 : 1));
    if (!known) CHECK(network.client.last(VERBS_SOFT_CM_REJECTED)->event.status == 9);
  }
}

TEST_CASE("each message of a connection may be lost, once or three times, or arrive twice") {
  const Attribute kMessages[] = {Attribute::kReq, Attribute::kRep, Attribute::kRtu, Attribute::kDreq, Attribute::kDrep};
  for (const Attribute lost : kMessages) {
    for (const int times : {1, 3}) {
      CAPTURE(static_cast<int>(lost));
      CAPTURE(times);
      Network network;
      network.listen();
      int left = times;
      network.drops = [&](const Mad& mad) { return Network::attribute_of(mad) == lost && left-- > 0; };
      const std::uint32_t id = network.connect();
      network.run(2500 * kMs);
      REQUIRE(network.server.count(VERBS_SOFT_CM_REQUEST) == 1);
      const std::uint32_t peer = network.requested();
      REQUIRE(network.accept(peer) == 0);
      network.run(2500 * kMs);
      REQUIRE(network.client.count(VERBS_SOFT_CM_REPLY) == 1);
      REQUIRE(network.client.manager.ready(id, {}, network.now) == 0);
      network.run(15'000 * kMs);
      CHECK(network.server.count(VERBS_SOFT_CM_READY) == 1);
      CHECK(network.client.manager.disconnect(id, {}, network.now) == 0);
      network.run(2500 * kMs);
      CHECK(network.server.count(VERBS_SOFT_CM_DISCONNECTED) == 1);
      CHECK(network.server.manager.disconnect(peer, {}, network.now) == 0);
      network.run(10'000 * kMs);
      REQUIRE(network.client.count(VERBS_SOFT_CM_DISCONNECTED) == 1);
      CHECK(network.client.last(VERBS_SOFT_CM_DISCONNECTED)->event.status == 0);
      CHECK(network.client.count(VERBS_SOFT_CM_TIMEWAIT_EXIT) == 1);
      CHECK(network.server.count(VERBS_SOFT_CM_TIMEWAIT_EXIT) == 1);
      CHECK(left <= 0);
      network.client.manager.release(id, network.now);
      network.server.manager.release(peer, network.now);
      CHECK(network.client.manager.size() == 0);
      CHECK(network.server.manager.size() == 0);
    }
  }
  Network network;
  network.listen();
  network.copies = 2;
  const auto [id, peer] = network.establish();
  CHECK(network.client.manager.disconnect(id, {}, network.now) == 0);
  network.run(kMs);
  CHECK(network.server.manager.disconnect(peer, {}, network.now) == 0);
  network.run(5000 * kMs);
  CHECK(network.server.count(VERBS_SOFT_CM_REQUEST) == 1);
  CHECK(network.client.count(VERBS_SOFT_CM_REPLY) == 1);
  CHECK(network.server.count(VERBS_SOFT_CM_READY) == 1);
  CHECK(network.server.count(VERBS_SOFT_CM_DISCONNECTED) == 1);
  CHECK(network.client.count(VERBS_SOFT_CM_DISCONNECTED) == 1);
}

TEST_CASE("a peer that does not respond is unreachable after 15 seconds") {
  Network network;
  network.drops = [](const Mad&) { return true; };
  const std::uint32_t id = network.connect();
  network.run(13'000 * kMs);
  CHECK(network.client.heard.empty());
  network.run(2'000 * kMs);
  REQUIRE(network.client.count(VERBS_SOFT_CM_UNREACHABLE) == 1);
  CHECK(network.client.heard[0].event.status == ETIMEDOUT);
  CHECK(network.sent.size() == 17);  // and a REJ
  network.client.manager.release(id, network.now);
  CHECK(network.client.manager.size() == 0);
}

TEST_CASE("a program that takes its time keeps the peer waiting by MRAs, and no longer than it lives") {
  Network network;
  network.listen();
  const std::uint32_t id = network.connect();
  network.run(100'000 * kMs);
  CHECK(network.client.heard.empty());
  CHECK(network.server.count(VERBS_SOFT_CM_REQUEST) == 1);
  CHECK(network.sent.size() < 100);
  SUBCASE("then it accepts") {
    CHECK(network.accept(network.requested()) == 0);
    network.run(100'000 * kMs);  // the other program takes its time too
    CHECK(network.client.count(VERBS_SOFT_CM_REPLY) == 1);
    CHECK(network.server.count(VERBS_SOFT_CM_UNREACHABLE) == 0);
    CHECK(network.client.manager.ready(id, {}, network.now) == 0);
    network.run(kMs);
    CHECK(network.server.count(VERBS_SOFT_CM_READY) == 1);
  }
  SUBCASE("then it is killed") {
    network.drops = [](const Mad&) { return true; };
    network.run(16'001 * kMs);
    CHECK(network.client.count(VERBS_SOFT_CM_UNREACHABLE) == 1);
  }
}

TEST_CASE("the requester vanishes after the reply: the other side learns it, and tells") {
  Network network;
  network.listen();
  network.connect();
  network.run(kMs);
  const std::uint32_t peer = network.requested();
  network.drops = [](const Mad&) { return true; };
  CHECK(network.accept(peer) == 0);
  network.run(20'000 * kMs);
  CHECK(network.server.count(VERBS_SOFT_CM_UNREACHABLE) == 1);
  network.server.manager.release(peer, network.now);
  CHECK(network.server.manager.size() == 0);
}

TEST_CASE("a rejection carries its reason and private data, and nobody listening is one") {
  Network network;
  network.connect();
  network.run(199 * kMs);
  CHECK(network.client.heard.empty());
  network.run(kMs);
  REQUIRE(network.client.count(VERBS_SOFT_CM_REJECTED) == 1);
  CHECK(network.client.heard[0].event.status == VERBS_SOFT_CM_INVALID_SERVICE_ID);
  network.listen();
  network.connect(18);
  network.run(kMs);
  CHECK(network.server.manager.reject(network.requested(), VERBS_SOFT_CM_CONSUMER, text("no"), network.now) == 0);
  network.run(kMs);
  REQUIRE(network.client.count(VERBS_SOFT_CM_REJECTED) == 2);
  CHECK(network.client.heard[1].event.status == VERBS_SOFT_CM_CONSUMER);
  CHECK(network.client.heard[1].data == "no");
  network.server.takes_requests = false;
  network.connect(19);
  network.run(kMs);
  CHECK(network.client.count(VERBS_SOFT_CM_REJECTED) == 3);
}

TEST_CASE("a request waits for a listener that comes a little later") {
  Network network;
  network.connect();
  network.run(150 * kMs);
  verbs_soft_cm_listen_attr other{};
  other.service_id = kService + 1;
  std::uint32_t listener = 0;
  CHECK(network.server.manager.listen(other, network.server.owner(), network.now, &listener) == 0);
  CHECK(network.server.heard.empty());
  network.listen();
  CHECK(network.server.count(VERBS_SOFT_CM_REQUEST) == 1);
  network.run(1000 * kMs);
  CHECK(network.client.count(VERBS_SOFT_CM_REJECTED) == 0);
  CHECK(network.server.count(VERBS_SOFT_CM_REQUEST) == 1);
  other.service_id = kService + 2;
  network.connect(18);
  network.run(200 * kMs);
  CHECK(network.server.count(VERBS_SOFT_CM_REQUEST) == 2);
}

TEST_CASE("the owner may leave in any state, and the peer learns it at once") {
  for (int step = 0; step < 5; ++step) {
    for (const bool client_leaves : {true, false}) {
      CAPTURE(step);
      CAPTURE(client_leaves);
      Network network;
      network.listen();
      const std::uint32_t id = network.connect();
      std::uint32_t peer = 0;
      if (step >= 1) {
        network.run(kMs);
        peer = network.requested();
      }
      if (step >= 2) CHECK(network.accept(peer) == 0);
      if (step >= 3) network.run(kMs);
      if (step >= 4) {
        CHECK(network.client.manager.ready(id, {}, network.now) == 0);
        network.run(kMs);
      }
      if (peer == 0 && !client_leaves) continue;
      Node& leaver = client_leaves ? network.client : network.server;
      Node& other = client_leaves ? network.server : network.client;
      const std::size_t before = leaver.heard.size();
      leaver.manager.release(client_leaves ? id : peer, network.now);
      network.run(10 * kMs);
      if (peer == 0) peer = network.requested();
      const std::size_t ends = other.count(VERBS_SOFT_CM_REJECTED) + other.count(VERBS_SOFT_CM_DISCONNECTED);
      CHECK(ends == 1);
      other.manager.release(client_leaves ? peer : id, network.now);
      network.run(30'000 * kMs);
      CHECK(leaver.heard.size() == before);
      CHECK(network.client.manager.size() == 0);
      CHECK(network.server.manager.size() == 0);
    }
  }
}

TEST_CASE("a request that is withdrawn is handed on to the process that listens, since nothing else names it") {
  Network network;
  network.listen();
  const std::uint32_t id = network.connect();
  network.run(kMs);
  REQUIRE(network.server.count(VERBS_SOFT_CM_REQUEST) == 1);
  network.client.manager.release(id, network.now);
  // It reaches another process of the server's address.
  const Mad rej = network.sent.back();
  REQUIRE(Network::attribute_of(rej) == Attribute::kRej);
  Node other(network, 2, 0x30001, wire::guid_base(0) + 3);
  int passed = 0;
  other.hands_over = [&](const wire::Path& path, std::uint64_t service, const wire::Gid&, MadView mad) {
    CHECK(service == kService);
    wire::Path there = path;
    std::swap(there.sgid, there.dgid);
    there.hop_limit = kPassedHops;
    network.server.manager.deliver(1, there, mad, network.now);
    ++passed;
  };
  wire::Path path;
  path.sgid = network.client.gid;
  path.dgid = network.server.gid;
  path.hop_limit = 64;
  other.manager.deliver(1, path, rej, network.now);
  CHECK(passed == 1);
  CHECK(network.server.count(VERBS_SOFT_CM_REJECTED) == 1);
  // One that was handed over goes no further.
  path.hop_limit = kPassedHops;
  other.manager.deliver(1, path, rej, network.now);
  CHECK(passed == 1);
}

TEST_CASE("messages of strangers change nothing") {
  Network network;
  network.listen();
  const auto [id, peer] = network.establish();
  const std::size_t heard = network.server.heard.size();
  wire::Path path;
  path.sgid = address(77);
  path.dgid = network.server.gid;
  for (const Attribute attribute : {Attribute::kRep, Attribute::kRtu, Attribute::kRej, Attribute::kMra,
                                    Attribute::kDreq, Attribute::kDrep, Attribute::kSidrRep}) {
    Mad mad{};
    MadHeader{7, attribute}.emit(&mad);
    Notice{id, peer, {}}.emit(&mad);
    network.server.manager.deliver(1, path, mad, network.now);
  }
  CHECK(network.server.heard.size() == heard);
  CHECK(network.server.manager.disconnect(peer, {}, network.now) == 0);
}

TEST_CASE("a stranger who repeats a peer's request from another address neither ends nor hinders its connection") {
  Network network;
  network.listen();
  wire::Path path;
  path.sgid = address(77);
  path.dgid = network.server.gid;
  network.connect();
  const Mad request = network.sent.at(0);

  network.server.manager.deliver(1, path, request, network.now);
  CHECK(network.server.count(VERBS_SOFT_CM_REQUEST) == 1);
  network.settle();
  CHECK(network.server.count(VERBS_SOFT_CM_REQUEST) == 2);

  const auto [id, peer] = network.establish(18);
  const std::size_t sent = network.sent.size();
  const auto of_18 = std::find_if(network.sent.begin(), network.sent.end(), [](const Mad& mad) {
    return Network::attribute_of(mad) == Attribute::kReq && Req::parse(MadView(mad)).qpn == 18;
  });
  REQUIRE(of_18 != network.sent.end());
  network.server.manager.deliver(1, path, Mad(*of_18), network.now);
  network.settle();
  CHECK(network.sent.size() == sent);
  CHECK(network.server.count(VERBS_SOFT_CM_DISCONNECTED) == 0);
  CHECK(network.client.count(VERBS_SOFT_CM_DISCONNECTED) == 0);
  CHECK(network.server.manager.disconnect(peer, {}, network.now) == 0);
}

TEST_CASE("wrong calls") {
  Network network;
  network.listen();
  const auto [id, peer] = network.establish();
  Manager& manager = network.server.manager;
  CHECK(network.accept(peer) == EINVAL);
  CHECK(manager.ready(peer, {}, 0) == EINVAL);
  CHECK(manager.reject(peer, 28, {}, 0) == EINVAL);
  CHECK(manager.establish(peer, 0) == EISCONN);
  CHECK(manager.disconnect(12345, {}, 0) == EINVAL);
  CHECK(manager.answer(peer, 0, 1, 1, {}, 0) == EINVAL);
  manager.release(12345, 0);
  verbs_soft_cm_listen_attr attr{};
  attr.service_id = kService;
  std::uint32_t listener = 0;
  CHECK(manager.listen(attr, network.server.owner(), network.now, &listener) == EADDRINUSE);
  attr.service_id += 1;
  CHECK(manager.listen(attr, network.server.owner(), network.now, &listener) == 0);
}

}  // namespace verbs::soft::cm
