// Wake-ups of the armed descriptors. The safe order of ibverbs: arm, receive until AGAIN, wait.
#include <algorithm>
#include <array>
#include <atomic>

#include "test/support/pair.h"

using namespace verbs::doca_comm::model::test;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// Another service of the same device, polled without pause: its thread takes the packets of the whole device.
class Thief {
 public:
  explicit Thief(const Devices& devices) : service_(devices.dpu, devices.rep) {
    REQUIRE(doca_comm_channel_ep_listen(service_.ep, "thief") == DOCA_SUCCESS);
    thread_ = std::thread([this] {
      std::string message;
      Addr* from = nullptr;
      while (!stopping_) {
        service_.receive(&message, &from);
        std::this_thread::yield();
      }
    });
  }
  ~Thief() {
    stopping_ = true;
    thread_.join();
  }

 private:
  Endpoint service_;
  std::thread thread_;
  std::atomic<bool> stopping_ = false;
};

// An end that waits on its descriptors, as a program does that has nothing to do.
class Waiter {
 public:
  // `both`: for room to send as well, with both handles armed again after each wake-up. Else it receives only.
  Waiter(Ep* ep, bool both) : ep_(ep), both_(both) {
    doca_event_channel_t send = -1;
    doca_event_channel_t receive = -1;
    REQUIRE(doca_comm_channel_ep_get_event_channel(ep, &send, &receive) == DOCA_SUCCESS);
    fds_ = {pollfd{both ? send : -1, POLLIN, 0}, pollfd{receive, POLLIN, 0}};
  }
  // How often it wakes in this time.
  int wake_ups(milliseconds time) {
    const auto end = steady_clock::now() + time;
    int count = -1;
    for (bool woken = true; woken; woken = wait(end)) {
      if (both_ || count < 0) arm();
      char buffer[4080];
      std::size_t length = sizeof buffer;
      Addr* from = nullptr;
      REQUIRE(doca_comm_channel_ep_recvfrom(ep_, buffer, &length, 0, &from) == DOCA_ERROR_AGAIN);
      ++count;
    }
    return count;
  }

 private:
  void arm() {
    if (both_) REQUIRE(doca_comm_channel_ep_event_handle_arm_send(ep_) == DOCA_SUCCESS);
    REQUIRE(doca_comm_channel_ep_event_handle_arm_recv(ep_) == DOCA_SUCCESS);
  }
  bool wait(steady_clock::time_point end) {
    const auto left = std::chrono::ceil<milliseconds>(end - steady_clock::now());
    return left.count() > 0 && poll(fds_.data(), fds_.size(), static_cast<int>(left.count())) > 0;
  }

  Ep* ep_;
  bool both_;
  std::array<pollfd, 2> fds_{};
};

}  // namespace

TEST_CASE("a message that comes after AGAIN wakes, although a message before it used up the event of the arming") {
  Pair pair;
  const Thief thief(pair.devices);
  doca_event_channel_t fd = -1;
  REQUIRE(doca_comm_channel_ep_get_event_channel(pair.service.ep, nullptr, &fd) == DOCA_SUCCESS);
  std::vector<milliseconds> times;
  for (int round = 0; round < 20; ++round) {
    std::string message;
    Addr* from = nullptr;
    REQUIRE(doca_comm_channel_ep_event_handle_arm_recv(pair.service.ep) == DOCA_SUCCESS);
    REQUIRE(pair.service.receive(&message, &from) == DOCA_ERROR_AGAIN);
    REQUIRE(pair.client.send("first", pair.to_service) == DOCA_SUCCESS);
    CHECK(pair.service.wait_for_message(&from) == "first");
    REQUIRE(pair.service.receive(&message, &from) == DOCA_ERROR_AGAIN);
    // Long enough for the thread to take the packet.
    REQUIRE(pair.client.send("second", pair.to_service) == DOCA_SUCCESS);
    std::this_thread::sleep_for(milliseconds(2));
    const auto start = steady_clock::now();
    pollfd event{fd, POLLIN, 0};
    REQUIRE(poll(&event, 1, 5000) == 1);
    times.push_back(std::chrono::duration_cast<milliseconds>(steady_clock::now() - start));
    CHECK(pair.service.wait_for_message(&from) == "second");
  }
  // Without an event of its own, only the next keep-alive wakes: up to 300 ms later, in most rounds more than 100.
  const auto late =
      std::count_if(times.begin(), times.end(), [](milliseconds time) { return time > milliseconds(100); });
  CHECK(late <= 1);
}

