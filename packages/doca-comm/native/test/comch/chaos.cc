#include "test/comch/chaos.h"

#include <cstring>
#include <utility>

namespace verbs::doca_comm::model::test {

namespace {

constexpr const char* kNames[] = {"chaos-a", "chaos-b"};
constexpr std::size_t kMostTasks = 4;

Kind kind_of(doca_comch_task_send*) { return Kind::kSendTask; }
Kind kind_of(doca_comch_consumer_task_post_recv*) { return Kind::kReceiveTask; }
Kind kind_of(doca_comch_producer_task_send*) { return Kind::kBulkTask; }
doca_task* base_of(doca_comch_task_send* task) { return doca_comch_task_send_as_task(task); }
doca_task* base_of(doca_comch_consumer_task_post_recv* task) {
  return doca_comch_consumer_task_post_recv_as_task(task);
}
doca_task* base_of(doca_comch_producer_task_send* task) { return doca_comch_producer_task_send_as_task(task); }

template <typename Task>
void succeeded(Task* task, doca_data, doca_data) {
  if constexpr (std::is_same_v<Task, doca_comch_consumer_task_post_recv>) Chaos::current().on_received(task);
  Chaos::current().on_task(kind_of(task), base_of(task), true);
}
template <typename Task>
void failed(Task* task, doca_data, doca_data) {
  Chaos::current().on_task(kind_of(task), base_of(task), false);
}

void message(doca_comch_event_msg_recv*, std::uint8_t* data, std::uint32_t length, doca_comch_connection*) {
  Chaos::current().on_message(data, length);
}
void connected(doca_comch_event_connection_status_changed*, doca_comch_connection* connection, std::uint8_t) {
  Chaos::current().on_connection(connection, true);
}
void disconnected(doca_comch_event_connection_status_changed*, doca_comch_connection* connection, std::uint8_t) {
  Chaos::current().on_connection(connection, false);
}
void consumer_came(doca_comch_event_consumer*, doca_comch_connection*, std::uint32_t id) {
  Chaos::current().on_consumer(id);
}
void consumer_went(doca_comch_event_consumer*, doca_comch_connection*, std::uint32_t) {}
void state(const doca_data, doca_ctx* ctx, doca_ctx_states previous, doca_ctx_states next) {
  Chaos::current().on_state(ctx, previous, next);
}

doca_mmap* map(doca_dev* first, doca_dev* second, std::vector<std::uint8_t>& bytes) {
  doca_mmap* mmap = nullptr;
  REQUIRE(doca_mmap_create(&mmap) == DOCA_SUCCESS);
  REQUIRE(doca_mmap_set_memrange(mmap, bytes.data(), bytes.size()) == DOCA_SUCCESS);
  REQUIRE(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE) == DOCA_SUCCESS);
  REQUIRE(doca_mmap_add_dev(mmap, first) == DOCA_SUCCESS);
  if (second) REQUIRE(doca_mmap_add_dev(mmap, second) == DOCA_SUCCESS);
  REQUIRE(doca_mmap_start(mmap) == DOCA_SUCCESS);
  return mmap;
}

}  // namespace

Chaos* Chaos::current_ = nullptr;

Chaos::Chaos(Devices& devices, unsigned seed)
    : devices_(devices), random_(seed), handles_(random_), sources_(pattern()), targets_(2 * kPatternSize) {
  current_ = this;
  for (doca_pe*& pe : engines_) {
    REQUIRE(doca_pe_create(&pe) == DOCA_SUCCESS);
    handles_.add(Kind::kEngine, pe);
  }
  mmaps_ = {map(devices.dpu, devices.host, targets_), map(devices.host, devices.dpu, sources_)};
  for (doca_mmap* mmap : mmaps_) handles_.add(Kind::kMmap, mmap);
  REQUIRE(doca_buf_inventory_create(16, &inventory_) == DOCA_SUCCESS);
  REQUIRE(doca_buf_inventory_start(inventory_) == DOCA_SUCCESS);
  handles_.add(Kind::kInventory, inventory_);
}

Chaos::~Chaos() { current_ = nullptr; }

