// A device with a TAP interface: the kernel's own network stack on one side of the switch, a queue pair on the other.
// In a network namespace of its own; without the rights to make one the test says so and is skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "test/tap/kernel_stack.h"

using namespace verbs::soft::test;

namespace {

constexpr int kSkipped = 77;  // ctest's code for a skipped test

// A queue pair that answers for its IP address, as much as a ping needs.
struct Host : RawEnd {
  explicit Host(const char* device, bool events = false) : RawEnd(device, 1, events) {
    for (std::uint64_t slot = 0; slot < 8; ++slot) post(slot);
  }

  // The next frame that is there.
  std::optional<Bytes> take() {
    ibv_wc wc{};
    if (ibv_poll_cq(cq, 1, &wc) != 1 || wc.opcode != IBV_WC_RECV) return {};
    REQUIRE(wc.status == IBV_WC_SUCCESS);
    const auto from = memory.begin() + static_cast<std::ptrdiff_t>(kReceiveAt + wc.wr_id * kRoom);
    Bytes frame{from, from + wc.byte_len};
    post(wc.wr_id);
    return frame;
  }

  // The kernel sends frames of its own, too, so that every request needs its own room.
  void post(std::uint64_t slot) { REQUIRE(post_recv(kReceiveAt + slot * kRoom, kRoom, slot) == 0); }

  void answer(const Bytes& frame) {
    if (asks_for_us(frame)) REQUIRE(send_frame(arp_answer(frame, mac()), 0) == 0);
    if (is_echo(frame, 8)) REQUIRE(send_frame(echo_answer(frame), 0) == 0);
  }

  // Takes frames until `wanted` is among them.
  template <typename Wanted>
  Bytes wait_for(Wanted&& wanted) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < give_up) {
      const std::optional<Bytes> frame = take();
      if (frame && wanted(*frame)) return *frame;
      if (frame) answer(*frame);
    }
    FAIL("the frame did not come");
    return {};
  }
};

void configure_tap() {
  register_frame_model();
  configure("t0,kind=frames,link=process,tap=verbs-test0;t1,kind=frames,link=process");
}

}  // namespace

TEST_CASE("the kernel pings a queue pair") {
  configure_tap();
  Host host("t0");
  set_address("verbs-test0");
  const Ping ping;
  for (std::uint16_t number = 1; number <= 10; ++number) {
    ping.send(number);
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    std::optional<std::uint16_t> answered;
    while (!answered && std::chrono::steady_clock::now() < give_up) {
      if (const auto frame = host.take()) host.answer(*frame);
      answered = ping.answered();
    }
    CHECK(answered == number);
  }
  CHECK(counter("t0", "link_tap_received") >= 11);  // and the question for the address
  CHECK(counter("t0", "link_tap_sent") >= 11);
  CHECK(counter("t0", "link_tap_dropped") == 0);
}

TEST_CASE("a queue pair of another device pings the kernel, and sleeps until the answer") {
  configure_tap();
  const Context with_tap = open_device("t0");
  Host host("t1", true);
  set_address("verbs-test0");
  REQUIRE(host.send_frame(arp_request(host.mac()), 0) == 0);
  const Bytes answer = host.wait_for(answers_us);
  CHECK(std::equal(answer.begin() + 6, answer.begin() + 12, link_address("verbs-test0").begin()));
  for (std::uint16_t number = 1; number <= 5; ++number) {
    REQUIRE(ibv_req_notify_cq(host.cq, 0) == 0);
    REQUIRE(host.send_frame(echo_request(link_address("verbs-test0"), host.mac(), number), 0) == 0);
    ibv_cq* cq = nullptr;
    void* its = nullptr;
    REQUIRE(ibv_get_cq_event(host.channel, &cq, &its) == 0);
    ibv_ack_cq_events(cq, 1);
    const Bytes echoed = host.wait_for([](const Bytes& frame) { return is_echo(frame, 0); });
    CHECK(echoed[41] == number);
    CHECK(echoed.back() == 0x5a);
  }
}

TEST_CASE("the interface has the port's MTU, and is removed when the device closes") {
  configure_tap();
  {
    const Context context = open_device("t0");
    CHECK(if_nametoindex("verbs-test0") != 0);
    CHECK(link_mtu("verbs-test0") == 4096);
  }
  CHECK(if_nametoindex("verbs-test0") == 0);
}

TEST_CASE("the error of an interface that cannot be created names the missing requirement") {
  register_frame_model();
  configure("t0,kind=frames,link=process,tap=lo;t1,kind=frames,link=process,tap=verbs-test0");
  ibv_device** list = ibv_get_device_list(nullptr);
  REQUIRE(list);
  CHECK(ibv_open_device(list[0]) == nullptr);
  CHECK(std::string(verbs_soft_last_error()).find("device t0: the network interface lo cannot be created") == 0);
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    if (setresuid(65534, 65534, 65534) != 0) _exit(1);
    if (ibv_open_device(list[1])) _exit(2);
    const int error = errno;
    const bool explained = std::string(verbs_soft_last_error()).find("CAP_NET_ADMIN") != std::string::npos;
    _exit(error == EPERM && explained ? 0 : 3);
  }
  int status = -1;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  ibv_free_device_list(list);
}

int main(int argc, char** argv) {
  const int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  if (tun < 0 || unshare(CLONE_NEWNET) != 0) {
    std::puts("skipped: a TAP interface in a network namespace needs root and /dev/net/tun");
    return kSkipped;
  }
  close(tun);
  doctest::Context context(argc, argv);
  return context.run();
}
