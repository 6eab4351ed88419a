// Handshakes that are forged, half done, too many, or for somebody else.
#include "test/support/hostile.h"
#include "test/support/stage.h"

using namespace verbs::doca_comm::model::test;
using verbs::doca_comm::model::HandshakeMessage;
using Type = verbs::doca_comm::model::HandshakeMessage::Type;

namespace {

// What the service answers, once it has received.
Type answer_of(Stage& stage, Hostile& hostile, const HandshakeMessage& request) {
  hostile.tell(request);
  std::optional<HandshakeMessage> answer;
  while ((answer = hostile.answer(request.client_id)) && answer->type == Type::kPending) stage.accept();
  REQUIRE(answer);
  return answer->type;
}

std::string bytes_of(const HandshakeMessage& datagram) {
  std::uint8_t bytes[HandshakeMessage::kSize];
  datagram.write(bytes);
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

// The configuration of this test has room for so many clients of a service, and for all but one of them from one host.
constexpr std::size_t kMaxConnections = 12;
constexpr std::size_t kMaxPerClient = 11;

}  // namespace

TEST_CASE("datagrams that are no handshake change nothing, and the right one still works") {
  Stage stage;
  Hostile hostile;
  const HandshakeMessage request = hostile.request("stage");
  const std::string good = bytes_of(request);
  for (const std::string& bytes : {std::string(), std::string("x"), good.substr(1), good + "x", std::string(1000, 'x'),
                                   std::string(good.size(), '\xff'), std::string(good.size(), '\0')}) {
    hostile.tell(bytes);
  }
  // The magic number, the type, the MTU, the length of the name, the numbers of the queue pairs and the PSN.
  for (const std::size_t at : {0, 3, 4, 5, 6, 44, 48, 52}) {
    std::string damaged = good;
    damaged[at] = '\xff';
    hostile.tell(damaged);
  }
  for (const auto type : {Type::kPending, Type::kAccept, Type::kReject, Type::kCancel}) {
    HandshakeMessage forged = request;
    forged.type = type;
    hostile.tell(forged);
  }
  HandshakeMessage nowhere = request;
  nowhere.name = "nobody";
  nowhere.client_id = 1;
  // It is answered after all before it were taken.
  CHECK(answer_of(stage, hostile, nowhere) == Type::kReject);
  CHECK(stage.pending() == 0);
  CHECK(stage.peers() == 0);
  CHECK(Steady(stage).echoes("served"));
}

TEST_CASE("a client is refused that does not know the key, or whose end of the connection cannot be") {
  Stage stage;
  Hostile hostile;
  HandshakeMessage no_key = hostile.request("stage");
  no_key.key = {};
  CHECK(answer_of(stage, hostile, no_key) == Type::kReject);
  HandshakeMessage no_messages = hostile.request("stage");
  no_messages.end.max_msg_size = 0;
  CHECK(answer_of(stage, hostile, no_messages) == Type::kReject);
  HandshakeMessage no_queue = hostile.request("stage");
  no_queue.end.recv_queue_size = 0;
  CHECK(answer_of(stage, hostile, no_queue) == Type::kReject);
  CHECK(stage.pending() == 0);
}

TEST_CASE("a client of another representor is refused") {
  Stage stage;
  // One that keeps the rules does not find the service,
  doca_dev* other_host = nullptr;
  REQUIRE(doca_dev_open(info_of("0000:3b:00.1"), &other_host) == DOCA_SUCCESS);
  {
    Endpoint client(other_host);
    Addr* peer = nullptr;
    CHECK(doca_comm_channel_ep_connect(client.ep, "stage", &peer) == DOCA_ERROR_CONNECTION_ABORTED);
  }
  CHECK(doca_dev_close(other_host) == DOCA_SUCCESS);
  // and one that asks nevertheless is told that there is none.
  Hostile hostile("doca_host1");
  HandshakeMessage honest = hostile.request("stage");
  honest.representor = "0000:3b:00.1";
  CHECK(answer_of(stage, hostile, honest) == Type::kReject);
  HandshakeMessage liar = hostile.request("stage");
  liar.key = {};
  CHECK(answer_of(stage, hostile, liar) == Type::kReject);
  CHECK(stage.pending() == 0);
}

TEST_CASE("nobody can cancel the request, or take the answer, of another client") {
  Stage stage;
  Hostile client, forger;
  const HandshakeMessage request = client.request("stage");
  client.tell(request);
  std::optional<HandshakeMessage> answer = client.answer(request.client_id);
  REQUIRE(answer);
  CHECK(answer->type == Type::kPending);
  forger.request("stage");
  HandshakeMessage cancel = request;
  cancel.type = Type::kCancel;
  forger.tell(cancel);
  HandshakeMessage nowhere = request;
  nowhere.name = "nobody";
  nowhere.client_id = 1;
  CHECK(answer_of(stage, forger, nowhere) == Type::kReject);
  CHECK(stage.pending() == 1);
  CHECK(answer_of(stage, client, request) == Type::kAccept);
  // With the same number from another queue pair it is another client.
  CHECK(answer_of(stage, forger, request) == Type::kAccept);
  CHECK(stage.peers() == 2);
}

TEST_CASE("a client takes answers from its service only") {
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
      forger.tell(forged);
    }
  }
  CHECK(doca_comm_channel_peer_addr_update_info(peer) == DOCA_ERROR_CONNECTION_INPROGRESS);
  until([&] {
    stage.accept();
    return doca_comm_channel_peer_addr_update_info(peer) == DOCA_SUCCESS;
  });
}

