// Ten thousand connected queue pairs in one process: their memory, and that they work.
#include <malloc.h>
#include <unistd.h>

#include <fstream>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr std::size_t kPairs = 5000;
constexpr std::size_t kMostBeyondQueues = 4096;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMeasurable = false;  // shadow memory would be counted
#else
constexpr bool kMeasurable = true;
#endif

// The memory of this process that is really there.
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

struct Caps {
  const char* name;
  ibv_qp_cap cap;
  std::size_t queues;  // bytes of the queues that are resident
};

void open_and_use(const Caps& caps) {
  VirtualNetwork net;
  const auto create = [&caps](Station& station) {
    ibv_qp_init_attr init = {};
    init.qp_type = IBV_QPT_RC;
    init.cap = caps.cap;
    nic::Qp* qp = nullptr;
    REQUIRE(station.nic->qps().create({station.pd, station.cq, station.cq, nullptr}, &init, nullptr, &qp) == 0);
    return qp;
  };
  std::vector<std::pair<nic::Qp*, nic::Qp*>> pairs;
  pairs.reserve(kPairs);
  malloc_trim(0);  // so that freed memory is counted again when it is reused
  const std::size_t before = resident_bytes();
  for (std::size_t i = 0; i < kPairs; ++i) {
    pairs.emplace_back(create(net.a), create(net.b));
    net.connect(pairs.back().first, pairs.back().second);
  }
  const std::size_t each = (resident_bytes() - before) / (2 * kPairs);
  MESSAGE(std::string(caps.name) << ": " << each << " bytes a queue pair");
  if (kMeasurable) CHECK(each <= caps.queues + kMostBeyondQueues);

  // Some of them, the first and the last too, carry a message.
  std::vector<std::uint8_t> source = pattern(3000), target(3000);
  nic::Mr* from = net.a.reg(source.data(), source.size());
  nic::Mr* to = net.b.reg(target.data(), target.size());
  for (std::size_t i = 0; i < kPairs; i += kPairs / 10 - 1) {
    std::fill(target.begin(), target.end(), std::uint8_t{0});
    REQUIRE(post_recv(net.b, pairs[i].second, i, {sge_of(target.data(), 3000, to)}) == 0);
    REQUIRE(post_send(net.a, pairs[i].first, {.sges = {sge_of(source.data(), 3000, from)}}) == 0);
    net.run();
    CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
    CHECK(net.b.poll().at(0).status == IBV_WC_SUCCESS);
    CHECK(source == target);
  }
  // And nothing of the others is left to do.
  CHECK(net.a.nic->scheduler().next_deadline() == nic::kNever);
}

}  // namespace

TEST_CASE("ten thousand queue pairs use memory for posted requests, not for their capacity") {
  constexpr std::size_t kSmall = 16 * (sizeof(nic::SendWqe) + sizeof(nic::RecvWqe) + 2 * sizeof(ibv_sge));
  open_and_use({"16 requests of 1 SGE", {16, 16, 1, 1, 0}, kSmall});
  open_and_use({"4096 requests of 16 SGEs and 256 bytes inline", {4096, 4096, 16, 16, 256}, 0});
}
