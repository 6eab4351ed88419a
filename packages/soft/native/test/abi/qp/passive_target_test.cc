// The target of one-sided operations responds at once, however its program polls: a READ takes as long from a process
// that polls now and then as from one that sleeps. Times are compared with each other only, so that a loaded machine
// does not matter.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;
using std::chrono::microseconds;

namespace {

constexpr int kReads = 60;
constexpr int kRounds = 8;

// Polls the queue `polls` times, every `pause`.
class RarePoller {
 public:
  RarePoller(ibv_cq* cq, microseconds pause, int polls)
      : thread_([=, this] {
          while (!stopped_) {
            ibv_wc wc;
            for (int i = 0; i < polls; ++i) ibv_poll_cq(cq, 1, &wc);
            std::this_thread::sleep_for(pause);
          }
        }) {}
  ~RarePoller() {
    stopped_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

double median_of_reads(End& from, End& to) {
  std::vector<double> times;
  for (int i = 0; i < kReads; ++i) {
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(from.rdma(IBV_WR_RDMA_READ, to, 4096) == 0);
    REQUIRE(from.poll().status == IBV_WC_SUCCESS);
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + kReads / 2, times.end());
  return times[kReads / 2];
}

// The smallest ratio of some rounds: what the machine does beside the test can only spoil a round.
double best_ratio(const char* links, microseconds pause, int polls) {
  configure("a" + std::string(links) + ";b" + links);
  End from("a"), to("b");
  from.connect(to);
  to.connect(from);
  double best = 1e9;
  for (int round = 0; round < kRounds && best > 1.2; ++round) {
    const double asleep = median_of_reads(from, to);
    const RarePoller poller(to.cq, pause, polls);
    best = std::min(best, median_of_reads(from, to) / asleep);
  }
  return best;
}

}  // namespace

TEST_CASE("a process that polls every millisecond answers READs as one that sleeps") {
  for (const char* links : {",link=udp", ""}) {
    CAPTURE(std::string(links));
    CHECK(best_ratio(links, microseconds(1000), 1) <= 1.5);
  }
}

TEST_CASE("so does one that polls every ten milliseconds, and one that polls some times in a row") {
  CHECK(best_ratio(",link=udp", microseconds(10'000), 1) <= 1.5);
  CHECK(best_ratio(",link=udp", microseconds(1000), 20) <= 1.5);
}
