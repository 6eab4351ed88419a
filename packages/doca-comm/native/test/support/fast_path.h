// Producers and consumers on a connection of Comch.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "doca_buf_inventory.h"
#include "doca_comch_consumer.h"
#include "doca_comch_producer.h"
#include "doca_mmap.h"
#include "model/base/descriptor.h"
#include "test/support/comch.h"

namespace verbs::doca_comm::model::test {

// A mapped file in memory that cannot shrink.
struct MemoryFile {
  explicit MemoryFile(std::size_t length) : size(length) {
    const int fd = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    REQUIRE(ftruncate(fd, static_cast<off_t>(size)) == 0);
    REQUIRE(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    file = Descriptor(fd);
    void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    REQUIRE(at != MAP_FAILED);
    data = static_cast<std::uint8_t*>(at);
  }
  ~MemoryFile() { munmap(data, size); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::size_t size;
  Descriptor file;
  std::uint8_t* data = nullptr;
};

// Memory with an inventory over it.
struct Memory {
  explicit Memory(doca_dev* dev, std::size_t size = 1 << 20, std::size_t buffers = 64) : heap(size), bytes(heap) {
    REQUIRE(doca_mmap_create(&mmap) == DOCA_SUCCESS);
    REQUIRE(doca_mmap_set_memrange(mmap, bytes.data(), bytes.size()) == DOCA_SUCCESS);
    start(dev, buffers);
  }
  Memory(doca_dev* dev, const MemoryFile& file, std::size_t offset = 0)
      : bytes(file.data + offset, file.size - offset) {
    REQUIRE(doca_mmap_create(&mmap) == DOCA_SUCCESS);
    REQUIRE(doca_mmap_set_dmabuf_memrange(mmap, file.file.get(), bytes.data(), offset, bytes.size()) == DOCA_SUCCESS);
    start(dev, 64);
  }
  void start(doca_dev* dev, std::size_t buffers) {
    REQUIRE(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE) == DOCA_SUCCESS);
    REQUIRE(doca_mmap_add_dev(mmap, dev) == DOCA_SUCCESS);
    REQUIRE(doca_mmap_start(mmap) == DOCA_SUCCESS);
    REQUIRE(doca_buf_inventory_create(buffers, &inventory) == DOCA_SUCCESS);
    REQUIRE(doca_buf_inventory_start(inventory) == DOCA_SUCCESS);
  }
  ~Memory() {
    CHECK(doca_buf_inventory_destroy(inventory) == DOCA_SUCCESS);
    CHECK(doca_mmap_stop(mmap) == DOCA_SUCCESS);
    CHECK(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
  }
  doca_buf* data(std::size_t offset, const std::string& text) {
    std::memcpy(bytes.data() + offset, text.data(), text.size());
    doca_buf* buf = nullptr;
    REQUIRE(doca_buf_inventory_buf_get_by_data(inventory, mmap, bytes.data() + offset, text.size(), &buf) ==
            DOCA_SUCCESS);
    return buf;
  }
  doca_buf* space(std::size_t offset, std::size_t length) {
    doca_buf* buf = nullptr;
    REQUIRE(doca_buf_inventory_buf_get_by_addr(inventory, mmap, bytes.data() + offset, length, &buf) == DOCA_SUCCESS);
    return buf;
  }
  std::vector<std::uint8_t> heap;
  const std::span<std::uint8_t> bytes;
  doca_mmap* mmap = nullptr;
  doca_buf_inventory* inventory = nullptr;
};

inline void drop(doca_buf* buf) {
  if (buf) CHECK(doca_buf_dec_refcount(buf, nullptr) == DOCA_SUCCESS);
}

// A message that a consumer received.
struct Received {
  std::string data, immediate;
  std::uint32_t producer = 0;
};
struct FastSeen {
  std::vector<Received> received;
  std::vector<doca_error_t> failures;
  std::vector<doca_ctx_states> states;
  int sent = 0;
  bool repost = false;
};
inline FastSeen& fast_seen_of(doca_data data) { return *static_cast<FastSeen*>(data.ptr); }

inline void on_received(doca_comch_consumer_task_post_recv* task, doca_data, doca_data ctx) {
  FastSeen& seen = fast_seen_of(ctx);
  Received received;
  if (doca_buf* buf = doca_comch_consumer_task_post_recv_get_buf(task)) {
    void* data = nullptr;
    std::size_t length = 0;
    CHECK(doca_buf_get_data(buf, &data) == DOCA_SUCCESS);
    CHECK(doca_buf_get_data_len(buf, &length) == DOCA_SUCCESS);
    received.data.assign(static_cast<const char*>(data), length);
  }
  if (const std::uint8_t* immediate = doca_comch_consumer_task_post_recv_get_imm_data(task)) {
    received.immediate.assign(reinterpret_cast<const char*>(immediate),
                              doca_comch_consumer_task_post_recv_get_imm_data_len(task));
  }
  received.producer = doca_comch_consumer_task_post_recv_get_producer_id(task);
  seen.received.push_back(std::move(received));
  if (seen.repost) {
    CHECK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)) == DOCA_SUCCESS);
    return;
  }
  drop(doca_comch_consumer_task_post_recv_get_buf(task));
  doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}