void Chaos::begin() {
  if (one_in(5)) return;
  quiet_ = true;
  add_server(kNames[0]);
  add_client(kNames[0]);
  auto* client = static_cast<doca_comch_client*>(handles_.live(Kind::kClient)[0]);
  doca_ctx* of_server = doca_comch_server_as_ctx(static_cast<doca_comch_server*>(handles_.live(Kind::kServer)[0]));
  for (doca_ctx* ctx : {of_server, doca_comch_client_as_ctx(client)}) {
    REQUIRE(doca_pe_connect_ctx(engines_[below(2)], ctx) == DOCA_SUCCESS);
    doca_ctx_start(ctx);
  }
  until([&] {
    drive(1);
    return std::all_of(contexts_.begin(), contexts_.end(),
                       [](const auto& each) { return each.second == DOCA_CTX_STATE_RUNNING; });
  });
  quiet_ = false;
  if (one_in(3)) return;
  doca_comch_connection* connection = nullptr;
  REQUIRE(doca_comch_client_get_connection(client, &connection) == DOCA_SUCCESS);
  add_connection(connection);
  for (int i = 0; i < 4; ++i) {
    one_in(2) ? create_consumer() : create_producer();
    connect_engine();
    start();
  }
  for (int i = 0; i < 4; ++i) {
    get_buffer();
    post_receive();
    submit();
  }
  drive(10);
}

void Chaos::step() { (this->*calls()[below(calls().size())])(); }

void Chaos::in_callback() {
  if (quiet_ || depth_ >= 2 || !one_in(3)) return;
  ++depth_;
  step();
  --depth_;
}

// What a program's own account says must hold of what the library says.
void Chaos::check(doca_error_t result, Kind kind, const void* handle) {
  CHECK(result >= DOCA_SUCCESS);
  CHECK(result <= DOCA_ERROR_DEVICE_FATAL_ERROR);
  if (!handles_.is_live(kind, handle)) CHECK(result != DOCA_SUCCESS);
}

std::uint32_t Chaos::any_number() {
  static constexpr std::uint32_t kEdges[] = {0, 1, 2, 31, 32, 33, 64, 4080, 4081, 8192, 8193, 0x7fffffff, 0xffffffff};
  return one_in(2) ? kEdges[below(std::size(kEdges))] : static_cast<std::uint32_t>(below(200));
}

// ---- what the library tells

void Chaos::on_state(doca_ctx* ctx, doca_ctx_states previous, doca_ctx_states next) {
  REQUIRE(contexts_.contains(ctx));
  CHECK(contexts_[ctx] == previous);
  contexts_[ctx] = next;
  CHECK(state_of(ctx) == next);
  if (next == DOCA_CTX_STATE_IDLE) {
    for (const auto& [connection, owner] : std::map(owners_)) {
      if (owner == ctx) remove_connection(connection);
    }
  }
  in_callback();
}

void Chaos::on_connection(doca_comch_connection* connection, bool here) {
  CHECK(handles_.is_live(Kind::kConnection, connection) == !here);
  if (here) add_connection(connection);
  in_callback();
  // The callback may have disconnected it.
  if (!here) remove_connection(connection);
}

void Chaos::on_message(const std::uint8_t* data, std::uint32_t length) {
  CHECK(is_of_pattern(data, length));
  in_callback();
}

void Chaos::on_received(doca_comch_consumer_task_post_recv* task) {
  doca_buf* buf = doca_comch_consumer_task_post_recv_get_buf(task);
  CHECK(doca_comch_consumer_task_post_recv_get_imm_data_len(task) <= 32);
  void* data = nullptr;
  std::size_t length = 0;
  // The program may have set another buffer's data in between; this one's length is what arrived.
  if (!buf || doca_buf_get_data(buf, &data) != DOCA_SUCCESS) return;
  CHECK(doca_buf_get_data_len(buf, &length) == DOCA_SUCCESS);
  CHECK(length <= kPatternSize);
}

void Chaos::on_task(Kind kind, doca_task* task, bool succeeded) {
  const auto found = tasks_.find(task);
  REQUIRE(found != tasks_.end());
  CHECK(found->second.kind == kind);
  CHECK(found->second.submitted);
  CHECK((doca_task_get_status(task) == DOCA_SUCCESS) == succeeded);
  found->second.submitted = false;
  in_callback();
  // A callback frees it, submits it again, or keeps it.
  const auto still = tasks_.find(task);
  if (still == tasks_.end() || still->second.submitted) return;
  const std::size_t choice = quiet_ ? 0 : below(4);
  if (choice == 0 || choice == 1) {
    drop_task(task);
  } else if (choice == 2 && doca_task_submit(task) == DOCA_SUCCESS) {
    still->second.submitted = true;
  }
}

// ---- the account

