// Invalid frames: each ends the connection it arrives on, and no other.
#include <chrono>
#include <memory>
#include <thread>

#include "test/support/hostile.h"
#include "test/support/stage.h"

using namespace verbs::doca_comm::model::test;

namespace {

struct Attack {
  const char* what;
  void (*act)(Hostile&);
};

const Attack kAttacks[] = {
    {"an empty data frame", [](Hostile& h) { h.data(""); }},
    {"half a header", [](Hostile& h) { h.data("1234"); }},
    {"a frame of an unknown kind", [](Hostile& h) { h.data(data_frame(9, 1, "x")); }},
    {"a frame of kind 0", [](Hostile& h) { h.data(data_frame(0, 1, "x")); }},
    {"a control frame on the data queue pair", [](Hostile& h) { h.data(control_frame(kConsumedKind, 1)); }},
    {"a size beyond the frame", [](Hostile& h) { h.data(data_frame(kDataKind, 4000, "x")); }},
    {"the largest size", [](Hostile& h) { h.data(data_frame(kDataKind, 0xffffffff, "x")); }},
    {"a size below the frame", [](Hostile& h) { h.data(data_frame(kDataKind, 1, "xyz")); }},
    {"a message of one byte too many", [](Hostile& h) { h.data(data_frame(kDataKind, 4081, std::string(4081, 'x'))); }},
    {"a message of twice the maximum", [](Hostile& h) { h.data(data_frame(kDataKind, 8160, std::string(8160, 'x'))); }},
    {"a disconnect message", [](Hostile& h) { h.data(data_frame(kDisconnectKind, 0, "")); }},
    {"an immediate without a frame", [](Hostile& h) { h.data("", IBV_WR_RDMA_WRITE_WITH_IMM); }},
    {"a write to memory", [](Hostile& h) { h.data("12345678", IBV_WR_RDMA_WRITE); }},
    {"a read of memory", [](Hostile& h) { h.data("12345678", IBV_WR_RDMA_READ); }},
    {"an atomic operation", [](Hostile& h) { h.data("12345678", IBV_WR_ATOMIC_FETCH_AND_ADD); }},
    {"an invalidation", [](Hostile& h) { h.data(data_frame(kDataKind, 1, "x"), IBV_WR_SEND_WITH_INV); }},
    {"an empty control frame", [](Hostile& h) { h.control(""); }},
    {"half a control frame", [](Hostile& h) { h.control("1234"); }},
    {"a control frame with more", [](Hostile& h) { h.control(control_frame(kConsumedKind, 0) + "x"); }},
    {"a long control frame", [](Hostile& h) { h.control(std::string(4000, 'x')); }},
    {"a control frame of an unknown kind", [](Hostile& h) { h.control(control_frame(77, 0)); }},
    {"a message on the control queue pair", [](Hostile& h) { h.control(data_frame(kDataKind, 0, "")); }},
    {"room for a message that was never sent", [](Hostile& h) { h.control(control_frame(kConsumedKind, 1)); }},
    {"room for all messages", [](Hostile& h) { h.control(control_frame(kConsumedKind, 0xffffffff)); }},
    {"no room at all, reported as more", [](Hostile& h) { h.control(control_frame(kConsumedKind, 0)); }},
    {"a write to memory on the control queue pair", [](Hostile& h) { h.control("12345678", IBV_WR_RDMA_WRITE); }},
};

}  // namespace

TEST_CASE("a hostile frame ends its own connection only") {
  Stage stage;
  HonestClient honest(stage);
  for (const Attack& attack : kAttacks) {
    CAPTURE(attack.what);
    Hostile hostile;
    stage.admit(hostile);
    hostile.data(data_frame(kDataKind, 5, "hello"));
    Addr* peer = nullptr;
    CHECK(stage.service.wait_for_message(&peer) == "hello");
    attack.act(hostile);
    CHECK(stage.wait_for_loss() == peer);
    CHECK(stage.service.send("x", peer) == DOCA_ERROR_CONNECTION_RESET);
    CHECK(doca_comm_channel_ep_disconnect(stage.service.ep, peer) == DOCA_SUCCESS);
    CHECK(honest.echoes("still served"));
  }
  CHECK(stage.peers() == 1);
}

