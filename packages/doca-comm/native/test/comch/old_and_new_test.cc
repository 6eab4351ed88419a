// Ends of the Comm Channel and of Comch talk to each other; such a connection has no fast path.
#include "test/support/fast_path.h"

using namespace verbs::doca_comm::model::test;

TEST_CASE("an endpoint of the Comm Channel, and a server of Comch") {
  Devices devices;
  ComchEngine engine;
  ComchServer server(engine, devices, "new");
  REQUIRE(doca_ctx_start(server.ctx) == DOCA_SUCCESS);
  Endpoint client(devices.host);
  Addr* to_server = nullptr;
  REQUIRE(doca_comm_channel_ep_connect(client.ep, "new", &to_server) == DOCA_SUCCESS);
  engine.run_until([&] { return doca_comm_channel_peer_addr_update_info(to_server) == DOCA_SUCCESS; });
  REQUIRE(client.send("old", to_server) == DOCA_SUCCESS);
  engine.run_until([&] { return server.seen.messages.size() == 1; });
  CHECK(server.seen.messages[0] == "old");
  doca_comch_connection* connection = server.seen.connected[0];
  const std::string answer = "new";
  CHECK(server.send(connection, answer) == DOCA_SUCCESS);
  Addr* from = nullptr;
  CHECK(client.wait_for_message(&from) == "new");
  engine.run_until([&] { return server.seen.completed == 1; });
  Memory memory(devices.dpu);
  doca_comch_consumer* consumer = nullptr;
  doca_comch_producer* producer = nullptr;
  CHECK(doca_comch_consumer_create(connection, memory.mmap, &consumer) == DOCA_ERROR_NOT_PERMITTED);
  CHECK(doca_comch_producer_create(connection, &producer) == DOCA_ERROR_NOT_PERMITTED);
  REQUIRE(doca_comm_channel_ep_disconnect(client.ep, to_server) == DOCA_SUCCESS);
  engine.run_until([&] { return server.seen.disconnected.size() == 1; });
}

TEST_CASE("a client of Comch, and a service of the Comm Channel") {
  Devices devices;
  ComchEngine engine;
  Endpoint service(devices.dpu, devices.rep);
  REQUIRE(doca_comm_channel_ep_listen(service.ep, "old") == DOCA_SUCCESS);
  ComchClient client(engine, devices, "old");
  REQUIRE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
  std::string message;
  Addr* from = nullptr;
  engine.run_until([&] {
    service.receive(&message, &from);
    return state_of(client.ctx) == DOCA_CTX_STATE_RUNNING;
  });
  const std::string text = "new";
  CHECK(client.send(text) == DOCA_SUCCESS);
  CHECK(service.wait_for_message(&from) == "new");
  REQUIRE(service.send("old", from) == DOCA_SUCCESS);
  engine.run_until([&] { return client.seen.messages.size() == 1 && client.seen.completed == 1; });
  CHECK(client.seen.messages[0] == "old");
  REQUIRE(doca_comm_channel_ep_disconnect(service.ep, from) == DOCA_SUCCESS);
  engine.run_until([&] { return state_of(client.ctx) == DOCA_CTX_STATE_IDLE; });
}
