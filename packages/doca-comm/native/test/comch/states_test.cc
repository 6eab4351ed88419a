// Every function of the control path, of engines, contexts and tasks: with right and wrong arguments in every state.
#include "test/support/fast_path.h"

using namespace verbs::doca_comm::model::test;

namespace {

void ignore_message(doca_comch_event_msg_recv*, std::uint8_t*, std::uint32_t, doca_comch_connection*) {}
void ignore_connection(doca_comch_event_connection_status_changed*, doca_comch_connection*, std::uint8_t) {}
void ignore_consumer(doca_comch_event_consumer*, doca_comch_connection*, std::uint32_t) {}

// What may be set while a context is idle only.
void check_settings(ComchServer& server, ComchClient& client, doca_error_t expected) {
  CHECK(doca_comch_server_set_max_msg_size(server.server, 4080) == expected);
  CHECK(doca_comch_client_set_max_msg_size(client.client, 4080) == expected);
  CHECK(doca_comch_server_set_recv_queue_size(server.server, 64) == expected);
  CHECK(doca_comch_client_set_recv_queue_size(client.client, 64) == expected);
  CHECK(doca_comch_server_task_send_set_conf(server.server, on_sent, on_failed, 64) == expected);
  CHECK(doca_comch_client_task_send_set_conf(client.client, on_sent, on_failed, 64) == expected);
  CHECK(doca_comch_server_event_msg_recv_register(server.server, on_message) == expected);
  CHECK(doca_comch_client_event_msg_recv_register(client.client, on_message) == expected);
  CHECK(doca_comch_server_event_connection_status_changed_register(server.server, on_connect, on_disconnect) ==
        expected);
  CHECK(doca_comch_server_event_connection_register(server.server, on_connect, on_disconnect) == expected);
  CHECK(doca_comch_server_event_consumer_register(server.server, ignore_consumer, ignore_consumer) == expected);
  CHECK(doca_comch_client_event_consumer_register(client.client, ignore_consumer, ignore_consumer) == expected);
  CHECK(doca_ctx_set_completion_vector(server.ctx, 0) == expected);
}

}  // namespace

TEST_CASE("the settings of servers and clients: BAD_STATE unless they are idle") {
  ComchPair pair;
  check_settings(pair.server, pair.client, DOCA_ERROR_BAD_STATE);
  stop(pair.engine, pair.client.ctx);
  stop(pair.engine, pair.server.ctx);
  check_settings(pair.server, pair.client, DOCA_SUCCESS);
  std::uint32_t value = 0;
  CHECK(doca_comch_server_set_max_msg_size(pair.server.server, 100) == DOCA_SUCCESS);
  CHECK(doca_comch_server_get_max_msg_size(pair.server.server, &value) == DOCA_SUCCESS);
  CHECK(value == 100);
  CHECK(doca_comch_client_set_recv_queue_size(pair.client.client, 10) == DOCA_SUCCESS);
  CHECK(doca_comch_client_get_recv_queue_size(pair.client.client, &value) == DOCA_SUCCESS);
  CHECK(value == 10);
  for (const std::uint32_t wrong : {0u, 4081u, 0xffffffffu}) {
    CHECK(doca_comch_server_set_max_msg_size(pair.server.server, wrong) == DOCA_ERROR_INVALID_VALUE);
    CHECK(doca_comch_client_set_max_msg_size(pair.client.client, wrong) == DOCA_ERROR_INVALID_VALUE);
  }
  for (const std::uint32_t wrong : {0u, 8193u, 0xffffffffu}) {
    CHECK(doca_comch_server_set_recv_queue_size(pair.server.server, wrong) == DOCA_ERROR_INVALID_VALUE);
    CHECK(doca_comch_client_set_recv_queue_size(pair.client.client, wrong) == DOCA_ERROR_INVALID_VALUE);
    CHECK(doca_comch_server_task_send_set_conf(pair.server.server, on_sent, on_failed, wrong) ==
          DOCA_ERROR_INVALID_VALUE);
    CHECK(doca_comch_client_task_send_set_conf(pair.client.client, on_sent, on_failed, wrong) ==
          DOCA_ERROR_INVALID_VALUE);
  }
}

