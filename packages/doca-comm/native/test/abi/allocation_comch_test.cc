// The same as allocation_test.cc for Comch, engines and memory: without memory a call fails with NO_MEMORY and changes
// nothing, or needs none. In a file before it, whose last case looks for functions that are missing in both.
#include "../../../../soft/native/test/abi/support/failing_object.h"
#include "doca_buf_pool.h"
#include "model/engine/slab.h"
#include "test/support/fast_path.h"

using namespace verbs::doca_comm::model::test;
using namespace verbs::soft::test;

namespace {

int number_of(doca_error_t error) {
  if (error == DOCA_SUCCESS || error == DOCA_ERROR_IN_PROGRESS) return 0;
  return error == DOCA_ERROR_NO_MEMORY ? ENOMEM : EINVAL;
}

template <typename Call>
void succeeds_in_the_end(const std::string& name, const Call& call) {
  until_it_succeeds(name, [&] { return number_of(call()); });
}
template <typename Call, typename Undo>
void succeeds_in_the_end(const std::string& name, const Call& call, const Undo& undo) {
  until_it_succeeds(name, [&] { return number_of(call()); }, [&](int) { CHECK(undo() == DOCA_SUCCESS); });
}

template <typename... Arguments>
void allocates_nothing(std::initializer_list<const char*> names, Arguments... arguments) {
  for (const char* name : names) CHECK(calls_without_allocating<doca_error_t>(name, arguments...) == DOCA_SUCCESS);
}

void ignore_message(doca_comch_event_msg_recv*, std::uint8_t*, std::uint32_t, doca_comch_connection*) {}
void ignore_consumer(doca_comch_event_consumer*, doca_comch_connection*, std::uint32_t) {}

// Progress without memory, until `done`.
template <typename Done>
void progress(doca_pe* pe, const Done& done) {
  until([&] {
    until_it_has_memory("doca_pe_progress", [&] { doca_pe_progress(pe); });
    return done();
  });
}

}  // namespace

TEST_CASE("the blocks of tasks and buffers come back without memory, however many are out") {
  struct Object {
    int value = 0;
  };
  using Objects = verbs::doca_comm::model::Slab<Object>;
  std::vector<Object*> blocks(100);
  for (Object*& block : blocks) block = Objects::take(1);
  fail_allocations_from(1);
  for (Object* block : blocks) Objects::give(block, 1);
  const bool needed = allocation_failed();
  fail_allocation(0);
  CHECK(!needed);
  CHECK(Objects::take(1) == blocks.back());
}

