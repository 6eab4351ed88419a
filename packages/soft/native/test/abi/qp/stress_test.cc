// Several threads at once on objects of their own and on objects that they share. Small here; VERBS_STRESS_ROUNDS makes
// it larger, and the sanitizers look for races in it.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

int rounds() {
  static const int count = [] {
    const char* text = std::getenv("VERBS_STRESS_ROUNDS");
    return std::max(1, std::atoi(text ? text : "20"));
  }();
  return count;
}

template <typename Work>
void in_threads(int count, Work work) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

void exchange(End& from, End& to) {
  CHECK(to.post_recv(0, 256) == 0);
  CHECK(from.send(0, 256) == 0);
  CHECK(to.poll().status == IBV_WC_SUCCESS);
  CHECK(from.poll().status == IBV_WC_SUCCESS);
}

}  // namespace

TEST_CASE("stress: threads that open, connect, talk and close") {
  configure("a;b");
  in_threads(4, [](int) {
    for (int round = 0; round < rounds(); ++round) {
      End a("a"), b(round % 2 == 0 ? "b" : "a");
      a.connect(b);
      b.connect(a);
      exchange(a, b);
      exchange(b, a);
      if (round % 3 == 0) a.qp = b.qp = nullptr, a.cq = b.cq = nullptr;  // left to the closing contexts
    }
  });
}