TEST_CASE("NULL is INVALID_VALUE, or NULL") {
  ComchPair pair;
  doca_comch_server* server = pair.server.server;
  doca_comch_client* client = pair.client.client;
  doca_comch_connection* connection = pair.client.connection();
  std::uint32_t value = 0;
  std::uint64_t count = 0;
  doca_dev* dev = nullptr;
  doca_dev_rep* rep = nullptr;
  doca_comch_task_send* task = nullptr;
  const auto invalid = [](doca_error_t error) { CHECK(error == DOCA_ERROR_INVALID_VALUE); };
  doca_devinfo* dpu = info_of("5f5f:03:00.0");
  for (auto* cap :
       {doca_comch_cap_get_max_name_len, doca_comch_cap_get_max_msg_size, doca_comch_cap_get_max_recv_queue_size,
        doca_comch_cap_get_max_send_tasks, doca_comch_cap_get_max_clients, doca_comch_consumer_cap_get_max_num_tasks,
        doca_comch_consumer_cap_get_max_buf_size, doca_comch_consumer_cap_get_max_buf_list_len,
        doca_comch_consumer_cap_get_max_consumers, doca_comch_consumer_cap_get_max_imm_data_len,
        doca_comch_producer_cap_get_max_num_tasks, doca_comch_producer_cap_get_max_buf_size,
        doca_comch_producer_cap_get_max_buf_list_len, doca_comch_producer_cap_get_max_producers}) {
    invalid(cap(nullptr, &value));
    invalid(cap(dpu, nullptr));
    CHECK(cap(dpu, &value) == DOCA_SUCCESS);
    CHECK(value > 0);
  }
  invalid(doca_comch_cap_server_is_supported(nullptr));
  invalid(doca_comch_cap_client_is_supported(nullptr));
  CHECK(doca_comch_cap_server_is_supported(dpu) == DOCA_SUCCESS);
  CHECK(doca_comch_cap_client_is_supported(dpu) == DOCA_ERROR_NOT_SUPPORTED);
  doca_comch_server* new_server = nullptr;
  doca_comch_client* new_client = nullptr;
  invalid(doca_comch_server_create(nullptr, pair.devices.rep, "x", &new_server));
  invalid(doca_comch_server_create(pair.devices.dpu, nullptr, "x", &new_server));
  invalid(doca_comch_server_create(pair.devices.dpu, pair.devices.rep, nullptr, &new_server));
  invalid(doca_comch_server_create(pair.devices.dpu, pair.devices.rep, "x", nullptr));
  invalid(doca_comch_server_create(pair.devices.dpu, pair.devices.rep, "", &new_server));
  invalid(doca_comch_client_create(nullptr, "x", &new_client));
  invalid(doca_comch_client_create(pair.devices.host, nullptr, &new_client));
  invalid(doca_comch_client_create(pair.devices.host, "x", nullptr));
  invalid(doca_comch_client_create(pair.devices.host, std::string(120, 'x').c_str(), &new_client));
  CHECK(doca_comch_server_create(pair.devices.host, pair.devices.rep, "x", &new_server) == DOCA_ERROR_NOT_SUPPORTED);
  CHECK(doca_comch_client_create(pair.devices.dpu, "x", &new_client) == DOCA_ERROR_NOT_SUPPORTED);
  faults("allocate:1:ENOMEM");
  CHECK(doca_comch_client_create(pair.devices.host, "x", &new_client) == DOCA_ERROR_NO_MEMORY);
  faults(nullptr);
  invalid(doca_comch_server_destroy(nullptr));
  invalid(doca_comch_client_destroy(nullptr));
  invalid(doca_comch_server_set_max_msg_size(nullptr, 1));
  invalid(doca_comch_client_set_max_msg_size(nullptr, 1));
  invalid(doca_comch_server_set_recv_queue_size(nullptr, 1));
  invalid(doca_comch_client_set_recv_queue_size(nullptr, 1));
  for (auto* get : {doca_comch_server_get_max_msg_size, doca_comch_server_get_recv_queue_size}) {
    invalid(get(nullptr, &value));
    invalid(get(server, nullptr));
    CHECK(get(server, &value) == DOCA_SUCCESS);
  }
  for (auto* get : {doca_comch_client_get_max_msg_size, doca_comch_client_get_recv_queue_size}) {
    invalid(get(nullptr, &value));
    invalid(get(client, nullptr));
    CHECK(get(client, &value) == DOCA_SUCCESS);
  }
  invalid(doca_comch_server_get_device(nullptr, &dev));
  invalid(doca_comch_server_get_device(server, nullptr));
  CHECK(doca_comch_server_get_device(server, &dev) == DOCA_SUCCESS);
  CHECK(dev == pair.devices.dpu);
  invalid(doca_comch_client_get_device(nullptr, &dev));
  invalid(doca_comch_client_get_device(client, nullptr));
  CHECK(doca_comch_client_get_device(client, &dev) == DOCA_SUCCESS);
  CHECK(dev == pair.devices.host);
  for (auto* get : {doca_comch_server_get_device_rep, doca_comch_server_get_device_repr}) {
    invalid(get(nullptr, &rep));
    invalid(get(server, nullptr));
    CHECK(get(server, &rep) == DOCA_SUCCESS);
    CHECK(rep == pair.devices.rep);
  }
  CHECK(doca_comch_server_as_ctx(nullptr) == nullptr);
  CHECK(doca_comch_client_as_ctx(nullptr) == nullptr);
  invalid(doca_comch_server_task_send_set_conf(server, nullptr, on_failed, 1));
  invalid(doca_comch_server_task_send_set_conf(server, on_sent, nullptr, 1));
  invalid(doca_comch_client_task_send_set_conf(nullptr, on_sent, on_failed, 1));
  invalid(doca_comch_server_event_msg_recv_register(server, nullptr));
  invalid(doca_comch_client_event_msg_recv_register(nullptr, ignore_message));
  invalid(doca_comch_server_event_connection_status_changed_register(server, nullptr, ignore_connection));
  invalid(doca_comch_server_event_connection_status_changed_register(server, ignore_connection, nullptr));
  invalid(doca_comch_server_event_connection_register(nullptr, ignore_connection, ignore_connection));
  invalid(doca_comch_server_event_consumer_register(server, nullptr, ignore_consumer));
  invalid(doca_comch_client_event_consumer_register(client, ignore_consumer, nullptr));
  invalid(doca_comch_server_task_send_alloc_init(nullptr, pair.to_client, "x", 1, &task));
  invalid(doca_comch_server_task_send_alloc_init(server, nullptr, "x", 1, &task));
  invalid(doca_comch_server_task_send_alloc_init(server, connection, "x", 1, &task));  // the client's
  invalid(doca_comch_server_task_send_alloc_init(server, pair.to_client, nullptr, 1, &task));
  invalid(doca_comch_server_task_send_alloc_init(server, pair.to_client, "x", 1, nullptr));
  invalid(doca_comch_server_task_send_alloc_init(server, pair.to_client, "x", 4081, &task));
  invalid(doca_comch_client_task_send_alloc_init(client, pair.to_client, "x", 1, &task));
  invalid(doca_comch_client_task_send_alloc_init(nullptr, connection, "x", 1, &task));
  invalid(doca_comch_server_disconnect(nullptr, pair.to_client));
  invalid(doca_comch_server_disconnect(server, nullptr));
  invalid(doca_comch_server_disconnect(server, connection));
  doca_comch_connection* found = nullptr;
  invalid(doca_comch_client_get_connection(nullptr, &found));
  invalid(doca_comch_client_get_connection(client, nullptr));
  CHECK(doca_comch_server_get_server_ctx(nullptr) == nullptr);
  CHECK(doca_comch_server_get_server_ctx(connection) == nullptr);
  CHECK(doca_comch_server_get_server_ctx(pair.to_client) == server);
  CHECK(doca_comch_client_get_client_ctx(nullptr) == nullptr);
  CHECK(doca_comch_client_get_client_ctx(pair.to_client) == nullptr);
  CHECK(doca_comch_client_get_client_ctx(connection) == client);
  invalid(doca_comch_connection_set_user_data(nullptr, {.u64 = 1}));
  CHECK(doca_comch_connection_get_user_data(nullptr).u64 == 0);
  CHECK(doca_comch_connection_set_user_data(connection, {.u64 = 7}) == DOCA_SUCCESS);
  CHECK(doca_comch_connection_get_user_data(connection).u64 == 7);
  invalid(doca_comch_connection_update_info(nullptr));
  invalid(doca_comch_connection_get_counter(nullptr, DOCA_COMCH_COUNTER_SENT_BYTES, &count));
  invalid(doca_comch_connection_get_counter(connection, DOCA_COMCH_COUNTER_SENT_BYTES, nullptr));
  for (const int wrong : {0, 5, -1}) {
    invalid(doca_comch_connection_get_counter(connection, static_cast<doca_comch_counter>(wrong), &count));
  }
  CHECK(doca_comch_task_send_as_task(nullptr) == nullptr);
  std::size_t tasks = 0;
  int fd = -1;
  invalid(doca_pe_create(nullptr));
  invalid(doca_pe_destroy(nullptr));
  invalid(doca_pe_connect_ctx(nullptr, pair.server.ctx));
  invalid(doca_pe_connect_ctx(pair.engine.pe, nullptr));
  CHECK(doca_pe_connect_ctx(pair.engine.pe, pair.server.ctx) == DOCA_ERROR_NOT_PERMITTED);
  CHECK(doca_pe_progress(nullptr) == 0);
  invalid(doca_pe_get_notification_handle(nullptr, &fd));
  invalid(doca_pe_get_notification_handle(pair.engine.pe, nullptr));
  invalid(doca_pe_request_notification(nullptr));
  invalid(doca_pe_clear_notification(nullptr, pair.engine.fd));
  invalid(doca_pe_clear_notification(pair.engine.pe, -1));
  invalid(doca_pe_set_event_mode(pair.engine.pe, static_cast<doca_pe_event_mode>(2)));
  invalid(doca_pe_get_num_inflight_tasks(nullptr, &tasks));
  invalid(doca_pe_get_num_inflight_tasks(pair.engine.pe, nullptr));
  doca_ctx_states state;
  doca_data data;
  invalid(doca_ctx_start(nullptr));
  invalid(doca_ctx_stop(nullptr));
  invalid(doca_ctx_get_state(nullptr, &state));
  invalid(doca_ctx_get_state(pair.server.ctx, nullptr));
  invalid(doca_ctx_set_state_changed_cb(nullptr, on_state));
  invalid(doca_ctx_set_state_changed_cb(pair.server.ctx, nullptr));
  invalid(doca_ctx_set_user_data(nullptr, {.u64 = 1}));
  invalid(doca_ctx_get_user_data(nullptr, &data));
  invalid(doca_ctx_get_user_data(pair.server.ctx, nullptr));
  invalid(doca_ctx_get_num_inflight_tasks(nullptr, &tasks));
  invalid(doca_ctx_get_num_inflight_tasks(pair.server.ctx, nullptr));
  doca_ctx_flush_tasks(nullptr);
  invalid(doca_ctx_set_completion_vector(pair.server.ctx, 1));
  invalid(doca_ctx_cap_get_num_completion_vectors(nullptr, &value));
  invalid(doca_task_submit(nullptr));
  invalid(doca_task_try_submit(nullptr));
  invalid(doca_task_submit_ex(nullptr, 0));
  invalid(doca_task_get_status(nullptr));
  doca_task_free(nullptr);
  doca_task_set_user_data(nullptr, {.u64 = 1});
  CHECK(doca_task_get_user_data(nullptr).u64 == 0);
  CHECK(doca_task_get_ctx(nullptr) == nullptr);
}