TEST_CASE("the control path of Comch without memory" * doctest::skip(!kAllocationsCanFail)) {
  Devices devices;
  doca_pe* pe = nullptr;
  succeeds_in_the_end("doca_pe_create", [&] { return doca_pe_create(&pe); }, [&] { return doca_pe_destroy(pe); });
  int fd = -1;
  std::size_t tasks = 0;
  allocates_nothing({"doca_pe_get_notification_handle"}, pe, &fd);
  allocates_nothing({"doca_pe_get_num_inflight_tasks"}, pe, &tasks);
  allocates_nothing({"doca_pe_set_event_mode"}, pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL);

  doca_devinfo* const dpu = info_of("5f5f:03:00.0");
  std::uint32_t value = 0;
  allocates_nothing(
      {"doca_comch_cap_get_max_name_len", "doca_comch_cap_get_max_msg_size", "doca_comch_cap_get_max_recv_queue_size",
       "doca_comch_cap_get_max_send_tasks", "doca_comch_cap_get_max_clients",
       "doca_comch_consumer_cap_get_max_num_tasks", "doca_comch_consumer_cap_get_max_buf_size",
       "doca_comch_consumer_cap_get_max_buf_list_len", "doca_comch_consumer_cap_get_max_consumers",
       "doca_comch_consumer_cap_get_max_imm_data_len", "doca_comch_producer_cap_get_max_num_tasks",
       "doca_comch_producer_cap_get_max_buf_size", "doca_comch_producer_cap_get_max_buf_list_len",
       "doca_comch_producer_cap_get_max_producers", "doca_ctx_cap_get_num_completion_vectors"},
      dpu, &value);
  allocates_nothing({"doca_comch_cap_server_is_supported", "doca_comch_consumer_cap_is_supported",
                     "doca_comch_producer_cap_is_supported"},
                    dpu);
  allocates_nothing({"doca_comch_cap_client_is_supported"}, info_of("5f5f:3b:00.0"));

  doca_comch_server* server = nullptr;
  doca_comch_client* client = nullptr;
  succeeds_in_the_end(
      "doca_comch_server_create",
      [&] { return doca_comch_server_create(devices.dpu, devices.rep, "no memory", &server); },
      [&] { return doca_comch_server_destroy(server); });
  succeeds_in_the_end(
      "doca_comch_client_create", [&] { return doca_comch_client_create(devices.host, "no memory", &client); },
      [&] { return doca_comch_client_destroy(client); });
  Seen seen;
  doca_ctx* const server_ctx = calls_without_allocating<doca_ctx*>("doca_comch_server_as_ctx", server);
  doca_ctx* const client_ctx = calls_without_allocating<doca_ctx*>("doca_comch_client_as_ctx", client);
  const std::uint32_t size = 100, queue = 16;
  allocates_nothing({"doca_comch_server_set_max_msg_size"}, server, size);
  allocates_nothing({"doca_comch_client_set_max_msg_size"}, client, size);
  allocates_nothing({"doca_comch_server_set_recv_queue_size"}, server, queue);
  allocates_nothing({"doca_comch_client_set_recv_queue_size"}, client, queue);
  allocates_nothing({"doca_comch_server_get_max_msg_size", "doca_comch_server_get_recv_queue_size"}, server, &value);
  allocates_nothing({"doca_comch_client_get_max_msg_size", "doca_comch_client_get_recv_queue_size"}, client, &value);
  doca_dev* dev = nullptr;
  doca_dev_rep* rep = nullptr;
  allocates_nothing({"doca_comch_server_get_device"}, server, &dev);
  allocates_nothing({"doca_comch_client_get_device"}, client, &dev);
  allocates_nothing({"doca_comch_server_get_device_rep", "doca_comch_server_get_device_repr"}, server, &rep);
  allocates_nothing({"doca_comch_server_task_send_set_conf"}, server, on_sent, on_failed, queue);
  allocates_nothing({"doca_comch_client_task_send_set_conf"}, client, on_sent, on_failed, queue);
  allocates_nothing({"doca_comch_server_event_msg_recv_register"}, server, ignore_message);
  allocates_nothing({"doca_comch_client_event_msg_recv_register"}, client, ignore_message);
  allocates_nothing({"doca_comch_server_event_consumer_register"}, server, ignore_consumer, ignore_consumer);
  allocates_nothing({"doca_comch_client_event_consumer_register"}, client, ignore_consumer, ignore_consumer);
  // The vector of the callback needs memory of its own.
  seen.connected.reserve(64);
  seen.disconnected.reserve(64);
  allocates_nothing(
      {"doca_comch_server_event_connection_register", "doca_comch_server_event_connection_status_changed_register"},
      server, on_connect, on_disconnect);
  for (doca_ctx* ctx : {server_ctx, client_ctx}) {
    allocates_nothing({"doca_ctx_set_user_data"}, ctx, doca_data{.ptr = &seen});
    doca_data data;
    allocates_nothing({"doca_ctx_get_user_data"}, ctx, &data);
    allocates_nothing({"doca_ctx_get_num_inflight_tasks"}, ctx, &tasks);
    allocates_nothing({"doca_ctx_set_completion_vector"}, ctx, std::uint32_t{0});
    succeeds_in_the_end("doca_pe_connect_ctx", [&] { return doca_pe_connect_ctx(pe, ctx); });
    calls_without_allocating<void>("doca_ctx_flush_tasks", ctx);
  }
  succeeds_in_the_end("doca_ctx_start", [&] { return doca_ctx_start(server_ctx); });
  succeeds_in_the_end("doca_ctx_start", [&] { return doca_ctx_start(client_ctx); });
  progress(pe, [&] { return state_of(client_ctx) == DOCA_CTX_STATE_RUNNING && !seen.connected.empty(); });
  doca_ctx_states state;
  allocates_nothing({"doca_ctx_get_state"}, client_ctx, &state);
  allocates_nothing(
      {"doca_ctx_set_state_changed_cb"}, client_ctx, +[](doca_data, doca_ctx*, doca_ctx_states, doca_ctx_states) {});

  doca_comch_connection* connection = nullptr;
  allocates_nothing({"doca_comch_client_get_connection"}, client, &connection);
  CHECK(calls_without_allocating<doca_comch_client*>("doca_comch_client_get_client_ctx", connection) == client);
  CHECK(calls_without_allocating<doca_comch_server*>("doca_comch_server_get_server_ctx", seen.connected[0]) == server);
  allocates_nothing({"doca_comch_connection_set_user_data"}, connection, doca_data{.u64 = 7});
  CHECK(calls_without_allocating<doca_data>("doca_comch_connection_get_user_data", connection).u64 == 7);

  // The data path: a message each way.
  for (const bool from_server : {false, true}) {
    doca_comch_task_send* sent = nullptr;
    if (from_server) {
      allocates_nothing({"doca_comch_server_task_send_alloc_init"}, server, seen.connected[0], "text", 4u, &sent);
    } else {
      allocates_nothing({"doca_comch_client_task_send_alloc_init"}, client, connection, "text", 4u, &sent);
    }
    doca_task* const task = calls_without_allocating<doca_task*>("doca_comch_task_send_as_task", sent);
    calls_without_allocating<void>("doca_task_set_user_data", task, doca_data{.u64 = 1});
    CHECK(calls_without_allocating<doca_data>("doca_task_get_user_data", task).u64 == 1);
    CHECK(calls_without_allocating<doca_ctx*>("doca_task_get_ctx", task) == (from_server ? server_ctx : client_ctx));
    CHECK(calls_without_allocating<doca_error_t>("doca_task_get_status", task) == DOCA_SUCCESS);
    calls_without_allocating<void>("doca_task_free", task);
    // The first messages on a connection need memory of the NIC: without it, they go all the same, or come back.
    const auto submit_plain = [](doca_task* made) { return doca_task_submit(made); };
    const auto submit_trying = [](doca_task* made) { return doca_task_try_submit(made); };
    const auto submit_flags = [](doca_task* made) { return doca_task_submit_ex(made, DOCA_TASK_SUBMIT_FLAG_FLUSH); };
    const std::pair<const char*, doca_error_t (*)(doca_task*)> submits[] = {{"doca_task_submit", submit_plain},
                                                                            {"doca_task_try_submit", submit_trying},
                                                                            {"doca_task_submit_ex", submit_flags}};
    for (const auto& [name, submit] : submits) {
      until_it_has_memory(name, [&, call = submit] {
        doca_comch_task_send* next = nullptr;
        const doca_error_t error =
            from_server ? doca_comch_server_task_send_alloc_init(server, seen.connected[0], "text", 4, &next)
                        : doca_comch_client_task_send_alloc_init(client, connection, "text", 4, &next);
        if (error != DOCA_SUCCESS) return;
        doca_task* const made = doca_comch_task_send_as_task(next);
        if (call(made) != DOCA_SUCCESS) doca_task_free(made);
      });
    }
    progress(pe, [&] {
      REQUIRE(doca_pe_get_num_inflight_tasks(pe, &tasks) == DOCA_SUCCESS);
      return tasks == 0;
    });
    CHECK(seen.completed > 0);
  }
  doca_comch_task_send* unsent = nullptr;
  REQUIRE(doca_comch_client_task_send_alloc_init(client, connection, "text", 4, &unsent) == DOCA_SUCCESS);
  calls_without_allocating<void>("doca_task_free", doca_comch_task_send_as_task(unsent));
  allocates_nothing({"doca_comch_connection_update_info"}, connection);
  std::uint64_t count = 0;
  allocates_nothing({"doca_comch_connection_get_counter"}, connection, DOCA_COMCH_COUNTER_SENT_MESSAGES, &count);
  CHECK(count > 0);
  until_it_has_memory("doca_pe_request_notification", [&] { doca_pe_request_notification(pe); });
  until_it_has_memory("doca_pe_clear_notification", [&] { doca_pe_clear_notification(pe, fd); });

  succeeds_in_the_end("doca_comch_server_disconnect",
                      [&] { return doca_comch_server_disconnect(server, seen.connected[0]); });
  progress(pe, [&] { return state_of(client_ctx) == DOCA_CTX_STATE_IDLE; });
  succeeds_in_the_end("doca_ctx_stop", [&] { return doca_ctx_stop(server_ctx); });
  progress(pe, [&] { return state_of(server_ctx) == DOCA_CTX_STATE_IDLE; });
  allocates_nothing({"doca_comch_server_destroy"}, server);
  allocates_nothing({"doca_comch_client_destroy"}, client);
  allocates_nothing({"doca_pe_destroy"}, pe);
}