inline void on_receive_failed(doca_comch_consumer_task_post_recv* task, doca_data, doca_data ctx) {
  fast_seen_of(ctx).failures.push_back(doca_task_get_status(doca_comch_consumer_task_post_recv_as_task(task)));
  drop(doca_comch_consumer_task_post_recv_get_buf(task));
  doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}
inline void on_fast_sent(doca_comch_producer_task_send* task, doca_data, doca_data ctx) {
  ++fast_seen_of(ctx).sent;
  drop(const_cast<doca_buf*>(doca_comch_producer_task_send_get_buf(task)));
  doca_task_free(doca_comch_producer_task_send_as_task(task));
}
inline void on_fast_failed(doca_comch_producer_task_send* task, doca_data, doca_data ctx) {
  fast_seen_of(ctx).failures.push_back(doca_task_get_status(doca_comch_producer_task_send_as_task(task)));
  drop(const_cast<doca_buf*>(doca_comch_producer_task_send_get_buf(task)));
  doca_task_free(doca_comch_producer_task_send_as_task(task));
}
inline void on_fast_state(const doca_data data, doca_ctx*, doca_ctx_states, doca_ctx_states next) {
  fast_seen_of(data).states.push_back(next);
}

struct FastConsumer {
  FastConsumer(ComchEngine& on, doca_comch_connection* connection, Memory& memory, std::uint32_t tasks = 16)
      : engine(on) {
    REQUIRE(doca_comch_consumer_create(connection, memory.mmap, &consumer) == DOCA_SUCCESS);
    ctx = doca_comch_consumer_as_ctx(consumer);
    REQUIRE(doca_ctx_set_user_data(ctx, {.ptr = &seen}) == DOCA_SUCCESS);
    REQUIRE(doca_ctx_set_state_changed_cb(ctx, on_fast_state) == DOCA_SUCCESS);
    REQUIRE(doca_comch_consumer_task_post_recv_set_conf(consumer, on_received, on_receive_failed, tasks) ==
            DOCA_SUCCESS);
    REQUIRE(doca_pe_connect_ctx(engine.pe, ctx) == DOCA_SUCCESS);
    REQUIRE(doca_comch_consumer_get_id(consumer, &id) == DOCA_SUCCESS);
  }
  ~FastConsumer() {
    if (!consumer) return;
    stop(engine, ctx);
    CHECK(doca_comch_consumer_destroy(consumer) == DOCA_SUCCESS);
  }
  FastConsumer(const FastConsumer&) = delete;
  FastConsumer& operator=(const FastConsumer&) = delete;

  doca_error_t post(doca_buf* buf) {
    doca_comch_consumer_task_post_recv* task = nullptr;
    doca_error_t error = doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &task);
    if (error != DOCA_SUCCESS) return error;
    error = doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task));
    if (error != DOCA_SUCCESS) doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
    return error;
  }
  ComchEngine& engine;
  FastSeen seen;
  doca_comch_consumer* consumer = nullptr;
  doca_ctx* ctx = nullptr;
  std::uint32_t id = 0;
};

struct FastProducer {
  FastProducer(ComchEngine& on, doca_comch_connection* connection, std::uint32_t tasks = 16) : engine(on) {
    REQUIRE(doca_comch_producer_create(connection, &producer) == DOCA_SUCCESS);
    ctx = doca_comch_producer_as_ctx(producer);
    REQUIRE(doca_ctx_set_user_data(ctx, {.ptr = &seen}) == DOCA_SUCCESS);
    REQUIRE(doca_ctx_set_state_changed_cb(ctx, on_fast_state) == DOCA_SUCCESS);
    REQUIRE(doca_comch_producer_task_send_set_conf(producer, on_fast_sent, on_fast_failed, tasks) == DOCA_SUCCESS);
    REQUIRE(doca_pe_connect_ctx(engine.pe, ctx) == DOCA_SUCCESS);
    REQUIRE(doca_comch_producer_get_id(producer, &id) == DOCA_SUCCESS);
  }
  ~FastProducer() {
    if (!producer) return;
    stop(engine, ctx);
    CHECK(doca_comch_producer_destroy(producer) == DOCA_SUCCESS);
  }
  FastProducer(const FastProducer&) = delete;
  FastProducer& operator=(const FastProducer&) = delete;

  doca_error_t send(doca_buf* buf, std::uint32_t consumer, std::string immediate = "") {
    doca_comch_producer_task_send* task = nullptr;
    doca_error_t error =
        doca_comch_producer_task_send_alloc_init(producer, buf, reinterpret_cast<std::uint8_t*>(immediate.data()),
                                                 static_cast<std::uint32_t>(immediate.size()), consumer, &task);
    if (error != DOCA_SUCCESS) return error;
    error = doca_task_submit(doca_comch_producer_task_send_as_task(task));
    if (error != DOCA_SUCCESS) doca_task_free(doca_comch_producer_task_send_as_task(task));
    return error;
  }
  ComchEngine& engine;
  FastSeen seen;
  doca_comch_producer* producer = nullptr;
  doca_ctx* ctx = nullptr;
  std::uint32_t id = 0;
};

}  // namespace verbs::doca_comm::model::test
