// The fast path of Comch: producers and consumers.
#include "test/support/fast_path.h"

#include "doca_buf_pool.h"

using namespace verbs::doca_comm::model::test;

namespace {

// A pair with memory at both ends.
struct FastPair : ComchPair {
  FastPair() : from(devices.host), to(devices.dpu) {}
  Memory from, to;
};

}  // namespace

TEST_CASE("Messages of the fast path: data and immediate data, in order, both ways") {
  FastPair pair;
  FastConsumer consumer(pair.engine, pair.to_client, pair.to);
  FastProducer producer(pair.engine, pair.client.connection());
  CHECK(consumer.id != 0);
  CHECK(producer.id != 0);
  CHECK(doca_ctx_start(consumer.ctx) == DOCA_SUCCESS);
  CHECK(doca_ctx_start(producer.ctx) == DOCA_SUCCESS);
  for (std::size_t i = 0; i < 8; ++i) CHECK(consumer.post(pair.to.space(i * 4096, 4096)) == DOCA_SUCCESS);
  doca_buf* first = pair.from.data(0, "first");
  pair.engine.run_until([&] { return producer.send(first, consumer.id, "imm") == DOCA_SUCCESS; });
  CHECK(producer.send(pair.from.data(4096, std::string(4096, 'x')), consumer.id) == DOCA_SUCCESS);
  CHECK(producer.send(nullptr, consumer.id, std::string(32, 'i')) == DOCA_SUCCESS);
  pair.engine.run_until([&] { return consumer.seen.received.size() == 3 && producer.seen.sent == 3; });
  const auto& received = consumer.seen.received;
  CHECK(received[0].data == "first");
  CHECK(received[0].immediate == "imm");
  CHECK(received[0].producer == producer.id);
  CHECK(received[1].data == std::string(4096, 'x'));
  CHECK(received[1].immediate.empty());
  CHECK(received[2].data.empty());
  CHECK(received[2].immediate == std::string(32, 'i'));
  stop(pair.engine, consumer.ctx);
  CHECK(consumer.seen.failures == std::vector<doca_error_t>(5, DOCA_ERROR_BAD_STATE));
}

TEST_CASE("A producer waits for a consumer's buffers, and messages of 1 MiB arrive whole") {
  ComchPair pair;
  Memory from(pair.devices.dpu, 4 << 20), to(pair.devices.host, 4 << 20);
  FastConsumer consumer(pair.engine, pair.client.connection(), to);
  FastProducer producer(pair.engine, pair.to_client);
  CHECK(doca_ctx_start(consumer.ctx) == DOCA_SUCCESS);
  CHECK(doca_ctx_start(producer.ctx) == DOCA_SUCCESS);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 4; ++i) {
    std::string text(1 << 20, '\0');
    for (std::size_t at = 0; at < text.size(); ++at) text[at] = static_cast<char>(at * 7 + i + (at >> 8));
    doca_buf* buf = from.data(i << 20, text);
    pair.engine.run_until([&] { return producer.send(buf, consumer.id) == DOCA_SUCCESS; });
    texts.push_back(std::move(text));
  }
  for (int i = 0; i < 1000; ++i) doca_pe_progress(pair.engine.pe);
  CHECK(producer.seen.sent == 0);
  for (std::size_t i = 0; i < 4; ++i) CHECK(consumer.post(to.space(i << 20, 1 << 20)) == DOCA_SUCCESS);
  pair.engine.run_until([&] { return consumer.seen.received.size() == 4 && producer.seen.sent == 4; });
  for (std::size_t i = 0; i < 4; ++i) CHECK((consumer.seen.received[i].data == texts[i]));
}

