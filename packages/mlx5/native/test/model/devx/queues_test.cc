// Queues that a program makes by devx commands, and fills and empties in its own memory, and their events.
#include "test/support/model/queues.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

using namespace verbs::mlx5::test;

namespace {

constexpr std::uint8_t kSend = 0x0a, kSendImmediate = 0x0b, kWrite = 0x08, kRead = 0x10, kFetchAdd = 0x12;
constexpr int kBadParam = 3, kBadResource = 5;

}  // namespace

TEST_CASE("queue pairs of devx commands exchange messages, around the ends of their queues") {
  Queues client, server;
  client.connect(server);
  server.connect(client);
  // More than the queues, and than the completion queue, have room for.
  for (std::uint32_t i = 0; i < 200; ++i) {
    std::fill_n(client.data, kMessage, static_cast<std::uint8_t>(i));
    server.post_receive(server.data, kMessage);
    client.post_send(kSendImmediate, {}, client.data, kMessage, 0x01020300 + i);
    const Bytes sent = client.poll();
    REQUIRE(sent.size() == 64);
    CHECK((sent[63] >> 4) == 0);
    CHECK(get(&sent[56], 4) == (std::uint32_t{kSendImmediate} << 24 | client.qpn));
    CHECK(get(&sent[60], 2) == i);
    const Bytes received = server.poll();
    REQUIRE(received.size() == 64);
    CHECK((received[63] >> 4) == 3);
    CHECK(get(&received[32], 4) == 0xabcdef);
    CHECK(get(&received[36], 4) == 0x01020300 + i);
    CHECK(get(&received[44], 4) == kMessage);
    CHECK(get(&received[60], 2) == i);
    CHECK(std::equal(client.data, client.data + kMessage, server.data));
  }
  Bytes in(16), out(24 + 232);
  put(in, 0, 0x50b, 2);
  put(in, 9, client.qpn, 3);
  REQUIRE(mlx5dv_devx_obj_query(client.qp, in.data(), in.size(), out.data(), out.size()) == 0);
  CHECK((out[24] >> 4) == IBV_QPS_RTS);
  put(in, 0, 0x402, 2);
  put(in, 9, client.cqn, 3);
  REQUIRE(mlx5dv_devx_obj_query(client.cq, in.data(), in.size(), out.data(), out.size()) == 0);
  CHECK(get(&out[16 + 41], 3) == 200);
  CHECK(get(&out[16 + 45], 3) == 200);
}

TEST_CASE("they write, read, add and send inline; an access that the peer refuses is an error completion") {
  Queues client, server;
  client.connect(server);
  server.connect(client);
  std::fill_n(client.data, 64, std::uint8_t{7});
  client.post_send(kWrite, remote(server.data, server.mr->rkey), client.data, 64);
  CHECK((client.poll()[63] >> 4) == 0);
  CHECK(server.data[63] == 7);
  server.data[0] = 9;
  client.post_send(kRead, remote(server.data, server.mr->rkey), client.data + 512, 64);
  const Bytes read = client.poll();
  CHECK((read[63] >> 4) == 0);
  CHECK(get(&read[44], 4) == 64);
  CHECK(client.data[512] == 9);
  const std::uint64_t five = 5;
  std::memcpy(server.data, &five, 8);
  Bytes add = remote(server.data, server.mr->rkey), operand(16);
  put(operand, 0, 3, 8);
  add.insert(add.end(), operand.begin(), operand.end());
  client.post_send(kFetchAdd, add, client.data, 8);
  CHECK((client.poll()[63] >> 4) == 0);
  CHECK(client.data[0] == 5);
  CHECK(server.data[0] == 8);
  // Inline: 20 bytes behind their length.
  server.post_receive(server.data, kMessage);
  Bytes wqe(48);
  put(wqe, 0, 3u << 8 | kSend, 4);
  put(wqe, 4, client.qpn << 8 | 3, 4);
  wqe[11] = 0x08;
  put(wqe, 16, 0x80000000u | 20, 4);
  std::fill_n(wqe.begin() + 20, 20, std::uint8_t{0x55});
  client.write(wqe);
  CHECK((client.poll()[63] >> 4) == 0);
  CHECK(get(&server.poll()[44], 4) == 20);
  CHECK(server.data[19] == 0x55);
  client.post_send(kRead, remote(server.data, server.mr->rkey + 1), client.data, 64);
  const Bytes refused = client.poll();
  CHECK((refused[63] >> 4) == 13);
  CHECK(refused[55] == 0x13);  // remote access
  client.post_send(kRead, remote(server.data, server.mr->rkey), client.data, 64);
  CHECK(client.poll()[55] == 0x05);  // flushed
  // The program has no queue pair of verbs that an event could be of.
  for (const Queues* each : {&client, &server}) {
    REQUIRE(fcntl(each->end.context->async_fd, F_SETFL, O_NONBLOCK) == 0);
    ibv_async_event event{};
    CHECK(ibv_get_async_event(each->end.context, &event) == -1);
    CHECK(errno == EAGAIN);
  }
}