TEST_CASE("start and stop: NOT_CONNECTED, BAD_STATE, ALREADY_EXIST; destroy: IN_USE") {
  Devices devices;
  ComchEngine engine;
  doca_comch_server* alone = nullptr;
  REQUIRE(doca_comch_server_create(devices.dpu, devices.rep, "states", &alone) == DOCA_SUCCESS);
  doca_ctx* ctx = doca_comch_server_as_ctx(alone);
  CHECK(doca_ctx_start(ctx) == DOCA_ERROR_NOT_CONNECTED);
  CHECK(doca_ctx_stop(ctx) == DOCA_ERROR_BAD_STATE);
  REQUIRE(doca_pe_connect_ctx(engine.pe, ctx) == DOCA_SUCCESS);
  CHECK(doca_pe_destroy(engine.pe) == DOCA_ERROR_IN_USE);
  CHECK(doca_ctx_start(ctx) == DOCA_ERROR_BAD_STATE);  // no configuration of its tasks
  {
    ComchServer server(engine, devices, "states");
    CHECK(doca_ctx_start(server.ctx) == DOCA_SUCCESS);
    CHECK(server.seen.states == std::vector{DOCA_CTX_STATE_RUNNING});
    CHECK(doca_ctx_start(server.ctx) == DOCA_ERROR_BAD_STATE);
    CHECK(doca_comch_server_destroy(server.server) == DOCA_ERROR_IN_USE);
    REQUIRE(doca_comch_server_task_send_set_conf(alone, on_sent, on_failed, 1) == DOCA_SUCCESS);
    CHECK(doca_ctx_start(ctx) == DOCA_ERROR_ALREADY_EXIST);
    CHECK(state_of(ctx) == DOCA_CTX_STATE_IDLE);
    // Without a client and without tasks it stops at once.
    CHECK(doca_ctx_stop(server.ctx) == DOCA_SUCCESS);
    CHECK(server.seen.states == std::vector{DOCA_CTX_STATE_RUNNING, DOCA_CTX_STATE_STOPPING, DOCA_CTX_STATE_IDLE});
  }
  CHECK(doca_comch_server_destroy(alone) == DOCA_SUCCESS);
  CHECK(doca_ctx_start(ctx) == DOCA_ERROR_INVALID_VALUE);  // stale
  CHECK(doca_comch_server_destroy(alone) == DOCA_ERROR_INVALID_VALUE);
}