void Chaos::add_connection(doca_comch_connection* connection) {
  if (handles_.is_live(Kind::kConnection, connection)) return;
  handles_.add(Kind::kConnection, connection);
  owners_[connection] = ctx_of(connection);
}

void Chaos::remove_connection(doca_comch_connection* connection) {
  if (owners_.erase(connection) > 0) handles_.remove(Kind::kConnection, connection);
}

void Chaos::add_context(doca_ctx* ctx) {
  REQUIRE(ctx);
  contexts_[ctx] = DOCA_CTX_STATE_IDLE;
  handles_.add(Kind::kContext, ctx);
  REQUIRE(doca_ctx_set_state_changed_cb(ctx, state) == DOCA_SUCCESS);
}

void Chaos::retire_context(doca_ctx* ctx) {
  contexts_.erase(ctx);
  handles_.remove(Kind::kContext, ctx);
}

void Chaos::add_task(Kind kind, doca_task* task) {
  tasks_[task] = {.kind = kind};
  handles_.add(kind, task);
}

void Chaos::drop_task(doca_task* task) {
  const Kind kind = tasks_.at(task).kind;
  tasks_.erase(task);
  handles_.remove(kind, task);
  doca_task_free(task);
}

void Chaos::drive(int turns) {
  for (int i = 0; i < turns; ++i) {
    for (doca_pe* pe : engines_) doca_pe_progress(pe);
  }
}

// ---- the calls

void Chaos::progress() {
  auto* pe = any<doca_pe>(Kind::kEngine);
  const std::uint8_t some = doca_pe_progress(pe);
  if (!handles_.is_live(Kind::kEngine, pe)) CHECK(some == 0);
}

void Chaos::add_server(const char* name) {
  doca_comch_server* server = nullptr;
  if (handles_.live(Kind::kServer).size() >= 2) return;
  REQUIRE(doca_comch_server_create(devices_.dpu, devices_.rep, name, &server) == DOCA_SUCCESS);
  handles_.add(Kind::kServer, server);
  add_context(doca_comch_server_as_ctx(server));
  const auto tasks = static_cast<std::uint32_t>(1 + below(kMostTasks));
  CHECK(doca_comch_server_task_send_set_conf(server, succeeded<doca_comch_task_send>, failed<doca_comch_task_send>,
                                             tasks) == DOCA_SUCCESS);
  CHECK(doca_comch_server_event_msg_recv_register(server, message) == DOCA_SUCCESS);
  CHECK(doca_comch_server_event_connection_status_changed_register(server, connected, disconnected) == DOCA_SUCCESS);
  CHECK(doca_comch_server_event_consumer_register(server, consumer_came, consumer_went) == DOCA_SUCCESS);
}

void Chaos::add_client(const char* name) {
  doca_comch_client* client = nullptr;
  if (handles_.live(Kind::kClient).size() >= 4) return;
  REQUIRE(doca_comch_client_create(devices_.host, name, &client) == DOCA_SUCCESS);
  handles_.add(Kind::kClient, client);
  add_context(doca_comch_client_as_ctx(client));
  const auto tasks = static_cast<std::uint32_t>(1 + below(kMostTasks));
  CHECK(doca_comch_client_task_send_set_conf(client, succeeded<doca_comch_task_send>, failed<doca_comch_task_send>,
                                             tasks) == DOCA_SUCCESS);
  CHECK(doca_comch_client_event_msg_recv_register(client, message) == DOCA_SUCCESS);
  CHECK(doca_comch_client_event_consumer_register(client, consumer_came, consumer_went) == DOCA_SUCCESS);
}

void Chaos::create_server() { add_server(kNames[below(2)]); }
void Chaos::create_client() { add_client(kNames[below(2)]); }

void Chaos::destroy_end() {
  if (one_in(2)) {
    auto* server = any<doca_comch_server>(Kind::kServer);
    doca_ctx* ctx = doca_comch_server_as_ctx(server);
    const doca_error_t result = doca_comch_server_destroy(server);
    check(result, Kind::kServer, server);
    if (result != DOCA_SUCCESS) return;
    handles_.remove(Kind::kServer, server);
    retire_context(ctx);
  } else {
    auto* client = any<doca_comch_client>(Kind::kClient);
    doca_ctx* ctx = doca_comch_client_as_ctx(client);
    const doca_error_t result = doca_comch_client_destroy(client);
    check(result, Kind::kClient, client);
    if (result != DOCA_SUCCESS) return;
    handles_.remove(Kind::kClient, client);
    retire_context(ctx);
  }
}