TEST_CASE("an exported object is found among those of other kinds with its number") {
  Queues queues;
  ibv_context* const context = queues.end.context;
  // Bulks of counters, which take as many numbers, until the next one is the queue pair's in its 24 bits.
  std::uint32_t id = 0;
  for (std::uint8_t log = 0; log < 16;) {
    mlx5dv_devx_obj* const counters = make_counter(context, &id, log);
    CHECK(mlx5dv_devx_obj_destroy(counters) == 0);
    const std::uint32_t left = (queues.qpn - id - (1u << log)) & 0xffffff;
    if (left == 0) break;
    for (log = 15; (1u << log) > left;) --log;
  }
  Bytes in(32 + 240);
  put(in, 0, 0x900, 2);
  put(in, 32 + 29, queues.end.qp->qp_num, 3);
  mlx5dv_devx_obj* const tir = run_create(context, in, &id);
  REQUIRE((tir != nullptr) == true);
  REQUIRE(id == queues.qpn);
  const auto query = [&](mlx5dv_devx_obj* exported, std::uint16_t opcode) {
    Bytes data = export_of(exported), command(16), out(512);
    mlx5dv_devx_obj* const imported = mlx5dv_devx_obj_import(context, data.data());
    REQUIRE((imported != nullptr) == true);
    put(command, 0, opcode, 2);
    put(command, 9, id, 3);
    const int error = mlx5dv_devx_obj_query(imported, command.data(), command.size(), out.data(), out.size());
    mlx5dv_devx_obj_unimport(imported);
    return error;
  };
  CHECK(query(queues.qp, 0x50b) == 0);
  CHECK(query(tir, 0x903) == 0);
  CHECK(mlx5dv_devx_obj_destroy(tir) == 0);
}

TEST_CASE("a thread that waits for an event or for an answer can be cancelled") {
  End end;
  mlx5dv_devx_event_channel* const channel =
      mlx5dv_devx_create_event_channel(end.context, static_cast<mlx5dv_devx_create_event_channel_flags>(0));
  REQUIRE(channel != nullptr);
  mlx5dv_devx_cmd_comp* const answers = mlx5dv_devx_create_cmd_comp(end.context);
  REQUIRE(answers != nullptr);
  const auto cancelled = [](void* (*wait)(void*), void* at) {
    pthread_t thread{};
    REQUIRE(pthread_create(&thread, nullptr, wait, at) == 0);
    REQUIRE(pthread_cancel(thread) == 0);
    timespec deadline{};
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 10;
    void* result = nullptr;
    return pthread_timedjoin_np(thread, &result, &deadline) == 0 && result == PTHREAD_CANCELED;
  };
  const auto for_event = [](void* at) -> void* {
    alignas(8) std::uint8_t event[72];
    mlx5dv_devx_get_event(static_cast<mlx5dv_devx_event_channel*>(at),
                          reinterpret_cast<mlx5dv_devx_async_event_hdr*>(event), sizeof event);
    return nullptr;
  };
  const auto for_answer = [](void* at) -> void* {
    alignas(8) std::uint8_t answer[72];
    mlx5dv_devx_get_async_cmd_comp(static_cast<mlx5dv_devx_cmd_comp*>(at),
                                   reinterpret_cast<mlx5dv_devx_async_cmd_hdr*>(answer), sizeof answer);
    return nullptr;
  };
  REQUIRE(cancelled(for_event, channel));
  REQUIRE(cancelled(for_answer, answers));
  mlx5dv_devx_destroy_event_channel(channel);
  mlx5dv_devx_destroy_cmd_comp(answers);
}