TEST_CASE("clients beyond the maximum are refused, waiting ones count, and one that leaves makes room") {
  Stage stage;
  std::vector<std::unique_ptr<Steady>> clients;
  Hostile other("doca_host1");  // one place is left to another host
  stage.admit(other);
  while (clients.size() < kMaxConnections - 2) clients.push_back(std::make_unique<Steady>(stage));
  Endpoint waiting(stage.devices.host), refused(stage.devices.host);
  Addr* peer = nullptr;
  CHECK(doca_comm_channel_ep_connect(waiting.ep, "stage", &peer) == DOCA_SUCCESS);
  CHECK(doca_comm_channel_ep_connect(refused.ep, "stage", &peer) == DOCA_ERROR_CONNECTION_ABORTED);
  stage.accept();
  CHECK(doca_comm_channel_ep_connect(refused.ep, "stage", &peer) == DOCA_ERROR_CONNECTION_ABORTED);
  clients.pop_back();
  until([&] {
    stage.accept();
    return doca_comm_channel_ep_connect(refused.ep, "stage", &peer) == DOCA_SUCCESS;
  });
  CHECK(clients.front()->echoes("undisturbed"));
}

TEST_CASE("one host cannot take all places, neither by connections nor by handshakes that it leaves half done") {
  Stage stage;
  {
    Hostile crowd, other("doca_host1");
    const auto is_taken = [&](Hostile& client) {
      const HandshakeMessage request = client.request("stage");
      client.tell(request);
      const std::optional<HandshakeMessage> answer = client.answer(request.client_id);
      REQUIRE(answer);
      return answer->type == Type::kPending;
    };
    std::size_t waiting = 0;
    while (waiting < kMaxConnections && is_taken(crowd)) ++waiting;
    CHECK(waiting == 4);
    CHECK(is_taken(other));
    // Nobody asks again.
    until([&] { return stage.pending() == 0; });
  }
  std::vector<std::unique_ptr<Steady>> clients;
  while (clients.size() < kMaxPerClient) clients.push_back(std::make_unique<Steady>(stage));
  Endpoint refused(stage.devices.host);
  Addr* peer = nullptr;
  CHECK(doca_comm_channel_ep_connect(refused.ep, "stage", &peer) == DOCA_ERROR_CONNECTION_ABORTED);
  Hostile other("doca_host1");
  stage.admit(other);
  CHECK(stage.peers() == kMaxConnections);
  CHECK(clients.back()->echoes("undisturbed"));
}

TEST_CASE("a service that frees no lost client refuses new ones before their memory is too much") {
  Stage stage;
  std::size_t lost = 0;
  for (; lost < 4 * kMaxConnections; ++lost) {
    Hostile hostile;
    const HandshakeMessage request = hostile.request("stage");
    hostile.tell(request);
    std::optional<HandshakeMessage> answer = hostile.answer(request.client_id);
    REQUIRE(answer);
    if (answer->type == Type::kReject) break;
    stage.accept();
    answer = hostile.answer(request.client_id);
    REQUIRE(answer);
    hostile.establish(answer->end);
    hostile.data(data_frame(kDataKind, 2, "hi"));
    hostile.data(data_frame(kFarewellKind, 0, ""));
    Addr* from = nullptr;
    CHECK(stage.service.wait_for_message(&from) == "hi");
    CHECK(stage.wait_for_loss() == from);
  }
  CHECK(lost == 2 * kMaxConnections);
}

TEST_CASE("half a handshake times out: one that asks no more, and one that was accepted and is not there") {
  Stage stage;
  Steady steady(stage);
  Hostile hostile;
  const HandshakeMessage silent = hostile.request("stage");
  hostile.tell(silent);
  REQUIRE(hostile.answer(silent.client_id));
  CHECK(stage.pending() == 1);
  until([&] { return stage.pending() == 0; });
  HandshakeMessage absent = hostile.request("stage");
  absent.end.data_qpn = 0xabcdef;
  absent.end.control_qpn = 0xabcdee;
  CHECK(answer_of(stage, hostile, absent) == Type::kAccept);
  CHECK(stage.peers() == 2);
  Addr* gone = stage.wait_for_loss();
  CHECK(stage.peers() == 1);
  CHECK(doca_comm_channel_ep_disconnect(stage.service.ep, gone) == DOCA_SUCCESS);
  CHECK(steady.echoes("undisturbed"));
}

TEST_CASE("a flood of handshakes stops no connection, and the next client comes in") {
  Stage stage;
  Steady steady(stage);
  Hostile hostile;
  HandshakeMessage request = hostile.request("stage");
  request.key = {};
  for (int round = 0; round < 50; ++round) {
    hostile.completed();
    for (int i = 0; i < 100; ++i) {
      ++request.client_id;
      hostile.tell(request);
    }
    REQUIRE(steady.echoes("round " + std::to_string(round)));
  }
  CHECK(stage.pending() == 0);
  CHECK(Steady(stage).echoes("served"));
}