void Chaos::settings() {
  auto* server = any<doca_comch_server>(Kind::kServer);
  auto* client = any<doca_comch_client>(Kind::kClient);
  check(doca_comch_server_set_max_msg_size(server, any_number()), Kind::kServer, server);
  check(doca_comch_client_set_max_msg_size(client, any_number()), Kind::kClient, client);
  check(doca_comch_server_set_recv_queue_size(server, any_number()), Kind::kServer, server);
  check(doca_comch_client_set_recv_queue_size(client, any_number()), Kind::kClient, client);
  check(doca_comch_server_task_send_set_conf(server, succeeded<doca_comch_task_send>, failed<doca_comch_task_send>,
                                             any_number()),
        Kind::kServer, server);
  check(doca_comch_client_event_msg_recv_register(client, one_in(4) ? nullptr : message), Kind::kClient, client);
  check(doca_comch_server_event_connection_register(server, connected, one_in(4) ? nullptr : disconnected),
        Kind::kServer, server);
}

void Chaos::getters() {
  auto* server = any<doca_comch_server>(Kind::kServer);
  auto* client = any<doca_comch_client>(Kind::kClient);
  std::uint32_t value = 0;
  doca_dev* dev = nullptr;
  doca_dev_rep* rep = nullptr;
  check(doca_comch_server_get_max_msg_size(server, &value), Kind::kServer, server);
  check(doca_comch_server_get_recv_queue_size(server, one_in(3) ? nullptr : &value), Kind::kServer, server);
  check(doca_comch_client_get_max_msg_size(client, &value), Kind::kClient, client);
  check(doca_comch_client_get_recv_queue_size(client, one_in(3) ? nullptr : &value), Kind::kClient, client);
  check(doca_comch_server_get_device(server, &dev), Kind::kServer, server);
  check(doca_comch_server_get_device_rep(server, &rep), Kind::kServer, server);
  check(doca_comch_client_get_device(client, &dev), Kind::kClient, client);
  auto* connection = any<doca_comch_connection>(Kind::kConnection);
  doca_comch_server* owner = doca_comch_server_get_server_ctx(connection);
  if (owner) CHECK(handles_.is_live(Kind::kServer, owner));
}

void Chaos::start() {
  auto* ctx = any<doca_ctx>(Kind::kContext);
  const bool known = contexts_.contains(ctx);
  const doca_error_t result = doca_ctx_start(ctx);
  if (!known) CHECK(result == DOCA_ERROR_INVALID_VALUE);
}
// The callback of the last state may destroy it.
void Chaos::stop() {
  auto* ctx = any<doca_ctx>(Kind::kContext);
  const bool known = contexts_.contains(ctx);
  const doca_error_t result = doca_ctx_stop(ctx);
  if (!known) CHECK(result == DOCA_ERROR_INVALID_VALUE);
}
void Chaos::connect_engine() {
  auto* pe = any<doca_pe>(Kind::kEngine);
  auto* ctx = any<doca_ctx>(Kind::kContext);
  const doca_error_t result = doca_pe_connect_ctx(pe, ctx);
  check(result, Kind::kContext, ctx);
  check(result, Kind::kEngine, pe);
}

void Chaos::allocate_send() {
  auto* connection = any<doca_comch_connection>(Kind::kConnection);
  const std::size_t at = 2 * below(1000);
  const std::uint32_t length = one_in(8) ? any_number() : static_cast<std::uint32_t>(below(4081));
  const void* text = one_in(20) ? nullptr : pattern().data() + at;
  doca_comch_task_send* task = nullptr;
  doca_comch_task_send** result = one_in(20) ? nullptr : &task;
  auto* server = any<doca_comch_server>(Kind::kServer);
  auto* client = any<doca_comch_client>(Kind::kClient);
  const doca_error_t error = one_in(2)
                                 ? doca_comch_server_task_send_alloc_init(server, connection, text, length, result)
                                 : doca_comch_client_task_send_alloc_init(client, connection, text, length, result);
  check(error, Kind::kConnection, connection);
  if (error != DOCA_SUCCESS) return;
  REQUIRE(task);
  add_task(Kind::kSendTask, doca_comch_task_send_as_task(task));
  if (one_in(4)) return;
  if (doca_task_submit(doca_comch_task_send_as_task(task)) == DOCA_SUCCESS) {
    tasks_.at(doca_comch_task_send_as_task(task)).submitted = true;
  }
}

