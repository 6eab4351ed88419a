// A server and clients of Comch on the default BlueField in one process, through the drop-in libraries.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "doca_comch.h"
#include "test/support/pair.h"

namespace verbs::doca_comm::model::test {

// What a context told the program. The user data of the context points at it.
struct Seen {
  std::vector<std::string> messages;
  std::deque<std::string> sent;  // unchanged until the tasks are done
  std::vector<doca_comch_connection*> connected, disconnected, senders;
  std::vector<doca_ctx_states> states;
  int completed = 0, failed = 0;
  doca_error_t status = DOCA_SUCCESS;  // of the last task
  std::function<void(doca_comch_connection*, const std::string&)> on_message;
  std::function<void(doca_comch_task_send*)> on_sent;
  std::function<void()> on_failed;
  std::function<void(doca_ctx_states)> on_state;
};

inline Seen& seen_of(doca_data data) { return *static_cast<Seen*>(data.ptr); }

inline doca_ctx* ctx_of(const doca_comch_connection* connection) {
  if (doca_comch_server* server = doca_comch_server_get_server_ctx(connection)) return doca_comch_server_as_ctx(server);
  return doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection));
}
inline Seen& seen_of(const doca_comch_connection* connection) {
  doca_data data;
  REQUIRE(doca_ctx_get_user_data(ctx_of(connection), &data) == DOCA_SUCCESS);
  return seen_of(data);
}

inline void on_sent(doca_comch_task_send* task, doca_data, doca_data ctx) {
  Seen& seen = seen_of(ctx);
  ++seen.completed;
  seen.status = doca_task_get_status(doca_comch_task_send_as_task(task));
  if (seen.on_sent) return seen.on_sent(task);
  doca_task_free(doca_comch_task_send_as_task(task));
}
inline void on_failed(doca_comch_task_send* task, doca_data, doca_data ctx) {
  Seen& seen = seen_of(ctx);
  ++seen.failed;
  seen.status = doca_task_get_status(doca_comch_task_send_as_task(task));
  doca_task_free(doca_comch_task_send_as_task(task));
  if (seen.on_failed) seen.on_failed();
}
inline void on_message(doca_comch_event_msg_recv*, std::uint8_t* buffer, std::uint32_t length,
                       doca_comch_connection* from) {
  Seen& seen = seen_of(from);
  const std::string message(reinterpret_cast<const char*>(buffer), length);
  seen.messages.push_back(message);
  seen.senders.push_back(from);
  if (seen.on_message) seen.on_message(from, message);
}
inline void on_connect(doca_comch_event_connection_status_changed*, doca_comch_connection* connection,
                       std::uint8_t success) {
  CHECK(success == 1);
  seen_of(connection).connected.push_back(connection);
}
inline void on_disconnect(doca_comch_event_connection_status_changed*, doca_comch_connection* connection,
                          std::uint8_t) {
  seen_of(connection).disconnected.push_back(connection);
}
inline void on_state(const doca_data data, doca_ctx*, doca_ctx_states, doca_ctx_states next) {
  seen_of(data).states.push_back(next);
  if (seen_of(data).on_state) seen_of(data).on_state(next);
}

struct ComchEngine {
  ComchEngine() {
    REQUIRE(doca_pe_create(&pe) == DOCA_SUCCESS);
    REQUIRE(doca_pe_get_notification_handle(pe, &fd) == DOCA_SUCCESS);
  }
  ~ComchEngine() { CHECK(doca_pe_destroy(pe) == DOCA_SUCCESS); }
  ComchEngine(const ComchEngine&) = delete;
  ComchEngine& operator=(const ComchEngine&) = delete;

  template <typename Done>
  void run_until(Done&& done) {
    until([&] {
      while (doca_pe_progress(pe)) {
      }
      return done();
    });
  }
  bool readable(int milliseconds = 0) const {
    pollfd wait{fd, POLLIN, 0};
    return poll(&wait, 1, milliseconds) == 1;
  }
  doca_pe* pe = nullptr;
  int fd = -1;
};

inline doca_ctx_states state_of(doca_ctx* ctx) {
  doca_ctx_states state;
  REQUIRE(doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS);
  return state;
}

inline void stop(ComchEngine& engine, doca_ctx* ctx) {
  if (state_of(ctx) != DOCA_CTX_STATE_IDLE) doca_ctx_stop(ctx);
  engine.run_until([&] { return state_of(ctx) == DOCA_CTX_STATE_IDLE; });
}

