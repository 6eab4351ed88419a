// The control path of Comch: servers, clients, messages and the ends of connections.
#include <sys/wait.h>
#include <unistd.h>

#include "test/support/comch.h"

using namespace verbs::doca_comm::model::test;

TEST_CASE("A client connects to a server, and messages go both ways") {
  ComchPair pair;
  const std::string hello = "hello", answer(4080, 'a');
  CHECK(pair.client.seen.states == std::vector{DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_RUNNING});
  CHECK(pair.client.send(hello) == DOCA_SUCCESS);
  pair.engine.run_until([&] { return pair.server.seen.messages.size() == 1 && pair.client.seen.completed == 1; });
  CHECK(pair.server.seen.messages[0] == hello);
  CHECK(pair.server.seen.senders[0] == pair.to_client);
  CHECK(pair.server.send(pair.to_client, answer) == DOCA_SUCCESS);
  pair.engine.run_until([&] { return pair.client.seen.messages.size() == 1 && pair.server.seen.completed == 1; });
  CHECK(pair.client.seen.messages[0] == answer);
  CHECK(pair.client.seen.failed + pair.server.seen.failed == 0);
}

TEST_CASE("A client without a server: STARTING, STOPPING, IDLE, and no RUNNING; it starts again") {
  Devices devices;
  ComchEngine engine;
  ComchClient client(engine, devices, "nobody");
  for (int i = 0; i < 2; ++i) {
    client.seen.states.clear();
    CHECK(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
    engine.run_until([&] { return state_of(client.ctx) == DOCA_CTX_STATE_IDLE; });
    CHECK(client.seen.states == std::vector{DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_STOPPING, DOCA_CTX_STATE_IDLE});
  }
  ComchServer server(engine, devices, "nobody");
  CHECK(doca_ctx_start(server.ctx) == DOCA_SUCCESS);
  CHECK(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
  engine.run_until([&] { return state_of(client.ctx) == DOCA_CTX_STATE_RUNNING; });
}

TEST_CASE("A client that stops is reported to its server, and connects again") {
  ComchPair pair;
  for (std::size_t i = 1; i <= 20; ++i) {
    stop(pair.engine, pair.client.ctx);
    pair.engine.run_until([&] { return pair.server.seen.disconnected.size() == i; });
    CHECK(doca_ctx_start(pair.client.ctx) == DOCA_ERROR_IN_PROGRESS);
    pair.engine.run_until([&] { return state_of(pair.client.ctx) == DOCA_CTX_STATE_RUNNING; });
    CHECK(pair.server.seen.connected.size() == i + 1);
    CHECK(pair.client.send("again") == DOCA_SUCCESS);
    pair.engine.run_until([&] { return pair.server.seen.messages.size() == i; });
  }
}

TEST_CASE("A server that stops ends its clients: STOPPING, IDLE") {
  ComchPair pair;
  stop(pair.engine, pair.server.ctx);
  pair.engine.run_until([&] { return state_of(pair.client.ctx) == DOCA_CTX_STATE_IDLE; });
  CHECK(pair.client.seen.states ==
        std::vector{DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_RUNNING, DOCA_CTX_STATE_STOPPING, DOCA_CTX_STATE_IDLE});
  CHECK(pair.server.seen.disconnected.empty());
  CHECK(doca_ctx_start(pair.server.ctx) == DOCA_SUCCESS);
  CHECK(doca_ctx_start(pair.client.ctx) == DOCA_ERROR_IN_PROGRESS);
  pair.engine.run_until([&] { return state_of(pair.client.ctx) == DOCA_CTX_STATE_RUNNING; });
}

TEST_CASE("server_disconnect: the client ends, messages sent before arrive, and the server gets no callback") {
  ComchPair pair;
  const std::string last = "last";
  CHECK(pair.server.send(pair.to_client, last) == DOCA_SUCCESS);
  pair.engine.run_until([&] { return pair.server.seen.completed == 1; });
  CHECK(doca_comch_server_disconnect(pair.server.server, pair.to_client) == DOCA_SUCCESS);
  CHECK(doca_comch_server_disconnect(pair.server.server, pair.to_client) == DOCA_ERROR_INVALID_VALUE);
  pair.engine.run_until([&] { return state_of(pair.client.ctx) == DOCA_CTX_STATE_IDLE; });
  CHECK(pair.client.seen.messages == std::vector<std::string>{last});
  CHECK(pair.server.seen.disconnected.empty());
}

TEST_CASE("a client that stops its context in the callback of a failed message, whose server has left") {
  Devices devices;
  ComchEngine engine, server_engine;
  ComchServer server(server_engine, devices, "left");
  ComchClient client(engine, devices, "left");
  REQUIRE(doca_ctx_start(server.ctx) == DOCA_SUCCESS);
  REQUIRE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
  until([&] {
    doca_pe_progress(server_engine.pe);
    doca_pe_progress(engine.pe);
    return state_of(client.ctx) == DOCA_CTX_STATE_RUNNING;
  });
  client.seen.on_message = [&](doca_comch_connection*, const std::string&) {
    for (const char* answer : {"first", "second"}) CHECK(client.send(answer) == DOCA_SUCCESS);
  };
  client.seen.on_failed = [&] { doca_ctx_stop(client.ctx); };
  CHECK(server.send(server.seen.connected[0], "question") == DOCA_SUCCESS);
  CHECK(doca_comch_server_disconnect(server.server, server.seen.connected[0]) == DOCA_SUCCESS);
  engine.run_until([&] { return state_of(client.ctx) == DOCA_CTX_STATE_IDLE; });
  CHECK(client.seen.failed == 2);
  CHECK(client.seen.states ==
        std::vector{DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_RUNNING, DOCA_CTX_STATE_STOPPING, DOCA_CTX_STATE_IDLE});
}

TEST_CASE("a registry that cannot be used is INITIALIZATION, and no name that another server has") {
  Devices devices;
  ComchEngine engine;
  ComchServer server(engine, devices, "registered");
  for (const char* plan : {"registry:1:EACCES", "registry:1:EMFILE"}) {
    faults(plan);
    CHECK(doca_ctx_start(server.ctx) == DOCA_ERROR_INITIALIZATION);
  }
  faults(nullptr);
  CHECK(doca_ctx_start(server.ctx) == DOCA_SUCCESS);
}

TEST_CASE("after a fork all is the parent's: calls of the child are rejected, and its exit has no effect") {
  ComchPair pair;
  const pid_t child = fork();
  if (child == 0) {
    doca_ctx_states state;
    doca_comch_task_send* task = nullptr;
    doca_comch_server* made = nullptr;
    doca_pe* engine = nullptr;
    const bool rejected =
        doca_ctx_get_state(pair.client.ctx, &state) == DOCA_ERROR_INVALID_VALUE &&
        doca_ctx_stop(pair.server.ctx) == DOCA_ERROR_INVALID_VALUE && doca_pe_progress(pair.engine.pe) == 0 &&
        doca_pe_destroy(pair.engine.pe) == DOCA_ERROR_INVALID_VALUE &&
        pair.server.allocate(pair.to_client, "x", &task) == DOCA_ERROR_INVALID_VALUE &&
        doca_comch_server_disconnect(pair.server.server, pair.to_client) == DOCA_ERROR_INVALID_VALUE &&
        doca_comch_client_destroy(pair.client.client) == DOCA_ERROR_INVALID_VALUE &&
        doca_comch_server_create(pair.devices.dpu, pair.devices.rep, "forked", &made) == DOCA_ERROR_INVALID_VALUE;
    // What belongs to no device of the parent works.
    const bool makes = doca_pe_create(&engine) == DOCA_SUCCESS && doca_pe_destroy(engine) == DOCA_SUCCESS;
    _exit(rejected && makes ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(pair.client.send("still") == DOCA_SUCCESS);
  pair.engine.run_until([&] { return pair.server.seen.messages.size() == 1; });
  CHECK(pair.server.seen.messages[0] == "still");
}