void Chaos::submit() {
  const Kind kind = static_cast<Kind>(static_cast<std::size_t>(Kind::kSendTask) + below(3));
  auto* task = any<doca_task>(kind);
  const std::size_t how = below(3);
  const doca_error_t error = how == 0   ? doca_task_submit(task)
                             : how == 1 ? doca_task_try_submit(task)
                                        : doca_task_submit_ex(task, any_number());
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || found->second.submitted) {
    CHECK(error != DOCA_SUCCESS);
  } else if (error == DOCA_SUCCESS) {
    found->second.submitted = true;
  }
}

void Chaos::free_task() {
  const Kind kind = static_cast<Kind>(static_cast<std::size_t>(Kind::kSendTask) + below(3));
  auto* task = any<doca_task>(kind);
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || found->second.submitted) {
    doca_task_free(task);  // not the program's: nothing happens
  } else {
    drop_task(task);
  }
}

void Chaos::task_properties() {
  const Kind kind = static_cast<Kind>(static_cast<std::size_t>(Kind::kSendTask) + below(3));
  auto* task = any<doca_task>(kind);
  doca_task_set_user_data(task, {.u64 = 7});
  const bool known = tasks_.contains(task);
  CHECK(doca_task_get_user_data(task).u64 == (known ? 7 : 0));
  CHECK((doca_task_get_ctx(task) != nullptr) == known);
  if (!known) CHECK(doca_task_get_status(task) == DOCA_ERROR_INVALID_VALUE);
}

void Chaos::disconnect() {
  auto* server = any<doca_comch_server>(Kind::kServer);
  auto* connection = any<doca_comch_connection>(Kind::kConnection);
  const doca_error_t result = doca_comch_server_disconnect(server, connection);
  check(result, Kind::kServer, server);
  check(result, Kind::kConnection, connection);
  if (result == DOCA_SUCCESS) remove_connection(connection);
}

void Chaos::connection_calls() {
  auto* client = any<doca_comch_client>(Kind::kClient);
  doca_comch_connection* connection = nullptr;
  const doca_error_t got = doca_comch_client_get_connection(client, &connection);
  check(got, Kind::kClient, client);
  if (got == DOCA_SUCCESS) {
    CHECK(doca_comch_client_get_client_ctx(connection) == client);
    add_connection(connection);
  }
  if (!connection || one_in(2)) connection = any<doca_comch_connection>(Kind::kConnection);
  std::uint64_t value = 0;
  const doca_error_t updated = doca_comch_connection_update_info(connection);
  if (!handles_.is_live(Kind::kConnection, connection)) CHECK(updated == DOCA_ERROR_INVALID_VALUE);
  doca_comch_connection_get_counter(connection, static_cast<doca_comch_counter>(below(6)), &value);
  const bool set = doca_comch_connection_set_user_data(connection, {.u64 = 9}) == DOCA_SUCCESS;
  CHECK(doca_comch_connection_get_user_data(connection).u64 == (set ? 9 : 0));
}

void Chaos::notifications() {
  auto* pe = any<doca_pe>(Kind::kEngine);
  int fd = -1;
  check(doca_pe_request_notification(pe), Kind::kEngine, pe);
  check(doca_pe_get_notification_handle(pe, &fd), Kind::kEngine, pe);
  if (one_in(2)) check(doca_pe_clear_notification(pe, one_in(4) ? -1 : fd), Kind::kEngine, pe);
}

void Chaos::engine_calls() {
  doca_pe* other = nullptr;
  if (doca_pe_create(&other) == DOCA_SUCCESS) CHECK(doca_pe_destroy(other) == DOCA_SUCCESS);
  auto* pe = any<doca_pe>(Kind::kEngine);
  std::size_t tasks = 0;
  check(doca_pe_get_num_inflight_tasks(pe, &tasks), Kind::kEngine, pe);
  check(doca_pe_set_event_mode(pe, static_cast<doca_pe_event_mode>(below(3))), Kind::kEngine, pe);
}

void Chaos::context_calls() {
  auto* ctx = any<doca_ctx>(Kind::kContext);
  doca_ctx_states now;
  doca_data data;
  std::size_t tasks = 0;
  const doca_error_t got = doca_ctx_get_state(ctx, &now);
  check(got, Kind::kContext, ctx);
  if (got == DOCA_SUCCESS) CHECK(now == contexts_.at(ctx));
  check(doca_ctx_set_user_data(ctx, {.u64 = 3}), Kind::kContext, ctx);
  check(doca_ctx_get_user_data(ctx, &data), Kind::kContext, ctx);
  check(doca_ctx_get_num_inflight_tasks(ctx, &tasks), Kind::kContext, ctx);
  doca_ctx_flush_tasks(ctx);
  check(doca_ctx_set_completion_vector(ctx, any_number()), Kind::kContext, ctx);
}