struct ComchServer {
  ComchServer(ComchEngine& on, Devices& devices, const char* name, std::uint32_t tasks = 64) : engine(on) {
    REQUIRE(doca_comch_server_create(devices.dpu, devices.rep, name, &server) == DOCA_SUCCESS);
    ctx = doca_comch_server_as_ctx(server);
    REQUIRE(ctx);
    REQUIRE(doca_ctx_set_user_data(ctx, {.ptr = &seen}) == DOCA_SUCCESS);
    REQUIRE(doca_ctx_set_state_changed_cb(ctx, on_state) == DOCA_SUCCESS);
    REQUIRE(doca_comch_server_task_send_set_conf(server, on_sent, on_failed, tasks) == DOCA_SUCCESS);
    REQUIRE(doca_comch_server_event_msg_recv_register(server, on_message) == DOCA_SUCCESS);
    REQUIRE(doca_comch_server_event_connection_status_changed_register(server, on_connect, on_disconnect) ==
            DOCA_SUCCESS);
    REQUIRE(doca_pe_connect_ctx(engine.pe, ctx) == DOCA_SUCCESS);
  }
  ~ComchServer() {
    verbs_doca_set_faults(nullptr);
    if (!server) return;
    stop(engine, ctx);
    CHECK(doca_comch_server_destroy(server) == DOCA_SUCCESS);
  }
  ComchServer(const ComchServer&) = delete;
  ComchServer& operator=(const ComchServer&) = delete;

  doca_error_t allocate(doca_comch_connection* to, const std::string& message, doca_comch_task_send** task) {
    seen.sent.push_back(message);
    return doca_comch_server_task_send_alloc_init(server, to, seen.sent.back().data(),
                                                  static_cast<std::uint32_t>(message.size()), task);
  }
  doca_error_t send(doca_comch_connection* to, const std::string& message) {
    doca_comch_task_send* task = nullptr;
    if (const doca_error_t error = allocate(to, message, &task)) return error;
    const doca_error_t error = doca_task_submit(doca_comch_task_send_as_task(task));
    if (error != DOCA_SUCCESS) doca_task_free(doca_comch_task_send_as_task(task));
    return error;
  }
  ComchEngine& engine;
  Seen seen;
  doca_comch_server* server = nullptr;
  doca_ctx* ctx = nullptr;
};

struct ComchClient {
  ComchClient(ComchEngine& on, Devices& devices, const char* name, std::uint32_t tasks = 64) : engine(on) {
    REQUIRE(doca_comch_client_create(devices.host, name, &client) == DOCA_SUCCESS);
    ctx = doca_comch_client_as_ctx(client);
    REQUIRE(ctx);
    REQUIRE(doca_ctx_set_user_data(ctx, {.ptr = &seen}) == DOCA_SUCCESS);
    REQUIRE(doca_ctx_set_state_changed_cb(ctx, on_state) == DOCA_SUCCESS);
    REQUIRE(doca_comch_client_task_send_set_conf(client, on_sent, on_failed, tasks) == DOCA_SUCCESS);
    REQUIRE(doca_comch_client_event_msg_recv_register(client, on_message) == DOCA_SUCCESS);
    REQUIRE(doca_pe_connect_ctx(engine.pe, ctx) == DOCA_SUCCESS);
  }
  ~ComchClient() {
    verbs_doca_set_faults(nullptr);
    if (!client) return;
    stop(engine, ctx);
    CHECK(doca_comch_client_destroy(client) == DOCA_SUCCESS);
  }
  ComchClient(const ComchClient&) = delete;
  ComchClient& operator=(const ComchClient&) = delete;

  doca_comch_connection* connection() const {
    doca_comch_connection* found = nullptr;
    REQUIRE(doca_comch_client_get_connection(client, &found) == DOCA_SUCCESS);
    return found;
  }
  doca_error_t allocate(const std::string& message, doca_comch_task_send** task) {
    seen.sent.push_back(message);
    return doca_comch_client_task_send_alloc_init(client, connection(), seen.sent.back().data(),
                                                  static_cast<std::uint32_t>(message.size()), task);
  }
  doca_error_t send(const std::string& message) {
    doca_comch_task_send* task = nullptr;
    if (const doca_error_t error = allocate(message, &task)) return error;
    const doca_error_t error = doca_task_submit(doca_comch_task_send_as_task(task));
    if (error != DOCA_SUCCESS) doca_task_free(doca_comch_task_send_as_task(task));
    return error;
  }
  ComchEngine& engine;
  Seen seen;
  doca_comch_client* client = nullptr;
  doca_ctx* ctx = nullptr;
};

// A server and a client that are connected, on one engine.
struct ComchPair {
  explicit ComchPair(const char* name = "comch", std::uint32_t tasks = 64)
      : server(engine, devices, name, tasks), client(engine, devices, name, tasks) {
    REQUIRE(doca_ctx_start(server.ctx) == DOCA_SUCCESS);
    REQUIRE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
    engine.run_until([&] { return state_of(client.ctx) == DOCA_CTX_STATE_RUNNING && !server.seen.connected.empty(); });
    to_client = server.seen.connected[0];
  }
  Devices devices;
  ComchEngine engine;
  ComchServer server;
  ComchClient client;
  doca_comch_connection* to_client = nullptr;
};

}  // namespace verbs::doca_comm::model::test
