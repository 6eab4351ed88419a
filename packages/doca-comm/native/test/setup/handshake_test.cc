// Handshakes that are forged, incomplete, too many, or for another service.
#include <atomic>
#include <chrono>
#include <thread>

#include "test/support/hostile.h"
#include "test/support/stage.h"

using namespace verbs::doca_comm::model::test;
using verbs::doca_comm::model::HandshakeMessage;
using Type = verbs::doca_comm::model::HandshakeMessage::Type;

namespace {

// The type of the final response of the service.
Type response_to(Stage& stage, Hostile& hostile, const HandshakeMessage& request) {
  hostile.send(request);
  std::optional<HandshakeMessage> response;
  while ((response = hostile.receive(request.client_id)) && response->type == Type::kPending) stage.accept();
  REQUIRE(response);
  return response->type;
}

std::string bytes_of(const HandshakeMessage& message) {
  std::uint8_t bytes[HandshakeMessage::kSize];
  message.write(bytes);
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

// max_connections of the configuration in CMakeLists.txt, and the default of max_per_client.
constexpr std::size_t kMaxConnections = 12;
constexpr std::size_t kMaxPerClient = 11;

}  // namespace

TEST_CASE("invalid datagrams have no effect, and a valid request still works") {
  Stage stage;
  Hostile hostile;
  const HandshakeMessage request = hostile.request("stage");
  const std::string good = bytes_of(request);
  for (const std::string& bytes :
       {std::string(), std::string("x"), good.substr(1), good + "x", std::string(1000, 'x'), std::string(4096, 'x'),
        std::string(good.size(), '\xff'), std::string(good.size(), '\0')}) {
    hostile.send(bytes);
  }
  // The magic number, the type, the MTU, the length of the name, the numbers of the queue pairs and the PSN.
  for (const std::size_t at : {0, 3, 4, 5, 6, 44, 48, 52}) {
    std::string damaged = good;
    damaged[at] = '\xff';
    hostile.send(damaged);
  }
  for (const auto type : {Type::kPending, Type::kAccept, Type::kReject, Type::kCancel}) {
    HandshakeMessage forged = request;
    forged.type = type;
    hostile.send(forged);
  }
  HandshakeMessage nowhere = request;
  nowhere.name = "nobody";
  nowhere.client_id = 1;
  // Its response comes after all datagrams before it were received.
  CHECK(response_to(stage, hostile, nowhere) == Type::kReject);
  CHECK(stage.pending() == 0);
  CHECK(stage.peers() == 0);
  CHECK(HonestClient(stage).echoes("served"));
}

TEST_CASE("a request without the key, or with an impossible end of the connection, is rejected") {
  Stage stage;
  Hostile hostile;
  HandshakeMessage no_key = hostile.request("stage");
  no_key.key = {};
  CHECK(response_to(stage, hostile, no_key) == Type::kReject);
  HandshakeMessage no_messages = hostile.request("stage");
  no_messages.end.max_msg_size = 0;
  CHECK(response_to(stage, hostile, no_messages) == Type::kReject);
  HandshakeMessage no_queue = hostile.request("stage");
  no_queue.end.recv_queue_size = 0;
  CHECK(response_to(stage, hostile, no_queue) == Type::kReject);
  CHECK(stage.pending() == 0);
}

TEST_CASE("a client of another representor is rejected") {
  Stage stage;
  // A well-behaved client does not find the service.
  doca_dev* other_host = nullptr;
  REQUIRE(doca_dev_open(info_of("5f5f:3b:00.1"), &other_host) == DOCA_SUCCESS);
  {
    Endpoint client(other_host);
    Addr* peer = nullptr;
    CHECK(doca_comm_channel_ep_connect(client.ep, "stage", &peer) == DOCA_ERROR_CONNECTION_ABORTED);
  }
  CHECK(doca_dev_close(other_host) == DOCA_SUCCESS);
  // The request of a hostile one is rejected as if there were no service.
  Hostile hostile("doca_host1");
  HandshakeMessage honest = hostile.request("stage");
  honest.representor = "5f5f:3b:00.1";
  CHECK(response_to(stage, hostile, honest) == Type::kReject);
  HandshakeMessage liar = hostile.request("stage");
  liar.key = {};
  CHECK(response_to(stage, hostile, liar) == Type::kReject);
  CHECK(stage.pending() == 0);
}

TEST_CASE("a client cannot cancel the request of another client, or take its response") {
  Stage stage;
  Hostile client, forger;
  const HandshakeMessage request = client.request("stage");
  client.send(request);
  std::optional<HandshakeMessage> response = client.receive(request.client_id);
  REQUIRE(response);
  CHECK(response->type == Type::kPending);
  forger.request("stage");
  HandshakeMessage cancel = request;
  cancel.type = Type::kCancel;
  forger.send(cancel);
  HandshakeMessage nowhere = request;
  nowhere.name = "nobody";
  nowhere.client_id = 1;
  CHECK(response_to(stage, forger, nowhere) == Type::kReject);
  CHECK(stage.pending() == 1);
  CHECK(response_to(stage, client, request) == Type::kAccept);
  // The same client ID from another queue pair is another client.
  CHECK(response_to(stage, forger, request) == Type::kAccept);
  CHECK(stage.peers() == 2);
}

TEST_CASE("a client accepts responses from its service only") {
  Stage stage;
  Endpoint client(stage.devices.host);
  Addr* peer = nullptr;
  REQUIRE(doca_comm_channel_ep_connect(client.ep, "stage", &peer) == DOCA_SUCCESS);
  Hostile forger;
  HandshakeMessage forged = forger.request("stage");
  for (const auto type : {Type::kAccept, Type::kReject}) {
    forged.type = type;
    for (std::uint64_t id = 0; id < 100; ++id) {
      forged.client_id = id;
      forger.send(forged);
    }
  }
  CHECK(doca_comm_channel_peer_addr_update_info(peer) == DOCA_ERROR_CONNECTION_INPROGRESS);
  until([&] {
    stage.accept();
    return doca_comm_channel_peer_addr_update_info(peer) == DOCA_SUCCESS;
  });
}

TEST_CASE("clients beyond the maximum are rejected, pending ones count, and a disconnected one makes room") {
  Stage stage;
  std::vector<std::unique_ptr<HonestClient>> clients;
  Hostile other("doca_host1");  // one connection is left to another host
  stage.admit(other);
  while (clients.size() < kMaxConnections - 2) clients.push_back(std::make_unique<HonestClient>(stage));
  Endpoint pending(stage.devices.host), rejected(stage.devices.host);
  Addr* peer = nullptr;
  CHECK(doca_comm_channel_ep_connect(pending.ep, "stage", &peer) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_connect(rejected.ep, "stage", &peer) == DOCA_ERROR_CONNECTION_ABORTED);
  stage.accept();
  CHECK(doca_comm_channel_ep_connect(rejected.ep, "stage", &peer) == DOCA_ERROR_CONNECTION_ABORTED);
  clients.pop_back();
  until([&] {
    stage.accept();
    return doca_comm_channel_ep_connect(rejected.ep, "stage", &peer) == DOCA_SUCCESS;
  });
  CHECK(clients.front()->echoes("undisturbed"));
}

TEST_CASE("one host cannot use up all connections, neither by established ones nor by pending requests") {
  Stage stage;
  {
    Hostile crowd, other("doca_host1");
    const auto is_pending = [&](Hostile& client) {
      const HandshakeMessage request = client.request("stage");
      client.send(request);
      const std::optional<HandshakeMessage> response = client.receive(request.client_id);
      REQUIRE(response);
      return response->type == Type::kPending;
    };
    std::size_t pending = 0;
    while (pending < kMaxConnections && is_pending(crowd)) ++pending;
    CHECK(pending == 4);
    CHECK(is_pending(other));
    // The requests are not repeated, and time out.
    until([&] { return stage.pending() == 0; });
  }
  std::vector<std::unique_ptr<HonestClient>> clients;
  while (clients.size() < kMaxPerClient) clients.push_back(std::make_unique<HonestClient>(stage));
  Endpoint rejected(stage.devices.host);
  Addr* peer = nullptr;
  CHECK(doca_comm_channel_ep_connect(rejected.ep, "stage", &peer) == DOCA_ERROR_CONNECTION_ABORTED);
  Hostile other("doca_host1");
  stage.admit(other);
  CHECK(stage.peers() == kMaxConnections);
  CHECK(clients.back()->echoes("undisturbed"));
}

TEST_CASE("a service that frees no lost client rejects new ones at twice the maximum") {
  Stage stage;
  std::size_t lost = 0;
  for (; lost < 4 * kMaxConnections; ++lost) {
    Hostile hostile;
    const HandshakeMessage request = hostile.request("stage");
    hostile.send(request);
    std::optional<HandshakeMessage> response = hostile.receive(request.client_id);
    REQUIRE(response);
    if (response->type == Type::kReject) break;
    stage.accept();
    response = hostile.receive(request.client_id);
    REQUIRE(response);
    hostile.establish(response->end);
    hostile.data(data_frame(kDataKind, 2, "hi"));
    hostile.data(data_frame(kDisconnectKind, 0, ""));
    Addr* from = nullptr;
    CHECK(stage.service.wait_for_message(&from) == "hi");
    CHECK(stage.wait_for_loss() == from);
  }
  CHECK(lost == 2 * kMaxConnections);
}

TEST_CASE(
    "an incomplete handshake times out: a request that is not repeated, and an accepted client that does not respond") {
  Stage stage;
  HonestClient honest(stage);
  Hostile hostile;
  const HandshakeMessage silent = hostile.request("stage");
  hostile.send(silent);
  REQUIRE(hostile.receive(silent.client_id));
  CHECK(stage.pending() == 1);
  until([&] { return stage.pending() == 0; });
  HandshakeMessage absent = hostile.request("stage");
  absent.end.data_qpn = 0xabcdef;
  absent.end.control_qpn = 0xabcdee;
  CHECK(response_to(stage, hostile, absent) == Type::kAccept);
  CHECK(stage.peers() == 2);
  Addr* gone = stage.wait_for_loss();
  CHECK(stage.peers() == 1);
  CHECK(doca_comm_channel_ep_disconnect(stage.service.ep, gone) == DOCA_SUCCESS);
  CHECK(honest.echoes("undisturbed"));
}

TEST_CASE("a flood of requests stops no connection, and the next client is accepted") {
  Stage stage;
  HonestClient honest(stage);
  Hostile hostile;
  HandshakeMessage request = hostile.request("stage");
  request.key = {};
  for (int round = 0; round < 50; ++round) {
    hostile.completed();
    for (int i = 0; i < 100; ++i) {
      ++request.client_id;
      hostile.send(request);
    }
    REQUIRE(honest.echoes("round " + std::to_string(round)));
  }
  CHECK(stage.pending() == 0);
  CHECK(HonestClient(stage).echoes("served"));
}

// The handler of a request answers by the channel of its device, which must be there until its thread has ended.
TEST_CASE("a device is closed while requests for a service that has just gone are on their way") {
  {
    const Devices listed;
  }
  Hostile hostile;
  HandshakeMessage request;
  {
    const Stage stage("closing");
    request = hostile.request("closing");
  }
  request.key[0] ^= 1;  // refused, each time
  std::atomic<bool> stopping = false;
  std::thread flood([&] {
    while (!stopping) {
      hostile.send(request);
      hostile.completed();
    }
  });
  for (int round = 0; round < 200; ++round) {
    const Stage stage("closing");
    std::this_thread::sleep_for(std::chrono::microseconds(round % 20 * 50));
  }
  stopping = true;
  flood.join();
  Stage stage("closing");
  HonestClient honest(stage);
  CHECK(honest.echoes("still served"));
}