void Chaos::create_consumer() {
  doca_comch_consumer* consumer = nullptr;
  auto* connection = any<doca_comch_connection>(Kind::kConnection);
  auto* mmap = any<doca_mmap>(Kind::kMmap);
  if (handles_.live(Kind::kConsumer).size() >= 4) return;
  const doca_error_t error = doca_comch_consumer_create(connection, mmap, &consumer);
  check(error, Kind::kConnection, connection);
  check(error, Kind::kMmap, mmap);
  if (error != DOCA_SUCCESS) return;
  handles_.add(Kind::kConsumer, consumer);
  add_context(doca_comch_consumer_as_ctx(consumer));
  CHECK(doca_comch_consumer_task_post_recv_set_conf(consumer, succeeded<doca_comch_consumer_task_post_recv>,
                                                    failed<doca_comch_consumer_task_post_recv>,
                                                    static_cast<std::uint32_t>(1 + below(kMostTasks))) == DOCA_SUCCESS);
}

void Chaos::create_producer() {
  doca_comch_producer* producer = nullptr;
  auto* connection = any<doca_comch_connection>(Kind::kConnection);
  if (handles_.live(Kind::kProducer).size() >= 4) return;
  const doca_error_t error = doca_comch_producer_create(connection, &producer);
  check(error, Kind::kConnection, connection);
  if (error != DOCA_SUCCESS) return;
  handles_.add(Kind::kProducer, producer);
  add_context(doca_comch_producer_as_ctx(producer));
  CHECK(doca_comch_producer_task_send_set_conf(producer, succeeded<doca_comch_producer_task_send>,
                                               failed<doca_comch_producer_task_send>,
                                               static_cast<std::uint32_t>(1 + below(kMostTasks))) == DOCA_SUCCESS);
}

void Chaos::destroy_path() {
  if (one_in(2)) {
    auto* consumer = any<doca_comch_consumer>(Kind::kConsumer);
    doca_ctx* ctx = doca_comch_consumer_as_ctx(consumer);
    const doca_error_t result = doca_comch_consumer_destroy(consumer);
    check(result, Kind::kConsumer, consumer);
    if (result != DOCA_SUCCESS) return;
    handles_.remove(Kind::kConsumer, consumer);
    retire_context(ctx);
  } else {
    auto* producer = any<doca_comch_producer>(Kind::kProducer);
    doca_ctx* ctx = doca_comch_producer_as_ctx(producer);
    const doca_error_t result = doca_comch_producer_destroy(producer);
    check(result, Kind::kProducer, producer);
    if (result != DOCA_SUCCESS) return;
    handles_.remove(Kind::kProducer, producer);
    retire_context(ctx);
  }
}

void Chaos::path_calls() {
  auto* consumer = any<doca_comch_consumer>(Kind::kConsumer);
  auto* producer = any<doca_comch_producer>(Kind::kProducer);
  std::uint32_t value = 0;
  const doca_error_t known = doca_comch_consumer_get_id(consumer, &value);
  check(known, Kind::kConsumer, consumer);
  if (known == DOCA_SUCCESS) consumers_.push_back(value);
  check(doca_comch_consumer_set_imm_data_len(consumer, any_number()), Kind::kConsumer, consumer);
  check(doca_comch_consumer_get_imm_data_len(consumer, &value), Kind::kConsumer, consumer);
  check(doca_comch_producer_get_id(producer, &value), Kind::kProducer, producer);
  check(
      doca_comch_consumer_task_post_recv_set_conf(consumer, succeeded<doca_comch_consumer_task_post_recv>, nullptr, 1),
      Kind::kConsumer, nullptr);
}

void Chaos::post_receive() {
  auto* consumer = any<doca_comch_consumer>(Kind::kConsumer);
  auto* buf = one_in(6) ? nullptr : any<doca_buf>(Kind::kBuffer);
  doca_comch_consumer_task_post_recv* task = nullptr;
  const doca_error_t error = doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &task);
  check(error, Kind::kConsumer, consumer);
  if (buf) check(error, Kind::kBuffer, buf);
  if (error != DOCA_SUCCESS) return;
  doca_task* base = doca_comch_consumer_task_post_recv_as_task(task);
  add_task(Kind::kReceiveTask, base);
  if (!one_in(5) && doca_task_submit(base) == DOCA_SUCCESS) tasks_.at(base).submitted = true;
}