TEST_CASE("a client that is not connected: get_connection is BAD_STATE; stop while it starts") {
  Devices devices;
  ComchEngine engine, server_engine;
  ComchServer server(server_engine, devices, "slow");
  ComchClient client(engine, devices, "slow");
  doca_comch_connection* connection = nullptr;
  CHECK(doca_comch_client_get_connection(client.client, &connection) == DOCA_ERROR_BAD_STATE);
  REQUIRE(doca_ctx_start(server.ctx) == DOCA_SUCCESS);
  REQUIRE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
  for (int i = 0; i < 100; ++i) doca_pe_progress(engine.pe);
  CHECK(state_of(client.ctx) == DOCA_CTX_STATE_STARTING);  // the server does not make progress
  CHECK(doca_comch_client_get_connection(client.client, &connection) == DOCA_ERROR_BAD_STATE);
  CHECK(doca_comch_client_destroy(client.client) == DOCA_ERROR_IN_USE);
  stop(engine, client.ctx);
  CHECK(client.seen.states == std::vector{DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_STOPPING, DOCA_CTX_STATE_IDLE});
}

TEST_CASE("tasks: NO_MEMORY when all are in use; BAD_STATE for one in flight; freed, they can be used again") {
  ComchPair pair("tasks", 3);
  std::vector<doca_comch_task_send*> tasks(3);
  for (auto*& task : tasks) CHECK(pair.client.allocate("text", &task) == DOCA_SUCCESS);
  doca_comch_task_send* more = nullptr;
  CHECK(pair.client.allocate("text", &more) == DOCA_ERROR_NO_MEMORY);
  doca_task* first = doca_comch_task_send_as_task(tasks[0]);
  CHECK(doca_task_get_ctx(first) == pair.client.ctx);
  CHECK(doca_task_submit_ex(first, 4) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_task_submit(first) == DOCA_SUCCESS);
  CHECK(doca_task_submit(first) == DOCA_ERROR_BAD_STATE);
  std::size_t count = 0;
  CHECK(doca_pe_get_num_inflight_tasks(pair.engine.pe, &count) == DOCA_SUCCESS);
  CHECK(count == 1);
  doca_task_free(first);  // in flight: nothing happens
  pair.engine.run_until([&] { return pair.client.seen.completed == 1; });
  CHECK(doca_ctx_get_num_inflight_tasks(pair.client.ctx, &count) == DOCA_SUCCESS);
  CHECK(count == 0);
  CHECK(pair.client.allocate("text", &more) == DOCA_SUCCESS);
  for (doca_comch_task_send* task : {tasks[1], tasks[2], more}) doca_task_free(doca_comch_task_send_as_task(task));
  CHECK(doca_task_submit(first) == DOCA_ERROR_INVALID_VALUE);  // freed
}