TEST_CASE("Memory files in place of dma-bufs: messages arrive, and what is none is refused") {
  ComchPair pair;
  const MemoryFile source(2 << 20), target(1 << 20);
  Memory from(pair.devices.dpu, source, 1 << 20), to(pair.devices.host, target);
  FastConsumer consumer(pair.engine, pair.client.connection(), to);
  FastProducer producer(pair.engine, pair.to_client);
  CHECK(doca_ctx_start(consumer.ctx) == DOCA_SUCCESS);
  CHECK(doca_ctx_start(producer.ctx) == DOCA_SUCCESS);
  CHECK(consumer.post(to.space(0, 1 << 20)) == DOCA_SUCCESS);
  const std::string text(1 << 20, 'f');
  doca_buf* buf = from.data(0, text);
  pair.engine.run_until([&] { return producer.send(buf, consumer.id) == DOCA_SUCCESS; });
  pair.engine.run_until([&] { return consumer.seen.received.size() == 1 && producer.seen.sent == 1; });
  CHECK((consumer.seen.received[0].data == text));
  CHECK(source.data[1 << 20] == 'f');
  CHECK(target.data[(1 << 20) - 1] == 'f');

  const auto start_of = [&](int fd, void* at, std::size_t offset, std::size_t length) {
    doca_mmap* mmap = nullptr;
    REQUIRE(doca_mmap_create(&mmap) == DOCA_SUCCESS);
    doca_error_t error = doca_mmap_set_dmabuf_memrange(mmap, fd, at, offset, length);
    if (error == DOCA_SUCCESS) {
      REQUIRE(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE) == DOCA_SUCCESS);
      REQUIRE(doca_mmap_add_dev(mmap, pair.devices.dpu) == DOCA_SUCCESS);
      error = doca_mmap_start(mmap);
      if (error == DOCA_SUCCESS) CHECK(doca_mmap_stop(mmap) == DOCA_SUCCESS);
    }
    CHECK(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
    return error;
  };
  const int file = target.file.get();
  CHECK(start_of(file, target.data, 0, 4096) == DOCA_SUCCESS);
  CHECK(start_of(-1, target.data, 0, 4096) == DOCA_ERROR_INVALID_VALUE);
  CHECK(start_of(1 << 20, target.data, 0, 4096) == DOCA_ERROR_INVALID_VALUE);
  CHECK(start_of(file, nullptr, 0, 4096) == DOCA_ERROR_INVALID_VALUE);
  CHECK(start_of(file, target.data, 0, 0) == DOCA_ERROR_INVALID_VALUE);
  CHECK(start_of(file, target.data, SIZE_MAX, 4096) == DOCA_ERROR_INVALID_VALUE);
  CHECK(start_of(file, target.data, 0, (1 << 20) + 1) == DOCA_ERROR_INVALID_VALUE);
  const verbs::doca_comm::model::Descriptor other(open("/dev/null", O_RDWR | O_CLOEXEC));
  CHECK(start_of(other.get(), target.data, 0, 4096) == DOCA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("A message that is longer than the buffer: TOO_BIG at both ends, and the next ones arrive") {
  FastPair pair;
  FastConsumer consumer(pair.engine, pair.to_client, pair.to);
  FastProducer producer(pair.engine, pair.client.connection());
  CHECK(doca_ctx_start(consumer.ctx) == DOCA_SUCCESS);
  CHECK(doca_ctx_start(producer.ctx) == DOCA_SUCCESS);
  CHECK(consumer.post(pair.to.space(0, 16)) == DOCA_SUCCESS);
  CHECK(consumer.post(pair.to.space(4096, 4096)) == DOCA_SUCCESS);
  CHECK(consumer.post(pair.to.space(8192, 4096)) == DOCA_SUCCESS);
  doca_buf* large = pair.from.data(0, std::string(5000, 'L'));
  pair.engine.run_until([&] { return producer.send(large, consumer.id) == DOCA_SUCCESS; });
  CHECK(producer.send(pair.from.data(8192, "next"), consumer.id) == DOCA_SUCCESS);
  CHECK(producer.send(pair.from.data(9000, "last"), consumer.id) == DOCA_SUCCESS);
  pair.engine.run_until([&] { return consumer.seen.received.size() == 2 && producer.seen.sent == 2; });
  CHECK(consumer.seen.failures == std::vector{DOCA_ERROR_TOO_BIG});
  CHECK(producer.seen.failures == std::vector{DOCA_ERROR_TOO_BIG});
  CHECK(consumer.seen.received[0].data == "next");
  CHECK(consumer.seen.received[1].data == "last");
}

TEST_CASE("A task takes no part of a list of buffers; elements that are longer than their memory are no pool") {
  FastPair pair;
  FastConsumer consumer(pair.engine, pair.to_client, pair.to);
  FastProducer producer(pair.engine, pair.client.connection());
  CHECK(doca_ctx_start(consumer.ctx) == DOCA_SUCCESS);
  CHECK(doca_ctx_start(producer.ctx) == DOCA_SUCCESS);
  CHECK(consumer.post(pair.to.space(0, 4096)) == DOCA_SUCCESS);
  doca_buf* first = pair.from.data(0, "first");
  pair.engine.run_until([&] { return producer.send(first, consumer.id) == DOCA_SUCCESS; });
  doca_buf *head = pair.from.data(64, "head"), *tail = pair.from.data(128, "tail");
  doca_buf *room = pair.to.space(4096, 64), *more = pair.to.space(8192, 64);
  CHECK(doca_buf_chain_list(head, tail) == DOCA_SUCCESS);
  CHECK(doca_buf_chain_list(room, more) == DOCA_SUCCESS);
  for (doca_buf* part : {head, tail}) CHECK(producer.send(part, consumer.id) == DOCA_ERROR_INVALID_VALUE);
  for (doca_buf* part : {room, more}) CHECK(consumer.post(part) == DOCA_ERROR_INVALID_VALUE);
  drop(head);
  drop(room);

  doca_buf_pool* pool = nullptr;
  REQUIRE(doca_buf_pool_create(4, SIZE_MAX - 8, pair.to.mmap, &pool) == DOCA_SUCCESS);
  CHECK(doca_buf_pool_set_element_alignment(pool, 64) == DOCA_SUCCESS);
  CHECK(doca_buf_pool_start(pool) == DOCA_ERROR_INVALID_VALUE);
  CHECK(doca_buf_pool_destroy(pool) == DOCA_SUCCESS);

  // Of memory that is gone, a pool has no elements.
  doca_mmap* gone = nullptr;
  doca_buf* element = nullptr;
  REQUIRE(doca_mmap_create(&gone) == DOCA_SUCCESS);
  CHECK(doca_mmap_set_memrange(gone, pair.to.bytes.data(), 4096) == DOCA_SUCCESS);
  CHECK(doca_mmap_start(gone) == DOCA_SUCCESS);
  REQUIRE(doca_buf_pool_create(4, 64, gone, &pool) == DOCA_SUCCESS);
  CHECK(doca_buf_pool_start(pool) == DOCA_SUCCESS);
  CHECK(doca_mmap_destroy(gone) == DOCA_SUCCESS);
  CHECK(doca_buf_pool_buf_alloc(pool, &element) == DOCA_ERROR_BAD_STATE);
  CHECK(doca_buf_pool_destroy(pool) == DOCA_SUCCESS);
}