TEST_CASE("stress: threads that share a context, a domain and a channel") {
  configure("a");
  End shared("a", IBV_QPT_RC, true);
  in_threads(4, [&](int thread) {
    std::vector<std::uint8_t> memory(4096, static_cast<std::uint8_t>(thread));
    for (int round = 0; round < rounds() * 5; ++round) {
      ibv_mr* mr = ibv_reg_mr(shared.pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
      ibv_cq* cq = ibv_create_cq(shared.context.get(), 16, nullptr, shared.channel, 0);
      REQUIRE((mr && cq));
      ibv_qp_init_attr attr{};
      attr.send_cq = attr.recv_cq = cq;
      attr.qp_type = IBV_QPT_RC;
      attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
      ibv_qp* qp = ibv_create_qp(shared.pd, &attr);
      REQUIRE(qp);
      CHECK(ibv_destroy_cq(cq) == EBUSY);
      CHECK(ibv_req_notify_cq(cq, 0) == 0);
      CHECK(ibv_destroy_qp(qp) == 0);
      CHECK(ibv_destroy_cq(cq) == 0);
      CHECK(ibv_dereg_mr(mr) == 0);
    }
  });
}

TEST_CASE("stress: threads that post to one queue pair and poll one completion queue") {
  configure("a;b");
  End a("a"), b("b");
  a.connect(b);
  b.connect(a);
  constexpr int kPosters = 2, kSlots = 16;
  constexpr std::size_t kSource = 4096;
  const int each = std::min(rounds() * 20, 20'000), all = kPosters * each;
  for (int i = 0; i < all; ++i) std::memcpy(a.memory.data() + kSource + std::size_t(i) * sizeof i, &i, sizeof i);
  for (int i = 0; i < kSlots; ++i) REQUIRE(b.post_recv(std::size_t(i) * 64, 64, std::uint64_t(i)) == 0);
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(all));
  // A send queue has room again as soon as a request is acknowledged: only this keeps the posters from overrunning the
  // completion queue while the pollers are not on a processor.
  constexpr int kMostUnpolled = 32;
  std::atomic<int> posted{0}, sent{0}, received{0};
  const auto poll_one = [](End& end, ibv_wc* wc) {
    const int found = ibv_poll_cq(end.cq, 1, wc);
    if (found == 0) std::this_thread::yield();
    REQUIRE(found >= 0);
    if (found == 1) REQUIRE(wc->status == IBV_WC_SUCCESS);
    return found == 1;
  };
  in_threads(kPosters + 4, [&](int thread) {
    ibv_wc wc{};
    if (thread < kPosters) {
      for (int i = thread * each; i < (thread + 1) * each; ++i) {
        while (posted - sent >= kMostUnpolled) std::this_thread::yield();
        ++posted;
        int error = ENOMEM;
        while ((error = a.send(kSource + std::size_t(i) * sizeof i, sizeof i)) == ENOMEM) std::this_thread::yield();
        REQUIRE(error == 0);
      }
    } else if (thread % 2 == 0) {
      while (sent < all) sent += poll_one(a, &wc) ? 1 : 0;
    } else {
      while (received < all) {
        if (!poll_one(b, &wc)) continue;
        const std::size_t slot = std::size_t(wc.wr_id) * 64;
        int number = -1;
        std::memcpy(&number, b.memory.data() + slot, sizeof number);
        REQUIRE((number >= 0 && number < all));
        CHECK(seen[static_cast<std::size_t>(number)]++ == 0);
        REQUIRE(b.post_recv(slot, 64, wc.wr_id) == 0);
        ++received;
      }
    }
  });
  CHECK(sent == all);
  CHECK(received == all);
}

TEST_CASE("stress: one thread sleeps on the channel while others send, and addresses come and go") {
  configure("a,link=process;b,link=process");
  End a("a"), b("b", IBV_QPT_RC, true);
  a.connect(b);
  b.connect(a);
  const int all = rounds() * 10;
  std::atomic<bool> done{false};
  REQUIRE(b.post_recv(0, 64) == 0);
  REQUIRE(ibv_req_notify_cq(b.cq, 0) == 0);
  std::thread sleeper([&] {
    int received = 0;
    while (received < all) {
      ibv_cq* cq = nullptr;
      void* context = nullptr;
      REQUIRE(ibv_get_cq_event(b.channel, &cq, &context) == 0);
      REQUIRE(cq == b.cq);
      ibv_ack_cq_events(cq, 1);
      REQUIRE(ibv_req_notify_cq(cq, 0) == 0);
      ibv_wc wc{};
      while (ibv_poll_cq(cq, 1, &wc) == 1) {
        CHECK(wc.status == IBV_WC_SUCCESS);
        ++received;
        REQUIRE(b.post_recv(0, 64) == 0);
      }
    }
  });
  std::thread events([&] {
    End watch("a");
    while (!done) {
      unsigned int index = 0;
      REQUIRE(verbs_soft_add_gid("a", 1, "fd00::77", &index) == 0);
      REQUIRE(verbs_soft_remove_gid("a", 1, "fd00::77") == 0);
      for (int i = 0; i < 2; ++i) {
        ibv_async_event event{};
        REQUIRE(ibv_get_async_event(watch.context.get(), &event) == 0);
        CHECK(event.event_type == IBV_EVENT_GID_CHANGE);
        ibv_ack_async_event(&event);
      }
    }
  });
  for (int i = 0; i < all; ++i) {
    CHECK(a.send(0, 64) == 0);
    CHECK(a.poll().status == IBV_WC_SUCCESS);
  }
  sleeper.join();
  done = true;
  events.join();
}

TEST_CASE("stress: a peer that is destroyed while packets are in flight") {
  configure("a;b");
  End a("a"), keep("b");  // both devices stay open
  for (int round = 0; round < rounds(); ++round) {
    End from("a");
    auto to = std::make_unique<End>("b");
    from.connect(*to, 8);
    to->connect(from);
    constexpr int kInFlight = 8;
    ibv_sge sge;
    ibv_send_wr write = from.request(&sge, IBV_WR_RDMA_WRITE, 0, 32'768);
    write.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(to->memory.data());
    write.wr.rdma.rkey = to->mr->rkey;
    std::atomic<int> completed{0};
    std::thread closer([&] {
      while (completed < round % 5) std::this_thread::yield();
      if (round % 2 == 0) {
        CHECK(ibv_destroy_qp(to->qp) == 0);
        to->qp = nullptr;
      } else {
        to.reset();
      }
    });
    // Until the first request fails after its retries; the requests behind it are flushed.
    bool failed = false;
    for (int in_flight = 0; !failed || in_flight > 0; --in_flight) {
      for (; !failed && in_flight < kInFlight; ++in_flight) {
        ibv_send_wr* bad = nullptr;
        REQUIRE(ibv_post_send(from.qp, &write, &bad) == 0);
      }
      const ibv_wc wc = from.poll();
      CAPTURE(wc.status);
      if (wc.status == IBV_WC_SUCCESS) {
        CHECK_FALSE(failed);
      } else {
        CHECK(wc.status == (failed ? IBV_WC_WR_FLUSH_ERR : IBV_WC_RETRY_EXC_ERR));
        failed = true;
      }
      ++completed;
    }
    closer.join();
  }
}