TEST_CASE("a full queue: AGAIN, until the other end receives; nothing is lost") {
  Devices devices;
  ComchEngine engine, client_engine;
  ComchServer server(engine, devices, "full", 2000);
  ComchClient client(client_engine, devices, "full");
  REQUIRE(doca_ctx_start(server.ctx) == DOCA_SUCCESS);
  REQUIRE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
  until([&] {
    doca_pe_progress(engine.pe);
    doca_pe_progress(client_engine.pe);
    return state_of(client.ctx) == DOCA_CTX_STATE_RUNNING;
  });
  const std::string text = "text";
  std::size_t sent = 0;
  while (server.send(server.seen.connected[0], text) == DOCA_SUCCESS) ++sent;
  CHECK(sent >= 1024);
  CHECK(server.send(server.seen.connected[0], text) == DOCA_ERROR_AGAIN);
  until([&] {
    doca_pe_progress(client_engine.pe);
    doca_pe_progress(engine.pe);
    return client.seen.messages.size() == sent && server.seen.completed == static_cast<int>(sent);
  });
  CHECK(server.send(server.seen.connected[0], text) == DOCA_SUCCESS);
  stop(client_engine, client.ctx);
  engine.run_until([&] { return server.seen.disconnected.size() == 1; });
}

TEST_CASE("stop with tasks in flight: each comes back with an error, then IDLE; unsubmitted ones keep it from IDLE") {
  Devices devices;
  ComchEngine engine, server_engine;
  ComchServer server(server_engine, devices, "in flight");
  ComchClient client(engine, devices, "in flight");
  REQUIRE(doca_ctx_start(server.ctx) == DOCA_SUCCESS);
  REQUIRE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
  until([&] {
    doca_pe_progress(server_engine.pe);
    doca_pe_progress(engine.pe);
    return state_of(client.ctx) == DOCA_CTX_STATE_RUNNING;
  });
  const std::string text = "text";
  doca_comch_task_send* kept = nullptr;
  CHECK(client.allocate(text, &kept) == DOCA_SUCCESS);
  for (int i = 0; i < 63; ++i) CHECK(client.send(text) == DOCA_SUCCESS);
  CHECK(doca_ctx_stop(client.ctx) == DOCA_ERROR_IN_PROGRESS);
  CHECK(doca_ctx_stop(client.ctx) == DOCA_ERROR_IN_PROGRESS);
  CHECK(doca_task_submit(doca_comch_task_send_as_task(kept)) == DOCA_ERROR_BAD_STATE);
  engine.run_until([&] { return client.seen.completed + client.seen.failed == 63; });
  CHECK(client.seen.failed > 0);
  CHECK(client.seen.status == DOCA_ERROR_BAD_STATE);
  for (int i = 0; i < 1000; ++i) doca_pe_progress(engine.pe);
  CHECK(state_of(client.ctx) == DOCA_CTX_STATE_STOPPING);
  CHECK(doca_comch_client_destroy(client.client) == DOCA_ERROR_IN_USE);
  doca_task_free(doca_comch_task_send_as_task(kept));
  until([&] {
    doca_pe_progress(server_engine.pe);
    doca_pe_progress(engine.pe);
    return state_of(client.ctx) == DOCA_CTX_STATE_IDLE;
  });
}

