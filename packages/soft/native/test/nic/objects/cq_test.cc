// A completion queue by itself, with a clock that the test sets.
#include <doctest/doctest.h>

#include <cerrno>

#include "nic/objects/completion_queue.h"
#include "test/abi/support/failing_new.h"

using namespace verbs::soft::nic;
using namespace verbs::soft::test;

namespace {

struct Bench final : EventSink {
  void completion(Cq*) override { ++events; }
  void async(const AsyncEvent& event) override {
    CHECK(event.type == IBV_EVENT_CQ_ERR);
    ++errors;
  }

  void push(ibv_wc_status status = IBV_WC_SUCCESS, bool solicited = false) {
    ibv_wc wc{};
    wc.status = status;
    cq.push(wc, solicited, *this);
  }
  void pass(Nanos time) {
    now += time;
    while (TimerSlot* slot = timers.expire(now)) static_cast<Cq&>(*slot).expire(*this);
  }

  Nanos now = 1000;
  TimerHeap timers;
  Cq cq{8, {.timestamps = true}, nullptr, now, timers};
  int events = 0;
  int errors = 0;
};

}  // namespace

TEST_CASE("moderation raises one event for `count` completions") {
  Bench bench;
  bench.cq.moderate(3, 5000);
  bench.push();  // not armed: not counted
  bench.cq.arm(false);
  bench.push();
  bench.push();
  CHECK(bench.events == 0);
  bench.push();
  CHECK(bench.events == 1);
  bench.pass(10'000);  // the period of a batch that is complete
  CHECK(bench.events == 1);
  CHECK(bench.timers.next() == kNever);
}

TEST_CASE("moderation raises its event when the period after the first completion is over") {
  Bench bench;
  bench.cq.moderate(3, 5000);
  bench.cq.arm(false);
  bench.push();
  CHECK(bench.timers.next() == 6000);
  bench.pass(4999);
  bench.push();
  CHECK(bench.events == 0);
  bench.pass(1);
  CHECK(bench.events == 1);
  bench.push();
  bench.pass(5000);
  CHECK(bench.events == 1);  // not armed again
}

TEST_CASE("without memory for the period's timer the event comes at once") {
  if (!kAllocationsCanFail) return;
  Bench bench;
  bench.cq.moderate(3, 5000);
  bench.cq.arm(false);
  fail_allocation(1);
  bench.push();
  CHECK(allocation_failed());
  CHECK(bench.events == 1);
  CHECK(bench.cq.pending() == 1);
}

TEST_CASE("moderation counts only completions that would raise the event, and is off without a count or a period") {
  Bench bench;
  bench.cq.moderate(2, 5000);
  bench.cq.arm(true);
  bench.push();
  bench.push(IBV_WC_SUCCESS, true);
  bench.push();
  CHECK(bench.events == 0);
  bench.push(IBV_WC_LOC_PROT_ERR);
  CHECK(bench.events == 1);
  bench.cq.moderate(2, 0);
  bench.cq.arm(false);
  bench.push();
  CHECK(bench.events == 2);
  bench.cq.moderate(1, 5000);
  bench.cq.arm(false);
  bench.push();
  CHECK(bench.events == 3);
}

TEST_CASE("the entries of one QP go, the others keep their order and time") {
  Bench bench;
  for (int i = 0; i < 6; ++i) bench.push();
  Completion completion{};
  for (int i = 0; i < 6; ++i) bench.cq.poll_one(&completion);  // the ring goes round
  for (std::uint32_t qp_num : {1u, 2u, 1u, 3u, 1u, 2u}) {
    ibv_wc wc{};
    wc.qp_num = qp_num;
    bench.now = qp_num;
    bench.cq.push(wc, false, bench);
  }
  bench.cq.clean(1);
  CHECK(bench.cq.pending() == 3);
  for (std::uint32_t qp_num : {2u, 3u, 2u}) {
    REQUIRE(bench.cq.poll_one(&completion));
    CHECK(completion.wc.qp_num == qp_num);
    CHECK(completion.at == static_cast<Nanos>(qp_num));
  }
  bench.cq.clean(1);
  CHECK(bench.cq.pending() == 0);
}

TEST_CASE("completions carry the time at which they came, through a resize") {
  Bench bench;
  bench.push();
  bench.now += 7;
  bench.push();
  REQUIRE(bench.cq.resize(2) == 0);
  Completion completion{};
  REQUIRE(bench.cq.poll_one(&completion));
  CHECK(completion.at == 1000);
  REQUIRE(bench.cq.poll_one(&completion));
  CHECK(completion.at == 1007);
  CHECK_FALSE(bench.cq.poll_one(&completion));
  for (int i = 0; i < 4; ++i) bench.push();
  CHECK(bench.errors == 1);  // one event however many entries are lost
  CHECK(bench.cq.pending() == 2);
}

TEST_CASE("a queue that has overrun gives what it has, and then an error: what was lost never comes") {
  Bench bench;
  for (int i = 0; i < 9; ++i) bench.push();
  CHECK(bench.errors == 1);
  ibv_wc wc[16];
  CHECK(bench.cq.poll(5, wc) == 5);
  CHECK(bench.cq.poll(16, wc) == 3);
  CHECK(bench.cq.poll(16, wc) == -EIO);
  bench.push();
  CHECK(bench.cq.poll(16, wc) == 1);
  CHECK(bench.cq.has_overrun());
  CHECK(bench.cq.poll(0, wc) == -EIO);
}