TEST_CASE("requests that no adapter takes end the queue pair, and nothing else") {
  Queues client;
  const auto broken = [&](auto&& breaks) {
    Queues server;
    Queues sender;
    sender.connect(server);
    server.connect(sender);
    breaks(sender);
    const Bytes entry = sender.poll();
    REQUIRE(entry.size() == 64);
    CHECK((entry[63] >> 4) == 13);
    CHECK(entry[55] == 0x02);  // local operation
  };
  Bytes wqe(64);
  broken([&](Queues& sender) { sender.write(wqe); });  // no size
  broken([&](Queues& sender) {
    put(wqe, 4, sender.qpn << 8 | 2, 4);
    put(wqe, 0, 0x7f, 4);
    sender.write(wqe);  // no such opcode
  });
  broken([&](Queues& sender) {
    put(wqe, 0, kSend, 4);
    put(wqe, 4, (sender.qpn ^ 1) << 8 | 2, 4);
    sender.write(wqe);  // another queue pair
  });
  broken([&](Queues& sender) { sender.ring(4, 0x8000); });  // more than there is room for
  broken([&](Queues& sender) {
    put(wqe, 4, sender.qpn << 8 | 63, 4);
    sender.write(wqe);  // longer than what was posted
  });
  // Memory that the program takes away.
  broken([&](Queues& sender) {
    sender.write(wqe);
    REQUIRE(mmap(sender.qp_memory.bytes, sender.qp_memory.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                 0) == sender.qp_memory.bytes);
  });
}