TEST_CASE("callbacks may send, disconnect, stop and destroy") {
  Devices devices;
  ComchEngine engine;
  ComchServer server(engine, devices, "nested");
  ComchClient client(engine, devices, "nested");
  REQUIRE(doca_ctx_start(server.ctx) == DOCA_SUCCESS);
  REQUIRE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
  engine.run_until([&] { return state_of(client.ctx) == DOCA_CTX_STATE_RUNNING; });
  const std::string text = "text";
  int left = 100;
  server.seen.on_message = [&](doca_comch_connection* from, const std::string& message) {
    CHECK(doca_pe_progress(engine.pe) == 0);
    if (message == "stop") {
      CHECK(doca_comch_server_disconnect(server.server, from) == DOCA_SUCCESS);
      CHECK(doca_comch_connection_update_info(from) == DOCA_ERROR_INVALID_VALUE);
    } else {
      CHECK(server.send(from, text) == DOCA_SUCCESS);
    }
  };
  client.seen.on_message = [&](doca_comch_connection*, const std::string&) {
    static const std::string kStop = "stop";
    CHECK(client.send(--left > 0 ? text : kStop) == DOCA_SUCCESS);
  };
  client.seen.on_state = [&](doca_ctx_states next) {
    if (next != DOCA_CTX_STATE_IDLE) return;
    CHECK(doca_comch_client_destroy(client.client) == DOCA_SUCCESS);
    client.client = nullptr;
  };
  CHECK(client.send(text) == DOCA_SUCCESS);
  engine.run_until([&] { return client.client == nullptr; });
  CHECK(left == 0);
}