TEST_CASE("who arms and then receives many messages without waiting has the event, until the next arming") {
  Pair pair;
  doca_event_channel_t fd = -1;
  REQUIRE(doca_comm_channel_ep_get_event_channel(pair.service.ep, nullptr, &fd) == DOCA_SUCCESS);
  std::string message;
  Addr* from = nullptr;
  const auto readable = [&](int timeout) {
    pollfd event{fd, POLLIN, 0};
    return poll(&event, 1, timeout) == 1;
  };
  for (int round = 0; round < 3; ++round) {
    REQUIRE(doca_comm_channel_ep_event_handle_arm_recv(pair.service.ep) == DOCA_SUCCESS);
    for (int i = 0; i < 40; ++i) {
      REQUIRE(pair.client.send(std::to_string(i), pair.to_service) == DOCA_SUCCESS);
      CHECK(pair.service.wait_for_message(&from) == std::to_string(i));
      REQUIRE(pair.service.receive(&message, &from) == DOCA_ERROR_AGAIN);
    }
    CHECK(readable(0));
    // Acknowledgements may still come.
    bool quiet = false;
    for (int i = 0; i < 20 && !quiet; ++i) quiet = Waiter(pair.service.ep, false).wake_ups(milliseconds(20)) == 0;
    CHECK(quiet);
    REQUIRE(pair.client.send("last", pair.to_service) == DOCA_SUCCESS);
    CHECK(readable(5000));
    CHECK(pair.service.wait_for_message(&from) == "last");
  }
}

TEST_CASE("an idle armed handle does not wake for keep-alives, and wakes for the next message") {
  Pair pair;
  for (const bool both : {true, false}) {
    CAPTURE(both);
    Waiter service(pair.service.ep, both), client(pair.client.ep, both);
    // Until the last messages are acknowledged and reported, without a look at the descriptors.
    std::this_thread::sleep_for(milliseconds(700));
    // The first packet after a silence wakes, since it could be a message, and so do those that come along with it or
    // just after the arming; on a busy machine they come late. Then three keep-alives a second wake nobody.
    const auto quietest = [](Waiter& waiter) {
      int least = waiter.wake_ups(milliseconds(1000));
      for (int second = 1; second < 5 && least > 0; ++second)
        least = std::min(least, waiter.wake_ups(milliseconds(1000)));
      return least;
    };
    int of_service = -1;
    std::thread other([&] { of_service = quietest(service); });
    const int of_client = quietest(client);
    other.join();
    CHECK(of_service == 0);
    CHECK(of_client == 0);
    // The message wakes at once, again and again.
    doca_event_channel_t fd = -1;
    REQUIRE(doca_comm_channel_ep_get_event_channel(pair.service.ep, nullptr, &fd) == DOCA_SUCCESS);
    for (int round = 0; round < 5; ++round) {
      const auto start = steady_clock::now();
      REQUIRE(pair.client.send("ping", pair.to_service) == DOCA_SUCCESS);
      pollfd event{fd, POLLIN, 0};
      REQUIRE(poll(&event, 1, 5000) == 1);
      CHECK(steady_clock::now() - start < milliseconds(200));
      Addr* from = nullptr;
      std::string message;
      REQUIRE(doca_comm_channel_ep_event_handle_arm_recv(pair.service.ep) == DOCA_SUCCESS);
      CHECK(pair.service.wait_for_message(&from) == "ping");
      CHECK(pair.service.receive(&message, &from) == DOCA_ERROR_AGAIN);
    }
  }
}

TEST_CASE("the send handle of a full queue wakes in vain for the first packets after a silence only, and for room") {
  Pair pair;
  doca_event_channel_t fd = -1;
  REQUIRE(doca_comm_channel_ep_get_event_channel(pair.client.ep, &fd, nullptr) == DOCA_SUCCESS);
  int sent = 0, in_vain = 0;
  const auto end = steady_clock::now() + milliseconds(2500);
  while (steady_clock::now() < end) {
    bool some = false;
    for (; pair.client.send("x", pair.to_service) == DOCA_SUCCESS; ++sent) some = true;
    if (!some) ++in_vain;
    REQUIRE(doca_comm_channel_ep_event_handle_arm_send(pair.client.ep) == DOCA_SUCCESS);
    pollfd event{fd, POLLIN, 0};
    while (poll(&event, 1, 100) == 0 && steady_clock::now() < end) continue;
  }
  // Every keep-alive would make it eight at least.
  CHECK(in_vain <= 6);
  // And with room it comes at once.
  REQUIRE(doca_comm_channel_ep_event_handle_arm_send(pair.client.ep) == DOCA_SUCCESS);
  Addr* from = nullptr;
  for (int i = 0; i < sent; ++i) CHECK(pair.service.wait_for_message(&from) == "x");
  pollfd event{fd, POLLIN, 0};
  REQUIRE(poll(&event, 1, 1000) == 1);
  CHECK(pair.client.send("x", pair.to_service) == DOCA_SUCCESS);
}