TEST_CASE("frames after the disconnect message are ignored") {
  Stage stage;
  Hostile hostile;
  stage.admit(hostile);
  hostile.data(data_frame(kDataKind, 4, "last"));
  hostile.data(data_frame(kDisconnectKind, 0, ""));
  for (int i = 0; i < 200; ++i) hostile.data(data_frame(kDataKind, 5, "ghost"));
  Addr* peer = nullptr;
  CHECK(stage.service.wait_for_message(&peer) == "last");
  CHECK(stage.wait_for_loss() == peer);
  std::string message;
  int messages = 0;
  for (int i = 0; i < 300; ++i) messages += stage.service.receive(&message, &peer) != DOCA_ERROR_AGAIN;
  CHECK(messages == 0);
}

TEST_CASE("an endless sequence of control frames ends the connection") {
  Stage stage;
  HonestClient honest(stage);
  for (const auto kind : {kConsumedKind, kDisconnectKind}) {
    Hostile hostile;
    stage.admit(hostile);
    hostile.data(data_frame(kDataKind, 5, "hello"));
    Addr* peer = nullptr;
    CHECK(stage.service.wait_for_message(&peer) == "hello");
    for (int i = 0; i < 400; ++i) hostile.control(control_frame(kind, 0));
    CHECK(stage.wait_for_loss() == peer);
    CHECK(doca_comm_channel_ep_disconnect(stage.service.ep, peer) == DOCA_SUCCESS);
    CHECK(honest.echoes("still served"));
  }
}

TEST_CASE("clients that send without pause delay no other client, nor the report of a lost one") {
  Stage stage;
  // These share a completion queue, which is never empty.
  std::vector<std::unique_ptr<Hostile>> flood;
  for (int i = 0; i < 7; ++i) {
    flood.push_back(std::make_unique<Hostile>());
    stage.admit(*flood.back());
  }
  std::vector<std::unique_ptr<HonestClient>> others;
  for (int i = 0; i < 4; ++i) others.push_back(std::make_unique<HonestClient>(stage));
  int arrived = 0;
  const auto pour = [&] {
    for (const auto& hostile : flood) {
      arrived += hostile->completed();
      for (int i = 0; i < 100; ++i) hostile->data(data_frame(kDataKind, 5, "flood"));
    }
  };
  // Fills most of the queue, before the messages of the others.
  pour();
  until([&] {
    for (const auto& hostile : flood) arrived += hostile->completed();
    return arrived > 400;
  });
  for (const auto& other : others) {
    REQUIRE(other->client.send("other", other->to_service) == DOCA_SUCCESS);
    until([&] {
      std::uint64_t in_flight = 0;
      CHECK(doca_comm_channel_peer_addr_update_info(other->to_service) == DOCA_SUCCESS);
      CHECK(doca_comm_channel_peer_addr_get_send_in_flight_messages(other->to_service, &in_flight) == DOCA_SUCCESS);
      return in_flight == 0;
    });
  }
  const auto receive_in_flood = [&](Addr** from) {
    for (int n = 0; n < 5'000; ++n) {
      // The flood is faster than the receiver: it replaces the received messages at once.
      if (n % 16 == 0) {
        pour();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      std::string message;
      const doca_error_t error = stage.service.receive(&message, from);
      if (error == DOCA_ERROR_AGAIN || (error == DOCA_SUCCESS && message == "flood")) continue;
      return error == DOCA_SUCCESS ? message : std::string(doca_error_get_name(error));
    }
    return std::string("nothing but the flood");
  };
  Addr* from = nullptr;
  for (std::size_t i = 0; i < others.size(); ++i) CHECK(receive_in_flood(&from) == "other");
  others.pop_back();
  CHECK(receive_in_flood(&from) == "DOCA_ERROR_CONNECTION_RESET");
  CHECK(doca_comm_channel_ep_disconnect(stage.service.ep, from) == DOCA_SUCCESS);
}

TEST_CASE("a client that receives nothing delays no other client") {
  Stage stage;
  HonestClient honest(stage);
  Hostile hostile;  // posts no receive, and reports 64
  stage.admit(hostile);
  hostile.data(data_frame(kDataKind, 5, "hello"));
  Addr* peer = nullptr;
  CHECK(stage.service.wait_for_message(&peer) == "hello");
  doca_error_t error = DOCA_SUCCESS;
  std::size_t sent = 0;
  for (; (error = stage.service.send("x", peer)) == DOCA_SUCCESS; ++sent) continue;
  CHECK(error == DOCA_ERROR_AGAIN);
  CHECK(sent == 64);
  // Its NIC acknowledges the keep-alives, so that the service keeps the connection.
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  CHECK(stage.service.send("x", peer) == DOCA_ERROR_AGAIN);
  CHECK(honest.echoes("still served"));
  CHECK(doca_comm_channel_ep_disconnect(stage.service.ep, peer) == DOCA_SUCCESS);
  CHECK(honest.echoes("still served"));
}