TEST_CASE("a completion queue that overflows raises its event, for a channel or for a counter") {
  for (const bool with_counter : {false, true}) {
    Queues client, server(2);
    client.connect(server);
    server.connect(client);
    const auto flags = with_counter ? MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA
                                    : static_cast<mlx5dv_devx_create_event_channel_flags>(0);
    mlx5dv_devx_event_channel* channel = mlx5dv_devx_create_event_channel(server.end.context, flags);
    REQUIRE(channel != nullptr);
    std::uint16_t wanted[] = {0x04};
    const int counter = eventfd(0, EFD_CLOEXEC);
    if (with_counter) {
      REQUIRE(mlx5dv_devx_subscribe_devx_event_fd(channel, counter, server.cq, wanted[0]) == 0);
    } else {
      REQUIRE(mlx5dv_devx_subscribe_devx_event(channel, server.cq, sizeof wanted, wanted, 77) == 0);
    }
    for (int i = 0; i < 8; ++i) {
      server.post_receive(server.data, kMessage);
      client.post_send(kSend, {}, client.data, 8);
    }
    if (with_counter) {
      pollfd ready{.fd = counter, .events = POLLIN, .revents = 0};
      REQUIRE(poll(&ready, 1, 20'000) == 1);
      std::uint64_t count = 0;
      CHECK(read(counter, &count, sizeof count) == sizeof count);
      CHECK(count == 1);
    } else {
      pollfd ready{.fd = channel->fd, .events = POLLIN, .revents = 0};
      REQUIRE(poll(&ready, 1, 20'000) == 1);
      alignas(8) std::uint8_t event[72] = {};
      auto* header = reinterpret_cast<mlx5dv_devx_async_event_hdr*>(event);
      // Too little room for it does not lose it.
      CHECK(mlx5dv_devx_get_event(channel, header, 8) == -1);
      CHECK(errno == EINVAL);
      CHECK(mlx5dv_devx_get_event(channel, header, sizeof event) == 72);
      CHECK(header->cookie == 77);
      CHECK(event[8 + 1] == 0x04);
      CHECK(get(event + 8 + 32 + 1, 3) == server.cqn);
      CHECK(event[8 + 32 + 11] == 1);  // overrun
    }
    // The entries that there was room for are there, and no others.
    for (int i = 0; i < 4; ++i) CHECK(server.poll().size() == 64);
    CHECK(server.poll(50ms).empty());
    Bytes in(16), out(24 + 232);
    put(in, 0, 0x50b, 2);
    put(in, 9, server.qpn, 3);
    REQUIRE(mlx5dv_devx_obj_query(server.qp, in.data(), in.size(), out.data(), out.size()) == 0);
    CHECK((out[24] >> 4) == IBV_QPS_ERR);
    mlx5dv_devx_destroy_event_channel(channel);
    close(counter);
  }
}

TEST_CASE("a channel without room says once that events are lost, and gives those that there was room for") {
  Queues client, server(2);
  client.connect(server);
  server.connect(client);
  mlx5dv_devx_event_channel* channel =
      mlx5dv_devx_create_event_channel(server.end.context, static_cast<mlx5dv_devx_create_event_channel_flags>(0));
  REQUIRE(channel != nullptr);
  // More than the channel has room for: one event for each.
  std::vector<std::uint16_t> wanted(8000, 0x04);
  const auto size = static_cast<std::uint16_t>(wanted.size() * sizeof wanted[0]);
  REQUIRE(mlx5dv_devx_subscribe_devx_event(channel, server.cq, size, wanted.data(), 77) == 0);
  for (int i = 0; i < 8; ++i) {
    server.post_receive(server.data, kMessage);
    client.post_send(kSend, {}, client.data, 8);
  }
  pollfd ready{.fd = channel->fd, .events = POLLIN, .revents = 0};
  REQUIRE(poll(&ready, 1, 20'000) == 1);
  REQUIRE(fcntl(channel->fd, F_SETFL, O_NONBLOCK) == 0);
  alignas(8) std::uint8_t event[72] = {};
  auto* header = reinterpret_cast<mlx5dv_devx_async_event_hdr*>(event);
  // The call has the lock that the event was raised under: all of them have been delivered, or lost.
  CHECK(mlx5dv_devx_get_event(channel, header, sizeof event) == -1);
  CHECK(errno == EOVERFLOW);
  std::size_t count = 0;
  while (mlx5dv_devx_get_event(channel, header, sizeof event) == sizeof event) ++count;
  CHECK(errno == EAGAIN);
  CHECK((count > 0 && count < wanted.size()) == true);
  mlx5dv_devx_destroy_event_channel(channel);
}

TEST_CASE("subscriptions, memory and commands that are refused") {
  Queues queues;
  ibv_context* context = queues.end.context;
  mlx5dv_devx_event_channel* channel =
      mlx5dv_devx_create_event_channel(context, static_cast<mlx5dv_devx_create_event_channel_flags>(0));
  std::uint16_t other[] = {0x09}, wanted[] = {0x04};
  CHECK(mlx5dv_devx_subscribe_devx_event(channel, queues.cq, sizeof other, other, 0) == EINVAL);
  CHECK(mlx5dv_devx_subscribe_devx_event(channel, queues.qp, sizeof wanted, wanted, 0) == EINVAL);
  CHECK(mlx5dv_devx_subscribe_devx_event(channel, nullptr, sizeof wanted, wanted, 0) == EOPNOTSUPP);
  CHECK(mlx5dv_devx_subscribe_devx_event(channel, queues.cq, 3, wanted, 0) == EINVAL);
  CHECK(mlx5dv_devx_subscribe_devx_event_fd(channel, -1, queues.cq, wanted[0]) == EBADF);
  CHECK(mlx5dv_devx_subscribe_devx_event_fd(channel, channel->fd, queues.cq, wanted[0]) == EINVAL);
  std::uint32_t eqn = 0;
  CHECK(mlx5dv_devx_query_eqn(context, 1u << 20, &eqn) == EINVAL);
  mlx5dv_devx_destroy_event_channel(channel);
  alignas(8) std::uint8_t event[72] = {};
  CHECK(mlx5dv_devx_get_event(channel, reinterpret_cast<mlx5dv_devx_async_event_hdr*>(event), sizeof event) == -1);

  CHECK(ERRNO_OF(mlx5dv_devx_umem_reg(context, event, 0, IBV_ACCESS_LOCAL_WRITE)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_devx_umem_reg(context, event, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_devx_umem_reg(context, event, 8, 1u << 30)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_devx_umem_reg(context, event, 8, IBV_ACCESS_REMOTE_WRITE)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_devx_umem_reg(context, reinterpret_cast<void*>(16), 8, IBV_ACCESS_LOCAL_WRITE)) == EFAULT);
  mlx5dv_devx_umem_in in{};
  in.addr = event;
  in.size = 8;
  in.pgsz_bitmap = 1 << 21;
  CHECK(ERRNO_OF(mlx5dv_devx_umem_reg_ex(context, &in)) == EOPNOTSUPP);
  in.pgsz_bitmap |= 4096;
  mlx5dv_devx_umem* umem = mlx5dv_devx_umem_reg_ex(context, &in);
  REQUIRE((umem != nullptr) == true);
  CHECK(mlx5dv_devx_umem_dereg(umem) == 0);
  CHECK(mlx5dv_devx_umem_dereg(umem) == EINVAL);

  const auto refused = [&](Bytes command, std::size_t at, std::uint64_t value, std::size_t size) {
    put(command, at, value, size);
    std::uint32_t id = 0;
    int status = 0;
    CHECK(ERRNO_OF(run_create(context, command, &id, &status)) == EREMOTEIO);
    return status;
  };
  CHECK(refused(queues.cq_command(), 92, 0, 1) == kBadParam);                 // addresses of pages
  CHECK(refused(queues.cq_command(), 88, 0xffffff, 4) == kBadResource);       // no such memory
  CHECK(refused(queues.cq_command(), 80, 1, 8) == kBadParam);                 // past its end
  CHECK(refused(queues.cq_command(), 80, UINT64_MAX - 8, 8) == kBadParam);    // around
  CHECK(refused(queues.cq_command(), 16 + 56, 4090, 8) == kBadParam);         // the record past its end
  CHECK(refused(queues.cq_command(), 28, 31, 1) == kBadParam);                // too many entries
  CHECK(refused(queues.qp_command(), 24 + 1, 1, 1) == kBadParam);             // UC
  CHECK(refused(queues.qp_command(), 24 + 172, 1, 1) == kBadParam);           // a shared receive queue
  CHECK(refused(queues.qp_command(), 24 + 5, 0xfffff, 3) == kBadResource);    // no such domain
  CHECK(refused(queues.qp_command(), 24 + 157, 0xfffff, 3) == kBadResource);  // no such completion queue
  CHECK(refused(queues.qp_command(), 24 + 10, 15 << 3, 1) == kBadParam);      // past the end of the memory
  CHECK(queues.modify(0x504, Bytes(272)) == kBadParam);                       // from RESET to RTS
  CHECK(queues.modify(0x7ff, Bytes(272)) == 2);
}

TEST_CASE("a query is answered later, and what the firmware rejects is an answer as well") {
  Queues queues;
  mlx5dv_devx_cmd_comp* const answers = mlx5dv_devx_create_cmd_comp(queues.end.context);
  REQUIRE(answers != nullptr);
  Bytes in(16);
  put(in, 0, 0x50b, 2);
  put(in, 9, queues.qpn, 3);
  CHECK(mlx5dv_devx_obj_query_async(queues.qp, in.data(), in.size(), 24 + 232, 100, answers) == 0);
  CHECK(mlx5dv_devx_obj_query_async(queues.qp, in.data(), in.size(), 16, 101, answers) == 0);
  CHECK(mlx5dv_devx_obj_query_async(queues.cq, in.data(), in.size(), 512, 102, answers) == EINVAL);
  CHECK(mlx5dv_devx_obj_query_async(nullptr, in.data(), in.size(), 512, 103, answers) == EINVAL);
  CHECK(mlx5dv_devx_obj_query_async(queues.qp, in.data(), in.size(), 1 << 16, 104, answers) == EINVAL);
  alignas(8) std::uint8_t bytes[8 + 24 + 232] = {};
  auto* answer = reinterpret_cast<mlx5dv_devx_async_cmd_hdr*>(bytes);
  CHECK(mlx5dv_devx_get_async_cmd_comp(answers, answer, 100) == ENOSPC);
  CHECK(mlx5dv_devx_get_async_cmd_comp(answers, answer, sizeof bytes) == 0);
  CHECK(answer->wr_id == 100);
  CHECK(bytes[8] == 0);
  CHECK(bytes[8 + 24 + 9] == kLogReceives << 3);
  CHECK(mlx5dv_devx_get_async_cmd_comp(answers, answer, sizeof bytes) == 0);
  CHECK(answer->wr_id == 101);
  CHECK(bytes[8] == 0x51);
  mlx5dv_devx_destroy_cmd_comp(answers);
  CHECK(mlx5dv_devx_get_async_cmd_comp(answers, answer, sizeof bytes) == EINVAL);
}

TEST_CASE("memory that was left zero has no entry before it is whole") {
  Queues client, server(10);
  client.connect(server);
  server.connect(client);
  std::fill_n(server.cq_memory.bytes, server.cq_memory.size, std::uint8_t{0});
  for (std::size_t i = 0; i < 1024; ++i) {
    server.post_receive(server.data, kMessage);
    client.post_send(kSendImmediate, {}, client.data, 8, 1);
    const auto* entry = reinterpret_cast<const volatile std::uint64_t*>(server.cq_memory.bytes + 64 * i);
    std::uint64_t seen[8] = {};
    // As soon as there is something that is not called invalid.
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    for (std::uint64_t any = 0; any == 0 || seen[7] >> 60 == 0xf;) {
      any = 0;
      for (std::size_t at = 0; at < 8; ++at) any |= seen[at] = entry[at];
      if (any == 0) REQUIRE(std::chrono::steady_clock::now() < deadline);
    }
    REQUIRE((seen[7] >> 60) == 3);
    REQUIRE(client.poll().size() == 64);
    REQUIRE(server.poll().size() == 64);
  }
}
