// A server or a client of Comch: its connections, and the messages that it has under way.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "binding/comch/context.h"
#include "binding/representor.h"

namespace verbs::doca_comm::binding {

class ComchEnd;

// A connection, by the number that JavaScript knows it by. Numbers are not used again.
struct Connection {
  std::uint32_t number;
  doca_comch_connection* pointer;  // null once it is gone: then its last counters are left
  ComchEnd* end;
  std::uint32_t in_flight;
  // Messages and bytes sent, messages and bytes received: the library's, as of the last update, and our own, which are
  // there when the library cannot be asked any more.
  std::array<std::uint64_t, 4> counters;
  std::array<std::uint64_t, 4> counted;
};

class ComchEnd final : public Context {
 public:
  // A server where there is a representor. Null with the error.
  static std::unique_ptr<ComchEnd> create(Engine& engine, std::shared_ptr<OpenDevice> device,
                                          std::shared_ptr<OpenRepresentor> representor, const std::string& name,
                                          doca_error_t* error);
  ~ComchEnd() override { destroy_object(); }

  enum class Size : std::uint8_t { kMessage, kReceiveQueue, kSendTasks };
  doca_error_t set_size(Size which, std::uint32_t size);
  doca_error_t get_size(Size which, std::uint32_t* size) const;

  doca_error_t start() override;
  // Copies the message. `cookie` comes back with its completion; 0: only a failure is told. AGAIN where `limit`
  // messages to this peer are in flight.
  doca_error_t send(std::uint32_t connection, const std::uint8_t* message, std::size_t length, std::uint32_t cookie,
                    std::uint32_t limit);
  doca_error_t disconnect(std::uint32_t connection);
  static constexpr std::size_t kCounters = 5;  // those of a connection, and its messages in flight
  doca_error_t update_info(std::uint32_t connection);
  doca_error_t counters(std::uint32_t connection, std::uint64_t* out) const;
  // Messages of all connections whose tasks have not completed.
  std::uint32_t in_flight() const { return in_flight_; }
  // JavaScript has no use for a connection that is gone.
  void forget(std::uint32_t connection);

  // Of this end, or null.
  Connection* connection(std::uint32_t number) const;
  // The same, if it is not gone.
  Connection* live(std::uint32_t number) const;
  const auto& connections() const { return connections_; }
  const std::shared_ptr<OpenDevice>& device() const { return device_; }
  void add_path() { ++paths_; }
  void remove_path() { --paths_; }

 private:
  // A copy of a message until its task completes. Its memory stays for the next one.
  struct Slot {
    std::vector<std::uint8_t> bytes;
    std::uint32_t connection;
    std::uint32_t cookie;
    Slot* next;
  };

  ComchEnd(Engine& engine, Kind kind, std::shared_ptr<OpenDevice> device, std::shared_ptr<OpenRepresentor> representor)
      : Context(engine, kind), device_(std::move(device)), representor_(std::move(representor)) {}

  const ComchFunctions& comch() const { return *engine_.library().comch(); }
  bool is_server() const { return kind() == Kind::kServer; }
  doca_error_t register_callbacks();
  Connection* adopt(doca_comch_connection* pointer);
  void read_counters(Connection& connection) const;
  void drop(Connection& connection);
  Slot* take_slot();

  doca_error_t destroy_object() override;
  bool needed() const override { return paths_ > 0; }
  void on_state(doca_ctx_states state) override;

  // Of the engine whose progress calls them.
  static Connection* find(doca_comch_connection* pointer, bool adopts);
  static void on_sent(doca_comch_task_send* task, doca_data task_data, doca_data ctx_data);
  static void on_message(doca_comch_event_msg_recv* event, std::uint8_t* buffer, std::uint32_t length,
                         doca_comch_connection* pointer);
  static void on_connected(doca_comch_event_connection_status_changed* event, doca_comch_connection* pointer,
                           std::uint8_t success);
  static void on_disconnected(doca_comch_event_connection_status_changed* event, doca_comch_connection* pointer,
                              std::uint8_t success);
  static void on_consumer(doca_comch_event_consumer* event, doca_comch_connection* pointer, std::uint32_t id);
  static void on_consumer_gone(doca_comch_event_consumer* event, doca_comch_connection* pointer, std::uint32_t id);

  const std::shared_ptr<OpenDevice> device_;
  const std::shared_ptr<OpenRepresentor> representor_;
  doca_comch_server* server_ = nullptr;
  doca_comch_client* client_ = nullptr;
  std::uint32_t send_tasks_ = 64;
  std::uint32_t longest_ = 0;  // bytes of a message, since the start
  std::uint32_t in_flight_ = 0;
  bool registered_ = false;
  int paths_ = 0;
  std::vector<std::unique_ptr<Slot>> slots_;
  Slot* free_ = nullptr;
  std::unordered_map<std::uint32_t, std::unique_ptr<Connection>> connections_;
};

}  // namespace verbs::doca_comm::binding