TEST_CASE("counters are those of the last update") {
  ComchPair pair;
  CHECK(pair.client.send("12345") == DOCA_SUCCESS);
  pair.engine.run_until([&] { return pair.server.seen.messages.size() == 1 && pair.client.seen.completed == 1; });
  doca_comch_connection* connection = pair.client.connection();
  std::uint64_t value = 1;
  CHECK(doca_comch_connection_get_counter(connection, DOCA_COMCH_COUNTER_SENT_MESSAGES, &value) == DOCA_SUCCESS);
  CHECK(value == 0);
  CHECK(doca_comch_connection_update_info(connection) == DOCA_SUCCESS);
  CHECK(doca_comch_connection_get_counter(connection, DOCA_COMCH_COUNTER_SENT_MESSAGES, &value) == DOCA_SUCCESS);
  CHECK(value == 1);
  CHECK(doca_comch_connection_get_counter(connection, DOCA_COMCH_COUNTER_SENT_BYTES, &value) == DOCA_SUCCESS);
  CHECK(value == 5);
  CHECK(doca_comch_connection_update_info(pair.to_client) == DOCA_SUCCESS);
  CHECK(doca_comch_connection_get_counter(pair.to_client, DOCA_COMCH_COUNTER_RECV_MESSAGES, &value) == DOCA_SUCCESS);
  CHECK(value == 1);
  CHECK(doca_comch_connection_get_counter(pair.to_client, DOCA_COMCH_COUNTER_RECV_BYTES, &value) == DOCA_SUCCESS);
  CHECK(value == 5);
}