TEST_CASE("memory and buffers without memory" * doctest::skip(!kAllocationsCanFail)) {
  Devices devices;
  std::vector<std::uint8_t> bytes(1 << 16);
  doca_mmap* mmap = nullptr;
  succeeds_in_the_end(
      "doca_mmap_create", [&] { return doca_mmap_create(&mmap); }, [&] { return doca_mmap_destroy(mmap); });
  std::uint32_t count = 0;
  std::uint8_t flag = 0;
  void* address = nullptr;
  std::size_t length = 0;
  doca_data data{.u64 = 5};
  allocates_nothing({"doca_mmap_set_max_num_devices"}, mmap, 2u);
  allocates_nothing({"doca_mmap_get_max_num_devices", "doca_mmap_get_num_bufs"}, mmap, &count);
  allocates_nothing({"doca_mmap_get_exported", "doca_mmap_get_from_export"}, mmap, &flag);
  allocates_nothing({"doca_mmap_set_memrange"}, mmap, static_cast<void*>(bytes.data()), bytes.size());
  doca_mmap* of_file = nullptr;
  REQUIRE(doca_mmap_create(&of_file) == DOCA_SUCCESS);
  allocates_nothing({"doca_mmap_set_dmabuf_memrange"}, of_file, 0, static_cast<void*>(bytes.data()), std::size_t{0},
                    bytes.size());
  REQUIRE(doca_mmap_destroy(of_file) == DOCA_SUCCESS);
  allocates_nothing({"doca_mmap_get_memrange"}, mmap, &address, &length);
  allocates_nothing({"doca_mmap_set_permissions"}, mmap, std::uint32_t{DOCA_ACCESS_FLAG_PCI_READ_WRITE});
  allocates_nothing({"doca_mmap_set_user_data"}, mmap, data);
  allocates_nothing({"doca_mmap_get_user_data"}, mmap, &data);
  allocates_nothing({"doca_mmap_set_free_cb"}, mmap, +[](void*, std::size_t, void*) {}, static_cast<void*>(nullptr));
  allocates_nothing({"doca_mmap_cap_is_export_pci_supported", "doca_mmap_cap_is_create_from_export_pci_supported"},
                    info_of("5f5f:03:00.0"), &flag);
  succeeds_in_the_end(
      "doca_mmap_add_dev", [&] { return doca_mmap_add_dev(mmap, devices.dpu); },
      [&] { return doca_mmap_rm_dev(mmap, devices.dpu); });
  allocates_nothing({"doca_mmap_rm_dev"}, mmap, devices.dpu);
  REQUIRE(doca_mmap_add_dev(mmap, devices.dpu) == DOCA_SUCCESS);
  succeeds_in_the_end("doca_mmap_start", [&] { return doca_mmap_start(mmap); }, [&] { return doca_mmap_stop(mmap); });

  doca_buf_inventory* inventory = nullptr;
  succeeds_in_the_end(
      "doca_buf_inventory_create", [&] { return doca_buf_inventory_create(4, &inventory); },
      [&] { return doca_buf_inventory_destroy(inventory); });
  allocates_nothing({"doca_buf_inventory_stop", "doca_buf_inventory_start"}, inventory);
  allocates_nothing({"doca_buf_inventory_set_user_data"}, inventory, data);
  allocates_nothing({"doca_buf_inventory_get_user_data"}, inventory, &data);
  allocates_nothing({"doca_buf_inventory_get_num_elements", "doca_buf_inventory_get_num_free_elements"}, inventory,
                    &count);
  doca_buf *buf = nullptr, *other = nullptr, *third = nullptr, *found = nullptr;
  allocates_nothing({"doca_buf_inventory_buf_get_by_args"}, inventory, mmap, address, std::size_t{100}, address,
                    std::size_t{10}, &buf);
  allocates_nothing({"doca_buf_inventory_buf_get_by_addr"}, inventory, mmap, address, std::size_t{100}, &other);
  allocates_nothing({"doca_buf_inventory_buf_get_by_data"}, inventory, mmap, address, std::size_t{100}, &third);
  std::uint16_t references = 0;
  allocates_nothing({"doca_buf_inc_refcount", "doca_buf_dec_refcount"}, buf, &references);
  allocates_nothing({"doca_buf_get_refcount"}, buf, &references);
  allocates_nothing({"doca_buf_get_len", "doca_buf_get_data_len"}, buf, &length);
  allocates_nothing({"doca_buf_get_head", "doca_buf_get_data"}, buf, &address);
  allocates_nothing({"doca_buf_set_data"}, buf, address, std::size_t{20});
  allocates_nothing({"doca_buf_set_data_len"}, buf, std::size_t{20});
  allocates_nothing({"doca_buf_reset_data_len"}, buf);
  allocates_nothing({"doca_buf_chain_list"}, buf, other);
  allocates_nothing({"doca_buf_get_next_in_list", "doca_buf_get_last_in_list"}, buf, &found);
  CHECK(found == other);
  allocates_nothing({"doca_buf_is_last_in_list", "doca_buf_is_first_in_list", "doca_buf_is_in_list"}, buf, &flag);
  allocates_nothing({"doca_buf_get_list_len"}, buf, &count);
  allocates_nothing({"doca_buf_unchain_list"}, buf, other);
  doca_buf* copy = nullptr;
  allocates_nothing({"doca_buf_inventory_buf_dup"}, inventory, buf, &copy);
  for (doca_buf* each : {buf, other, third, copy}) drop(each);
  allocates_nothing({"doca_buf_inventory_destroy"}, inventory);

  doca_buf_pool* pool = nullptr;
  succeeds_in_the_end(
      "doca_buf_pool_create", [&] { return doca_buf_pool_create(4, 1000, mmap, &pool); },
      [&] { return doca_buf_pool_destroy(pool); });
  allocates_nothing({"doca_buf_pool_set_element_alignment"}, pool, std::size_t{64});
  allocates_nothing({"doca_buf_pool_get_element_alignment"}, pool, &length);
  allocates_nothing({"doca_buf_pool_stop", "doca_buf_pool_start"}, pool);
  allocates_nothing({"doca_buf_pool_get_num_elements", "doca_buf_pool_get_num_free_elements"}, pool, &count);
  allocates_nothing({"doca_buf_pool_set_user_data"}, pool, data);
  allocates_nothing({"doca_buf_pool_get_user_data"}, pool, &data);
  allocates_nothing({"doca_buf_pool_buf_alloc"}, pool, &buf);
  drop(buf);
  allocates_nothing({"doca_buf_pool_destroy"}, pool);
  allocates_nothing({"doca_mmap_stop", "doca_mmap_destroy"}, mmap);
}