void Chaos::send_bulk() {
  auto* producer = any<doca_comch_producer>(Kind::kProducer);
  auto* buf = one_in(6) ? nullptr : any<doca_buf>(Kind::kBuffer);
  std::array<std::uint8_t, 64> immediate{};
  const std::uint32_t length = one_in(4) ? any_number() : static_cast<std::uint32_t>(below(33));
  const std::uint32_t consumer = consumers_.empty() || one_in(8) ? any_number() : consumers_[below(consumers_.size())];
  doca_comch_producer_task_send* task = nullptr;
  const doca_error_t error = doca_comch_producer_task_send_alloc_init(
      producer, buf, one_in(8) ? nullptr : immediate.data(), length, consumer, &task);
  check(error, Kind::kProducer, producer);
  if (buf) check(error, Kind::kBuffer, buf);
  if (error != DOCA_SUCCESS) return;
  doca_task* base = doca_comch_producer_task_send_as_task(task);
  add_task(Kind::kBulkTask, base);
  if (!one_in(5) && doca_task_submit(base) == DOCA_SUCCESS) tasks_.at(base).submitted = true;
}

void Chaos::bulk_properties() {
  auto* send = any<doca_comch_producer_task_send>(Kind::kBulkTask);
  auto* receive = any<doca_comch_consumer_task_post_recv>(Kind::kReceiveTask);
  std::array<std::uint8_t, 64> immediate{};
  doca_comch_producer_task_send_set_buf(send, any<doca_buf>(Kind::kBuffer));
  doca_comch_producer_task_send_set_consumer_id(send, any_number());
  doca_comch_producer_task_send_set_imm_data(send, immediate.data(), any_number());
  CHECK(doca_comch_producer_task_send_get_imm_data_len(send) <= 32);
  doca_comch_producer_task_send_get_imm_data(send);
  doca_comch_producer_task_send_get_consumer_id(send);
  const doca_buf* buf = doca_comch_producer_task_send_get_buf(send);
  if (!handles_.is_live(Kind::kBulkTask, send)) CHECK(buf == nullptr);
  doca_comch_consumer_task_post_recv_set_buf(receive, any<doca_buf>(Kind::kBuffer));
  CHECK(doca_comch_consumer_task_post_recv_get_imm_data_len(receive) <= 32);
  doca_comch_consumer_task_post_recv_get_producer_id(receive);
  buf = doca_comch_consumer_task_post_recv_get_buf(receive);
  if (!handles_.is_live(Kind::kReceiveTask, receive)) CHECK(buf == nullptr);
}

void Chaos::get_buffer() {
  auto* mmap = any<doca_mmap>(Kind::kMmap);
  const bool sends = mmap == mmaps_[1];
  std::vector<std::uint8_t>& bytes = sends ? sources_ : targets_;
  std::uint8_t* at = bytes.data() + 2 * below(bytes.size() / 4);
  const std::size_t length = one_in(10) ? any_number() : 1 + below(8000);
  doca_buf* buf = nullptr;
  const doca_error_t error = one_in(2) ? doca_buf_inventory_buf_get_by_data(inventory_, mmap, at, length, &buf)
                                       : doca_buf_inventory_buf_get_by_addr(inventory_, mmap, at, length, &buf);
  check(error, Kind::kMmap, mmap);
  if (error == DOCA_SUCCESS) handles_.add(Kind::kBuffer, buf);
}

void Chaos::buffers() {
  if (!one_in(3)) return get_buffer();
  auto* buf = any<doca_buf>(Kind::kBuffer);
  void* data = nullptr;
  std::uint16_t count = 0;
  check(doca_buf_get_data(buf, &data), Kind::kBuffer, buf);
  check(doca_buf_get_refcount(buf, &count), Kind::kBuffer, buf);
  if (one_in(2)) check(doca_buf_reset_data_len(buf), Kind::kBuffer, buf);
  // While a task has it, the program's reference is the smaller one of two that look alike.
  if (one_in(3) && count <= 1) {
    const doca_error_t result = doca_buf_dec_refcount(buf, nullptr);
    check(result, Kind::kBuffer, buf);
    if (result == DOCA_SUCCESS) handles_.remove(Kind::kBuffer, buf);
  }
}

