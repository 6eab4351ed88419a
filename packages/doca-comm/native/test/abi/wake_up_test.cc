// Wake-ups of the armed descriptors. The safe order of ibverbs: arm, receive until AGAIN, wait.
#include <algorithm>
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
