// How connections end: by a side, by both, by neither.
#include <algorithm>
#include <cerrno>
#include <vector>

#include "test/cm/cm_network.h"

namespace verbs::soft::cm {

TEST_CASE("both sides disconnect at once") {
  Network network;
  network.listen();
  const auto [id, peer] = network.establish();
  CHECK(network.client.manager.disconnect(id, {}, network.now) == 0);
  CHECK(network.server.manager.disconnect(peer, {}, network.now) == 0);
  network.run(10'000 * kMs);
  CHECK(network.client.count(VERBS_SOFT_CM_DISCONNECTED) == 1);
  CHECK(network.server.count(VERBS_SOFT_CM_DISCONNECTED) == 1);
}

TEST_CASE("a connection that ends before its confirmation has come was one: the owner learns of both") {
  Network network;
  network.listen();
  const std::uint32_t id = network.connect();
  network.run(kMs);
  REQUIRE(network.accept(network.requested()) == 0);
  network.run(kMs);
  Mad late{};
  network.drops = [&](const Mad& mad) {
    const bool rtu = Network::attribute_of(mad) == Attribute::kRtu;
    if (rtu) late = mad;
    return rtu;
  };
  REQUIRE(network.client.manager.ready(id, {}, network.now) == 0);
  REQUIRE(network.client.manager.disconnect(id, {}, network.now) == 0);
  network.settle();
  const auto types = [&] {
    std::vector<int> result;
    for (const Node::Heard& heard : network.server.heard) result.push_back(heard.event.type);
    return result;
  };
  const std::vector<int> both{VERBS_SOFT_CM_REQUEST, VERBS_SOFT_CM_READY, VERBS_SOFT_CM_DISCONNECTED};
  CHECK(types() == both);
  network.server.manager.deliver(1, {.sgid = network.server.gid, .dgid = network.client.gid}, late, network.now);
  CHECK(types() == both);
}

TEST_CASE("a disconnect without a response is given up after 7 seconds; a connection that is gone responds") {
  Network network;
  network.listen();
  const auto [id, peer] = network.establish();
  SUBCASE("the peer is gone") {
    network.drops = [](const Mad&) { return true; };
    CHECK(network.client.manager.disconnect(id, {}, network.now) == 0);
    network.run(8'000 * kMs);
    REQUIRE(network.client.count(VERBS_SOFT_CM_DISCONNECTED) == 1);
    CHECK(network.client.last(VERBS_SOFT_CM_DISCONNECTED)->event.status == ETIMEDOUT);
  }
  SUBCASE("only the connection is gone") {
    network.drops = [](const Mad& mad) { return Network::attribute_of(mad) == Attribute::kDreq; };
    network.server.manager.release(peer, network.now);
    network.run(10'000 * kMs);
    CHECK(network.server.manager.size() == 0);
    network.drops = nullptr;
    network.client.manager.disconnect(id, {}, network.now);
    network.run(2000 * kMs);
    CHECK(network.client.count(VERBS_SOFT_CM_DISCONNECTED) == 1);
  }
}

TEST_CASE("a queue pair that connects again shows that its old connection is stale") {
  Network network;
  network.listen();
  network.establish();
  network.connect(17);
  network.run(kMs);
  REQUIRE(network.client.count(VERBS_SOFT_CM_REJECTED) == 1);
  CHECK(network.client.last(VERBS_SOFT_CM_REJECTED)->event.status == VERBS_SOFT_CM_STALE_CONNECTION);
  CHECK(network.server.count(VERBS_SOFT_CM_REQUEST) == 1);
  network.run(2'000 * kMs);
  network.connect(17);
  network.run(kMs);
  CHECK(network.server.count(VERBS_SOFT_CM_REQUEST) == 2);
}

TEST_CASE("the end of the process tells every peer") {
  Network network;
  network.listen();
  network.establish(17);
  network.connect(18);
  network.run(kMs);
  network.server.manager.shut_down();
  network.settle();
  CHECK(network.client.count(VERBS_SOFT_CM_DISCONNECTED) == 1);
  CHECK(network.client.count(VERBS_SOFT_CM_REJECTED) == 1);
}

TEST_CASE("a peer that is killed is missed within 8 seconds, with all its connections") {
  for (const int alive_ms : {0, 40, 100, 3000, 60'000}) {
    CAPTURE(alive_ms);
    Network network;
    network.listen();
    for (std::uint32_t qp_num = 20; qp_num < 25; ++qp_num) network.establish(qp_num);
    network.run(alive_ms * kMs);
    CHECK(network.client.count(VERBS_SOFT_CM_DISCONNECTED) == 0);
    network.drops = [](const Mad&) { return true; };
    network.run(8001 * kMs);
    CHECK(network.client.count(VERBS_SOFT_CM_DISCONNECTED) == 5);
    CHECK(network.server.count(VERBS_SOFT_CM_DISCONNECTED) == 5);
    CHECK(network.client.last(VERBS_SOFT_CM_DISCONNECTED)->event.status == ETIMEDOUT);
  }
}

TEST_CASE("each of the processes that had an address one after the other is missed within 8 seconds") {
  Network network;
  network.listen();
  const std::uint32_t first = network.establish(17).first;
  network.run(500 * kMs);
  // None of them answers for a connection of another one. Each lives for 3 seconds, with a connection of its own.
  network.drops = [](const Mad& mad) { return Network::attribute_of(mad) == Attribute::kRej; };
  const Nanos killed = network.now;
  const auto is_lost = [&] {
    return std::ranges::any_of(network.client.heard, [&](const Node::Heard& heard) {
      return heard.event.connection == first && heard.event.type == VERBS_SOFT_CM_DISCONNECTED;
    });
  };
  for (std::uint32_t process = 1; process <= 5 && !is_lost(); ++process) {
    network.replace_server(wire::guid_base(0) + 0x100 * process);
    network.listen();
    network.establish(17 + process);
    for (int step = 0; step < 30 && !is_lost(); ++step) network.run(100 * kMs);
  }
  CHECK(is_lost());
  CHECK(network.now - killed <= 8100 * kMs);
}

TEST_CASE("a peer that forgot its connections says so, and a foreign one that never answers stays") {
  Network network(Network::kForeign);
  network.listen();
  network.establish(17);
  SUBCASE("forgot") {
    network.establish(18);
    network.drops = [](const Mad& mad) { return Network::attribute_of(mad) == Attribute::kDreq; };
    for (const Node::Heard& heard : network.server.heard) {
      if (heard.event.type == VERBS_SOFT_CM_REQUEST)
        network.server.manager.release(heard.event.connection, network.now);
    }
    network.run(11'000 * kMs);
    CHECK(network.client.count(VERBS_SOFT_CM_DISCONNECTED) == 2);
  }
  SUBCASE("foreign") {
    network.drops = [](const Mad& mad) { return Network::attribute_of(mad) == Attribute::kLap; };
    network.run(1000'000 * kMs);
    CHECK(network.client.count(VERBS_SOFT_CM_DISCONNECTED) == 0);
  }
}

TEST_CASE("a peer whose GUID is 0 is forgotten with its connection, as any other") {
  Network network(~std::uint64_t{0});  // the client's is 0
  network.listen();
  network.server.takes_requests = false;
  network.connect();
  const Mad request = network.sent.at(0);
  wire::Path path;
  path.sgid = network.client.gid;
  path.dgid = network.server.gid;
  for (std::size_t turn = 1; turn <= 3; ++turn) {
    network.server.manager.deliver(1, path, request, network.now);
    CHECK(network.server.count(VERBS_SOFT_CM_REQUEST) == turn);
  }
}

TEST_CASE("a peer is asked about again where there was no memory for the question") {
  Network network;
  network.listen();
  network.establish();
  network.drops = [](const Mad&) -> bool { throw std::bad_alloc(); };
  CHECK_THROWS_AS(network.run(20'000 * kMs), std::bad_alloc);
  network.drops = [](const Mad&) { return true; };  // the peer is killed
  network.run(20'000 * kMs);
  CHECK(network.client.count(VERBS_SOFT_CM_DISCONNECTED) == 1);
}

TEST_CASE("alternate paths are refused") {
  Network network;
  network.listen();
  const auto [id, peer] = network.establish();
  Mad mad{};
  MadHeader{7, Attribute::kLap}.emit(&mad);
  Notice{id, peer, {}}.emit(&mad);
  wire::Path path;
  path.sgid = network.client.gid;
  path.dgid = network.server.gid;
  network.server.manager.deliver(1, path, mad, network.now);
  REQUIRE(Network::attribute_of(network.sent.back()) == Attribute::kApr);
  CHECK(Apr::parse(MadView(network.sent.back())).status == Apr::kUnsupported);
  CHECK(network.server.count(VERBS_SOFT_CM_DISCONNECTED) == 0);
}

}  // namespace verbs::soft::cm
