// The orderly end: a disconnect takes about a round trip, whoever leaves first, and also if both leave at once.
#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "test/support/pair.h"

using namespace verbs::doca_comm::model::test;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr int kRounds = 30;
// Without an orderly end, the farewell of one side is retransmitted until its retries run out, which takes more than a
// second. A machine that is busy may delay a thread for some time, but not that long, and not in most rounds.
constexpr milliseconds kUsual{20}, kAlways{500};

milliseconds time_of(const std::function<void()>& act) {
  const auto start = steady_clock::now();
  act();
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
}

void check(std::vector<milliseconds> times) {
  std::sort(times.begin(), times.end());
  CAPTURE(times.back().count());
  CHECK(times[times.size() / 2] < kUsual);
  CHECK(times.back() < kAlways);
}

// Connects the client again, and accepts it.
void reconnect(Pair& pair) {
  REQUIRE(doca_comm_channel_ep_connect(pair.client.ep, "pair", &pair.to_service) == DOCA_SUCCESS);
  std::string message;
  until([&] {
    Addr* from = nullptr;
    CHECK(pair.service.receive(&message, &from) == DOCA_ERROR_AGAIN);
    return doca_comm_channel_peer_addr_update_info(pair.to_service) == DOCA_SUCCESS;
  });
  REQUIRE(pair.client.send("hello", pair.to_service) == DOCA_SUCCESS);
  CHECK(pair.service.wait_for_message(&pair.to_client) == "hello");
}

}  // namespace

TEST_CASE("a client leaves, and the service disconnects it as soon as it knows") {
  Pair pair;
  std::vector<milliseconds> client_times, service_times;
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) reconnect(pair);
    std::thread service([&] {
      std::string message;
      Addr* from = nullptr;
      while (pair.service.receive(&message, &from) != DOCA_ERROR_CONNECTION_RESET) std::this_thread::yield();
      service_times.push_back(time_of([&] { doca_comm_channel_ep_disconnect(pair.service.ep, from); }));
    });
    client_times.push_back(time_of([&] { doca_comm_channel_ep_disconnect(pair.client.ep, pair.to_service); }));
    service.join();
  }
  check(client_times);
  check(service_times);
}

TEST_CASE("both leave at once, with messages on the way") {
  Pair pair;
  std::vector<milliseconds> times[2];
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) reconnect(pair);
    for (int i = 0; i < 20; ++i) {
      REQUIRE(pair.client.send("there", pair.to_service) == DOCA_SUCCESS);
      REQUIRE(pair.service.send("and back", pair.to_client) == DOCA_SUCCESS);
    }
    std::atomic<int> ready = 0;
    const auto leave = [&](int side, Ep* ep, Addr* peer) {
      ++ready;
      while (ready < 2) std::this_thread::yield();
      times[side].push_back(time_of([&] { CHECK(doca_comm_channel_ep_disconnect(ep, peer) == DOCA_SUCCESS); }));
    };
    std::thread service(leave, 0, pair.service.ep, pair.to_client);
    leave(1, pair.client.ep, pair.to_service);
    service.join();
  }
  check(times[0]);
  check(times[1]);
}

TEST_CASE("the other side does nothing, and leaves later") {
  Pair pair;
  std::vector<milliseconds> first, second;
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) reconnect(pair);
    REQUIRE(pair.client.send("unread", pair.to_service) == DOCA_SUCCESS);
    const auto client = [&] { doca_comm_channel_ep_disconnect(pair.client.ep, pair.to_service); };
    const auto service = [&] { doca_comm_channel_ep_disconnect(pair.service.ep, pair.to_client); };
    const bool client_first = round % 2 == 0;
    first.push_back(client_first ? time_of(client) : time_of(service));
    second.push_back(client_first ? time_of(service) : time_of(client));
  }
  check(first);
  check(second);
}

TEST_CASE("a service that closes dismisses a client that is not connected yet") {
  Devices devices;
  Endpoint service(devices.dpu, devices.rep), client(devices.host);
  REQUIRE(doca_comm_channel_ep_listen(service.ep, "short") == DOCA_SUCCESS);
  Addr *peer = nullptr, *from = nullptr;
  REQUIRE(doca_comm_channel_ep_connect(client.ep, "short", &peer) == DOCA_SUCCESS);
  std::string message;
  CHECK(service.receive(&message, &from) == DOCA_ERROR_AGAIN);  // accepts it
  CHECK(time_of([&] { doca_comm_channel_ep_destroy(std::exchange(service.ep, nullptr)); }) < kAlways);
  until([&] { return doca_comm_channel_peer_addr_update_info(peer) == DOCA_ERROR_CONNECTION_ABORTED; });
  CHECK(time_of([&] { doca_comm_channel_ep_disconnect(client.ep, peer); }) < kAlways);
}