void Chaos::memory_calls() {
  auto* mmap = any<doca_mmap>(Kind::kMmap);
  std::uint32_t count = 0;
  check(doca_mmap_get_num_bufs(mmap, &count), Kind::kMmap, mmap);
  const doca_error_t stopped = doca_mmap_stop(mmap);
  check(stopped, Kind::kMmap, mmap);
  if (stopped == DOCA_SUCCESS) REQUIRE(doca_mmap_start(mmap) == DOCA_SUCCESS);
  check(doca_mmap_set_memrange(mmap, targets_.data(), 64), Kind::kMmap, nullptr);
}

const std::vector<Chaos::Call>& Chaos::calls() {
  static const std::vector<Call> all = [] {
    const std::pair<Call, int> weights[] = {{&Chaos::progress, 12},
                                            {&Chaos::create_server, 1},
                                            {&Chaos::create_client, 2},
                                            {&Chaos::destroy_end, 2},
                                            {&Chaos::settings, 1},
                                            {&Chaos::getters, 1},
                                            {&Chaos::start, 5},
                                            {&Chaos::stop, 3},
                                            {&Chaos::connect_engine, 4},
                                            {&Chaos::allocate_send, 12},
                                            {&Chaos::submit, 4},
                                            {&Chaos::free_task, 4},
                                            {&Chaos::task_properties, 1},
                                            {&Chaos::disconnect, 2},
                                            {&Chaos::connection_calls, 4},
                                            {&Chaos::notifications, 3},
                                            {&Chaos::engine_calls, 1},
                                            {&Chaos::context_calls, 1},
                                            {&Chaos::create_consumer, 3},
                                            {&Chaos::create_producer, 3},
                                            {&Chaos::destroy_path, 2},
                                            {&Chaos::path_calls, 2},
                                            {&Chaos::post_receive, 6},
                                            {&Chaos::send_bulk, 8},
                                            {&Chaos::bulk_properties, 2},
                                            {&Chaos::buffers, 6},
                                            {&Chaos::memory_calls, 1}};
    std::vector<Call> calls;
    for (const auto& [call, weight] : weights) calls.insert(calls.end(), static_cast<std::size_t>(weight), call);
    return calls;
  }();
  return all;
}

void Chaos::end() {
  quiet_ = true;
  until([&] {
    std::vector<doca_task*> mine;
    for (const auto& [task, held] : tasks_) {
      if (!held.submitted) mine.push_back(task);
    }
    for (doca_task* task : mine) drop_task(task);
    // An end whose producers or consumers run is not stopped at the first time.
    bool idle = true;
    for (const auto& [ctx, now] : std::map(contexts_)) {
      if (now != DOCA_CTX_STATE_IDLE) doca_ctx_stop(ctx);
      idle &= contexts_.at(ctx) == DOCA_CTX_STATE_IDLE;
    }
    drive(4);
    return idle;
  });
  for (const auto& [task, held] : tasks_) CHECK_FALSE(held.submitted);
  for (void* consumer : std::vector(handles_.live(Kind::kConsumer))) {
    CHECK(doca_comch_consumer_destroy(static_cast<doca_comch_consumer*>(consumer)) == DOCA_SUCCESS);
  }
  for (void* producer : std::vector(handles_.live(Kind::kProducer))) {
    CHECK(doca_comch_producer_destroy(static_cast<doca_comch_producer*>(producer)) == DOCA_SUCCESS);
  }
  for (void* client : handles_.live(Kind::kClient)) {
    CHECK(doca_comch_client_destroy(static_cast<doca_comch_client*>(client)) == DOCA_SUCCESS);
  }
  for (void* server : handles_.live(Kind::kServer)) {
    CHECK(doca_comch_server_destroy(static_cast<doca_comch_server*>(server)) == DOCA_SUCCESS);
  }
  for (void* buf : handles_.live(Kind::kBuffer)) {
    CHECK(doca_buf_dec_refcount(static_cast<doca_buf*>(buf), nullptr) == DOCA_SUCCESS);
  }
  CHECK(doca_buf_inventory_destroy(inventory_) == DOCA_SUCCESS);
  for (doca_mmap* mmap : mmaps_) CHECK(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
  for (doca_pe* pe : engines_) CHECK(doca_pe_destroy(pe) == DOCA_SUCCESS);
}

}  // namespace verbs::doca_comm::model::test