TEST_CASE("the fast path of Comch without memory" * doctest::skip(!kAllocationsCanFail)) {
  ComchPair pair;
  Memory from(pair.devices.host), to(pair.devices.dpu);
  doca_comch_consumer* consumer = nullptr;
  doca_comch_producer* producer = nullptr;
  succeeds_in_the_end(
      "doca_comch_consumer_create", [&] { return doca_comch_consumer_create(pair.to_client, to.mmap, &consumer); },
      [&] { return doca_comch_consumer_destroy(consumer); });
  succeeds_in_the_end(
      "doca_comch_producer_create", [&] { return doca_comch_producer_create(pair.client.connection(), &producer); },
      [&] { return doca_comch_producer_destroy(producer); });
  std::uint32_t id = 0, length = 0;
  allocates_nothing({"doca_comch_producer_get_id"}, producer, &id);
  allocates_nothing({"doca_comch_consumer_get_id"}, consumer, &id);
  allocates_nothing({"doca_comch_consumer_set_imm_data_len"}, consumer, 8u);
  allocates_nothing({"doca_comch_consumer_get_imm_data_len"}, consumer, &length);
  FastSeen received, sent;
  received.received.reserve(4);
  allocates_nothing({"doca_comch_consumer_task_post_recv_set_conf"}, consumer, on_received, on_receive_failed, 4u);
  allocates_nothing({"doca_comch_producer_task_send_set_conf"}, producer, on_fast_sent, on_fast_failed, 4u);
  doca_ctx* const consumer_ctx = calls_without_allocating<doca_ctx*>("doca_comch_consumer_as_ctx", consumer);
  doca_ctx* const producer_ctx = calls_without_allocating<doca_ctx*>("doca_comch_producer_as_ctx", producer);
  REQUIRE(doca_ctx_set_user_data(consumer_ctx, {.ptr = &received}) == DOCA_SUCCESS);
  REQUIRE(doca_ctx_set_user_data(producer_ctx, {.ptr = &sent}) == DOCA_SUCCESS);
  for (doca_ctx* ctx : {consumer_ctx, producer_ctx}) {
    REQUIRE(doca_pe_connect_ctx(pair.engine.pe, ctx) == DOCA_SUCCESS);
    succeeds_in_the_end("doca_ctx_start", [&] { return doca_ctx_start(ctx); });
  }
  doca_comch_consumer_task_post_recv* post = nullptr;
  doca_buf* const space = to.space(0, 100);
  allocates_nothing({"doca_comch_consumer_task_post_recv_alloc_init"}, consumer, space, &post);
  CHECK(calls_without_allocating<doca_buf*>("doca_comch_consumer_task_post_recv_get_buf", post) == space);
  calls_without_allocating<void>("doca_comch_consumer_task_post_recv_set_buf", post, space);
  CHECK(calls_without_allocating<std::uint32_t>("doca_comch_consumer_task_post_recv_get_producer_id", post) == 0);
  CHECK(calls_without_allocating<std::uint8_t*>("doca_comch_consumer_task_post_recv_get_imm_data", post) == nullptr);
  CHECK(calls_without_allocating<std::uint32_t>("doca_comch_consumer_task_post_recv_get_imm_data_len", post) == 0);
  doca_task* const posted = calls_without_allocating<doca_task*>("doca_comch_consumer_task_post_recv_as_task", post);
  CHECK(calls_without_allocating<doca_error_t>("doca_task_submit", posted) == DOCA_SUCCESS);

  doca_comch_producer_task_send* send = nullptr;
  std::uint8_t immediate[4] = {1, 2, 3, 4};
  doca_buf* const buf = from.data(0, "text");
  progress(pair.engine.pe, [&] {
    return doca_comch_producer_task_send_alloc_init(producer, buf, immediate, 4, id, &send) == DOCA_SUCCESS;
  });
  doca_task_free(doca_comch_producer_task_send_as_task(send));
  allocates_nothing({"doca_comch_producer_task_send_alloc_init"}, producer, buf, static_cast<std::uint8_t*>(immediate),
                    4u, id, &send);
  CHECK(calls_without_allocating<const doca_buf*>("doca_comch_producer_task_send_get_buf", send) == buf);
  calls_without_allocating<void>("doca_comch_producer_task_send_set_buf", send, buf);
  calls_without_allocating<void>("doca_comch_producer_task_send_set_consumer_id", send, id);
  CHECK(calls_without_allocating<std::uint32_t>("doca_comch_producer_task_send_get_consumer_id", send) == id);
  calls_without_allocating<void>("doca_comch_producer_task_send_set_imm_data", send,
                                 static_cast<std::uint8_t*>(immediate), 4u);
  CHECK(calls_without_allocating<std::uint32_t>("doca_comch_producer_task_send_get_imm_data_len", send) == 4);
  CHECK(calls_without_allocating<std::uint8_t*>("doca_comch_producer_task_send_get_imm_data", send) != nullptr);
  doca_task* const task = calls_without_allocating<doca_task*>("doca_comch_producer_task_send_as_task", send);
  // The first message to a consumer connects queue pairs. Until the consumer is announced it is INVALID_VALUE.
  pair.engine.run_until([&] {
    const doca_error_t error = doca_task_submit(task);
    return error == DOCA_SUCCESS;
  });
  progress(pair.engine.pe, [&] { return sent.sent == 1 && received.received.size() == 1; });
  for (doca_ctx* ctx : {producer_ctx, consumer_ctx}) {
    succeeds_in_the_end("doca_ctx_stop", [&] { return doca_ctx_stop(ctx); });
    pair.engine.run_until([&] { return state_of(ctx) == DOCA_CTX_STATE_IDLE; });
  }
  allocates_nothing({"doca_comch_producer_destroy"}, producer);
  allocates_nothing({"doca_comch_consumer_destroy"}, consumer);
}