// A connection is the program's until the context is idle. What it can be asked, and what is refused, in each state.
TEST_CASE("every call on a connection from inside a client's callbacks of its states, whoever ends it") {
  for (const std::string how :
       {"disconnect", "server stops", "client stops", "client stops with a task", "in a message"}) {
    CAPTURE(how);
    ComchPair pair;
    Memory memory(pair.devices.host);
    doca_comch_connection* connection = pair.client.connection();
    doca_comch_task_send* kept = nullptr;
    REQUIRE(pair.client.allocate("kept", &kept) == DOCA_SUCCESS);
    const auto call_all = [&](doca_error_t updated, doca_error_t got) {
      std::uint64_t value = 0;
      doca_comch_connection* found = nullptr;
      doca_comch_task_send* task = nullptr;
      doca_comch_producer* producer = nullptr;
      doca_comch_consumer* consumer = nullptr;
      const bool there = updated != DOCA_ERROR_INVALID_VALUE;
      const doca_error_t stale = there ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
      CHECK(doca_comch_client_get_connection(pair.client.client, &found) == got);
      CHECK(doca_comch_connection_update_info(connection) == updated);
      CHECK(doca_comch_connection_get_counter(connection, DOCA_COMCH_COUNTER_SENT_BYTES, &value) == stale);
      CHECK(doca_comch_connection_set_user_data(connection, {.u64 = 5}) == stale);
      CHECK(doca_comch_connection_get_user_data(connection).u64 == (there ? 5 : 0));
      CHECK(doca_comch_client_get_client_ctx(connection) == (there ? pair.client.client : nullptr));
      const doca_error_t ended = there ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_INVALID_VALUE;
      CHECK(doca_comch_client_task_send_alloc_init(pair.client.client, connection, "x", 1, &task) == ended);
      CHECK(doca_comch_producer_create(connection, &producer) == ended);
      CHECK(doca_comch_consumer_create(connection, memory.mmap, &consumer) == ended);
      if (!there) return;
      CHECK(doca_task_submit(doca_comch_task_send_as_task(kept)) == DOCA_ERROR_BAD_STATE);
      CHECK(doca_ctx_stop(pair.client.ctx) == DOCA_ERROR_IN_PROGRESS);
      CHECK(doca_comch_client_destroy(pair.client.client) == DOCA_ERROR_IN_USE);
      if (how != "client stops with a task") doca_task_free(doca_comch_task_send_as_task(kept));
    };
    std::vector<doca_ctx_states> called;
    pair.client.seen.on_state = [&](doca_ctx_states next) {
      called.push_back(next);
      if (next == DOCA_CTX_STATE_STOPPING) call_all(DOCA_ERROR_CONNECTION_ABORTED, DOCA_ERROR_BAD_STATE);
      if (next == DOCA_CTX_STATE_IDLE) call_all(DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE);
    };
    if (how == "disconnect") CHECK(doca_comch_server_disconnect(pair.server.server, pair.to_client) == DOCA_SUCCESS);
    if (how == "server stops") doca_ctx_stop(pair.server.ctx);
    if (how.starts_with("client stops")) doca_ctx_stop(pair.client.ctx);
    if (how == "in a message") {
      pair.client.seen.on_message = [&](doca_comch_connection*, const std::string&) { doca_ctx_stop(pair.client.ctx); };
      CHECK(pair.server.send(pair.to_client, "stop") == DOCA_SUCCESS);
    }
    if (how == "client stops with a task") {
      for (int i = 0; i < 50; ++i) doca_pe_progress(pair.engine.pe);
      CHECK(state_of(pair.client.ctx) == DOCA_CTX_STATE_STOPPING);
      doca_task_free(doca_comch_task_send_as_task(kept));
    }
    pair.engine.run_until([&] { return state_of(pair.client.ctx) == DOCA_CTX_STATE_IDLE; });
    CHECK(called == std::vector{DOCA_CTX_STATE_STOPPING, DOCA_CTX_STATE_IDLE});
    pair.client.seen.on_state = nullptr;
  }
}
