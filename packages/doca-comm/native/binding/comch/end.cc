#include "binding/comch/end.h"

#include <algorithm>
#include <new>

namespace verbs::doca_comm::binding {

std::unique_ptr<ComchEnd> ComchEnd::create(Engine& engine, std::shared_ptr<OpenDevice> device,
                                           std::shared_ptr<OpenRepresentor> representor, const std::string& name,
                                           doca_error_t* error) {
  const ComchFunctions& f = *engine.library().comch();
  const Kind kind = representor == nullptr ? Kind::kClient : Kind::kServer;
  std::unique_ptr<ComchEnd> end(new ComchEnd(engine, kind, std::move(device), std::move(representor)));
  doca_dev* dev = end->device_->dev;
  *error = end->is_server() ? f.server_create(dev, end->representor_->rep, name.c_str(), &end->server_)
                            : f.client_create(dev, name.c_str(), &end->client_);
  if (*error != DOCA_SUCCESS) return nullptr;
  end->ctx_ = end->is_server() ? f.server_as_ctx(end->server_) : f.client_as_ctx(end->client_);
  *error = end->set_up();
  return *error == DOCA_SUCCESS ? std::move(end) : nullptr;
}

doca_error_t ComchEnd::set_size(Size which, std::uint32_t size) {
  const ComchFunctions& f = comch();
  switch (which) {
    case Size::kMessage:
      return is_server() ? f.server_set_max_msg_size(server_, size) : f.client_set_max_msg_size(client_, size);
    case Size::kReceiveQueue:
      return is_server() ? f.server_set_recv_queue_size(server_, size) : f.client_set_recv_queue_size(client_, size);
    case Size::kSendTasks:
      if (size == 0) return DOCA_ERROR_INVALID_VALUE;
      if (state() != DOCA_CTX_STATE_IDLE) return DOCA_ERROR_BAD_STATE;
      send_tasks_ = size;
      return DOCA_SUCCESS;
  }
  return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t ComchEnd::get_size(Size which, std::uint32_t* size) const {
  const ComchFunctions& f = comch();
  switch (which) {
    case Size::kMessage:
      return is_server() ? f.server_get_max_msg_size(server_, size) : f.client_get_max_msg_size(client_, size);
    case Size::kReceiveQueue:
      return is_server() ? f.server_get_recv_queue_size(server_, size) : f.client_get_recv_queue_size(client_, size);
    case Size::kSendTasks:
      *size = send_tasks_;
      return DOCA_SUCCESS;
  }
  return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t ComchEnd::register_callbacks() {
  const ComchFunctions& f = comch();
  const FastPathFunctions* fast = engine_.library().fast_path();
  doca_error_t error = DOCA_SUCCESS;
  if (is_server()) {
    error = f.server_event_msg_recv_register(server_, on_message);
    if (error == DOCA_SUCCESS) error = f.server_event_connection_register(server_, on_connected, on_disconnected);
    if (error == DOCA_SUCCESS && fast) {
      error = fast->server_event_consumer_register(server_, on_consumer, on_consumer_gone);
    }
  } else {
    error = f.client_event_msg_recv_register(client_, on_message);
    if (error == DOCA_SUCCESS && fast) {
      error = fast->client_event_consumer_register(client_, on_consumer, on_consumer_gone);
    }
  }
  registered_ = error == DOCA_SUCCESS;
  return error;
}

doca_error_t ComchEnd::start() {
  const ComchFunctions& f = comch();
  doca_error_t error = registered_ ? DOCA_SUCCESS : register_callbacks();
  if (error == DOCA_SUCCESS) {
    error = is_server() ? f.server_task_send_set_conf(server_, on_sent, on_sent, send_tasks_)
                        : f.client_task_send_set_conf(client_, on_sent, on_sent, send_tasks_);
  }
  if (error != DOCA_SUCCESS) return error;
  const Engine::Current current(engine_);
  error = Context::start();
  // Only after the start it is what it is.
  if (error == DOCA_SUCCESS || error == DOCA_ERROR_IN_PROGRESS) get_size(Size::kMessage, &longest_);
  return error;
}

ComchEnd::Slot* ComchEnd::take_slot() {
  if (free_ == nullptr) {
    slots_.push_back(std::make_unique<Slot>());
    return slots_.back().get();
  }
  return std::exchange(free_, free_->next);
}

doca_error_t ComchEnd::send(std::uint32_t number, const std::uint8_t* message, std::size_t length, std::uint32_t cookie,
                            std::uint32_t limit) {
  const ComchFunctions& f = comch();
  Connection* to = live(number);
  if (to == nullptr) return DOCA_ERROR_NOT_CONNECTED;
  if (length > longest_) return DOCA_ERROR_INVALID_VALUE;
  if (to->in_flight >= limit) return DOCA_ERROR_AGAIN;
  Slot* slot = take_slot();
  doca_comch_task_send* task = nullptr;
  doca_error_t error = DOCA_SUCCESS;
  try {
    slot->bytes.assign(message, message + length);
    // An address even of no bytes.
    if (length == 0) slot->bytes.reserve(1);
  } catch (const std::bad_alloc&) {
    error = DOCA_ERROR_NO_MEMORY;
  }
  if (error == DOCA_SUCCESS) {
    const auto size = static_cast<std::uint32_t>(length);
    error = is_server() ? f.server_task_send_alloc_init(server_, to->pointer, slot->bytes.data(), size, &task)
                        : f.client_task_send_alloc_init(client_, to->pointer, slot->bytes.data(), size, &task);
  }
  if (error == DOCA_SUCCESS) {
    slot->connection = number;
    slot->cookie = cookie;
    doca_data data{};
    data.ptr = slot;
    doca_task* submitted = f.task_send_as_task(task);
    const EngineFunctions& e = engine_.functions();
    e.task_set_user_data(submitted, data);
    error = e.task_submit(submitted);
    if (error != DOCA_SUCCESS) e.task_free(submitted);
  }
  if (error == DOCA_SUCCESS) {
    ++to->in_flight;
    ++in_flight_;
  } else {
    slot->next = std::exchange(free_, slot);
  }
  return error;
}

void ComchEnd::on_sent(doca_comch_task_send* sent, doca_data task_data, doca_data ctx_data) {
  auto& end = *static_cast<ComchEnd*>(static_cast<Context*>(ctx_data.ptr));
  auto* slot = static_cast<Slot*>(task_data.ptr);
  const EngineFunctions& e = end.engine_.functions();
  doca_task* task = end.comch().task_send_as_task(sent);
  const doca_error_t status = e.task_get_status(task);
  e.task_free(task);
  --end.in_flight_;
  if (Connection* to = end.connection(slot->connection)) {
    --to->in_flight;
    to->counted[0] += status == DOCA_SUCCESS;
    to->counted[1] += status == DOCA_SUCCESS ? slot->bytes.size() : 0;
  }
  if (slot->cookie != 0 || status != DOCA_SUCCESS) {
    end.push({.kind = EventKind::kSent,
              .connection = slot->connection,
              .number = static_cast<std::uint32_t>(status),
              .cookie = slot->cookie});
  } else {
    end.engine_.set_ready(end);  // there is room again
  }
  slot->next = std::exchange(end.free_, slot);
}

doca_error_t ComchEnd::disconnect(std::uint32_t number) {
  Connection* found = live(number);
  if (found == nullptr) return DOCA_ERROR_NOT_CONNECTED;
  if (!is_server()) return DOCA_ERROR_NOT_SUPPORTED;
  const Engine::Current current(engine_);
  const doca_error_t error = comch().server_disconnect(server_, found->pointer);
  // The callback may have dropped it. A library calls none for its own disconnect, as a rule.
  found = live(number);
  if (error == DOCA_SUCCESS && found != nullptr) drop(*found);
  return error;
}

doca_error_t ComchEnd::update_info(std::uint32_t number) {
  Connection* found = live(number);
  if (found == nullptr) return DOCA_ERROR_NOT_CONNECTED;
  const doca_error_t error = comch().connection_update_info(found->pointer);
  read_counters(*found);
  return error;
}

void ComchEnd::read_counters(Connection& connection) const {
  constexpr std::array kKinds{DOCA_COMCH_COUNTER_SENT_MESSAGES, DOCA_COMCH_COUNTER_SENT_BYTES,
                              DOCA_COMCH_COUNTER_RECV_MESSAGES, DOCA_COMCH_COUNTER_RECV_BYTES};
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    comch().connection_get_counter(connection.pointer, kKinds[i], &connection.counters[i]);
  }
}

doca_error_t ComchEnd::counters(std::uint32_t number, std::uint64_t* out) const {
  const Connection* found = connection(number);
  if (found == nullptr) return DOCA_ERROR_NOT_CONNECTED;
  std::copy(found->counters.begin(), found->counters.end(), out);
  out[kCounters - 1] = found->in_flight;
  return DOCA_SUCCESS;
}

Connection* ComchEnd::connection(std::uint32_t number) const {
  const auto found = connections_.find(number);
  return found == connections_.end() ? nullptr : found->second.get();
}

Connection* ComchEnd::live(std::uint32_t number) const {
  Connection* found = connection(number);
  return found != nullptr && found->pointer != nullptr ? found : nullptr;
}

void ComchEnd::forget(std::uint32_t number) {
  const Connection* found = connection(number);
  if (found != nullptr && found->pointer == nullptr) connections_.erase(number);
}

Connection* ComchEnd::adopt(doca_comch_connection* pointer) {
  try {
    auto made = std::make_unique<Connection>(Connection{engine_.next_connection(), pointer, this, 0, {}, {}});
    doca_data number{};
    number.u64 = made->number;
    engine_.connections().emplace(made->number, made.get());
    Connection* adopted = (connections_[made->number] = std::move(made)).get();
    comch().connection_set_user_data(pointer, number);
    push({.kind = EventKind::kConnected, .connection = adopted->number});
    return adopted;
  } catch (const std::bad_alloc&) {
    return nullptr;  // the program never hears of it
  }
}

void ComchEnd::drop(Connection& connection) {
  engine_.connections().erase(connection.number);
  connection.pointer = nullptr;
  for (std::size_t i = 0; i < connection.counters.size(); ++i) {
    connection.counters[i] = std::max(connection.counters[i], connection.counted[i]);
  }
}

void ComchEnd::on_state(doca_ctx_states state) {
  if (state == DOCA_CTX_STATE_RUNNING && !is_server()) {
    doca_comch_connection* pointer = nullptr;
    const bool knows = std::any_of(connections_.begin(), connections_.end(),
                                   [](const auto& each) { return each.second->pointer != nullptr; });
    if (!knows && comch().client_get_connection(client_, &pointer) == DOCA_SUCCESS) adopt(pointer);
  }
  // A client learns of its server's end by this alone.
  if (state == DOCA_CTX_STATE_IDLE || (state == DOCA_CTX_STATE_STOPPING && !is_server())) {
    for (const auto& [number, connection] : connections_) {
      if (connection->pointer == nullptr) continue;
      push({.kind = EventKind::kDisconnected, .connection = number});
      drop(*connection);
    }
  }
}

// By the number in the connection's user data. A connection that is new to us is one of a client whose state has not
// been told yet, or of a server's callback that tells of it.
Connection* ComchEnd::find(doca_comch_connection* pointer, bool adopts) {
  Engine* engine = Engine::Current::get();
  if (engine == nullptr) return nullptr;
  const ComchFunctions& f = *engine->library().comch();
  const auto number = static_cast<std::uint32_t>(f.connection_get_user_data(pointer).u64);
  const auto found = engine->connections().find(number);
  if (found != engine->connections().end() && found->second->pointer == pointer) return found->second;
  doca_comch_server* server = f.server_get_server_ctx(pointer);
  doca_comch_client* client = server == nullptr ? f.client_get_client_ctx(pointer) : nullptr;
  if (client == nullptr && (server == nullptr || !adopts)) return nullptr;
  doca_data self{};
  doca_ctx* ctx = server == nullptr ? f.client_as_ctx(client) : f.server_as_ctx(server);
  if (engine->functions().ctx_get_user_data(ctx, &self) != DOCA_SUCCESS || self.ptr == nullptr) return nullptr;
  return static_cast<ComchEnd*>(static_cast<Context*>(self.ptr))->adopt(pointer);
}

void ComchEnd::on_message(doca_comch_event_msg_recv*, std::uint8_t* buffer, std::uint32_t length,
                          doca_comch_connection* pointer) {
  Connection* from = find(pointer, false);
  if (from == nullptr) return;
  from->counted[2] += 1;
  from->counted[3] += length;
  from->end->push({.kind = EventKind::kMessage, .connection = from->number}, buffer, length);
}

void ComchEnd::on_connected(doca_comch_event_connection_status_changed*, doca_comch_connection* pointer,
                            std::uint8_t success) {
  if (success != 0) find(pointer, true);
}

void ComchEnd::on_disconnected(doca_comch_event_connection_status_changed*, doca_comch_connection* pointer,
                               std::uint8_t) {
  Connection* gone = find(pointer, false);
  if (gone == nullptr) return;
  gone->end->push({.kind = EventKind::kDisconnected, .connection = gone->number});
  gone->end->drop(*gone);
}

void ComchEnd::on_consumer(doca_comch_event_consumer*, doca_comch_connection* pointer, std::uint32_t id) {
  const Connection* of = find(pointer, false);
  if (of) of->end->push({.kind = EventKind::kConsumerNew, .connection = of->number, .number = id});
}

void ComchEnd::on_consumer_gone(doca_comch_event_consumer*, doca_comch_connection* pointer, std::uint32_t id) {
  const Connection* of = find(pointer, false);
  if (of) of->end->push({.kind = EventKind::kConsumerGone, .connection = of->number, .number = id});
}

doca_error_t ComchEnd::destroy_object() {
  const ComchFunctions& f = comch();
  doca_error_t error = DOCA_SUCCESS;
  if (server_ != nullptr) error = f.server_destroy(server_);
  if (client_ != nullptr) error = f.client_destroy(client_);
  if (error == DOCA_SUCCESS) {
    server_ = nullptr;
    client_ = nullptr;
    for (const auto& each : connections_) engine_.connections().erase(each.first);
    connections_.clear();
  }
  return error;
}

}  // namespace verbs::doca_comm::binding
