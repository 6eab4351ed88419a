// The descriptor of a completion channel with O_NONBLOCK: the packet itself wakes the waiter.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <thread>

#include "test/abi/support/device_pair.h"
#include "test/abi/support/readable.h"

using namespace verbs::soft::test;

namespace {

void set_blocking(const End& end, bool blocking) {
  const int flags = fcntl(end.channel->fd, F_GETFL);
  REQUIRE(fcntl(end.channel->fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK) == 0);
}

// Fetches an event, without blocking. False if there is none.
bool fetch(const End& end) {
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(end.channel, &cq, &context) != 0) {
    REQUIRE(errno == EAGAIN);
    return false;
  }
  CHECK(cq == end.cq);
  CHECK(context == &end);
  ibv_ack_cq_events(cq, 1);
  return true;
}

// As an event loop: waits on the descriptor and fetches, until there is an event.
void wait_for_event(const End& end, int fd) {
  for (;;) {
    REQUIRE(readable(fd, kLong));
    if (fetch(end)) return;
  }
}
void wait_for_event(const End& end) { wait_for_event(end, end.channel->fd); }

void arm(End& end) {
  REQUIRE(end.post_recv(0, 64) == 0);
  REQUIRE(ibv_req_notify_cq(end.cq, 0) == 0);
}

// Sends a message from `from` to `to`, which waits for it.
void pass_message(End& from, End& to) {
  arm(to);
  REQUIRE(from.send(0, 64) == 0);
  wait_for_event(to);
  CHECK(to.poll().status == IBV_WC_SUCCESS);
  CHECK(from.poll().status == IBV_WC_SUCCESS);
}

struct Pair {
  explicit Pair(const std::string& text) : configured((configure(text), true)) {
    a.connect(b);
    b.connect(a);
    set_blocking(a, false);
    set_blocking(b, false);
    CHECK_FALSE(fetch(a));
    CHECK_FALSE(fetch(b));
  }
  bool configured;
  End a{"a", IBV_QPT_RC, true}, b{"b", IBV_QPT_RC, true};
};

std::string over_sockets() { return "a,link=udp,addr=" + local_address(51) + ";b,link=udp,addr=" + local_address(52); }

}  // namespace

TEST_CASE("an event loop sends messages back and forth, over sockets and within the process") {
  for (const std::string& text : {over_sockets(), std::string("a;b")}) {
    Pair pair(text);
    for (int i = 0; i < 200; ++i) {
      pass_message(pair.a, pair.b);
      pass_message(pair.b, pair.a);
    }
  }
}

TEST_CASE("two queue pairs and channels of one device that talk to each other") {
  configure("a,addr=" + local_address(51));
  End a("a", IBV_QPT_RC, true), b("a", IBV_QPT_RC, true);
  a.connect(b);
  b.connect(a);
  set_blocking(a, false);
  set_blocking(b, false);
  for (int i = 0; i < 50; ++i) {
    pass_message(a, b);
    pass_message(b, a);
  }
}

TEST_CASE("more channels than packets can wake, awaited one by one and all together") {
  configure(over_sockets());
  constexpr std::size_t kChannels = 12;
  std::vector<std::unique_ptr<End>> near, far;
  for (std::size_t i = 0; i < kChannels; ++i) {
    near.push_back(std::make_unique<End>("a", IBV_QPT_RC, true));
    far.push_back(std::make_unique<End>("b", IBV_QPT_RC, true));
    near[i]->connect(*far[i]);
    far[i]->connect(*near[i]);
    set_blocking(*near[i], false);
    set_blocking(*far[i], false);
  }
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < kChannels; ++i) pass_message(*near[i], *far[i]);
    for (std::size_t i = 0; i < kChannels; ++i) pass_message(*far[i], *near[i]);
  }
  for (int round = 0; round < 10; ++round) {
    for (const auto& end : far) arm(*end);
    for (const auto& end : near) REQUIRE(end->send(0, 64) == 0);
    std::vector<pollfd> fds;
    for (const auto& end : far) fds.push_back({end->channel->fd, POLLIN, 0});
    for (std::size_t left = kChannels; left > 0;) {
      REQUIRE(poll(fds.data(), fds.size(), kLong) > 0);
      for (std::size_t i = 0; i < kChannels; ++i) {
        if (fds[i].revents == 0 || !fetch(*far[i])) continue;
        fds[i].fd = -1;
        --left;
      }
    }
    for (std::size_t i = 0; i < kChannels; ++i) {
      CHECK(far[i]->poll().status == IBV_WC_SUCCESS);
      CHECK(near[i]->poll().status == IBV_WC_SUCCESS);
    }
  }
}

TEST_CASE("operations that complete nothing here are executed while no thread fetches, and empty fetches do no harm") {
  Pair pair(over_sockets());
  for (int i = 0; i < 20; ++i) {
    REQUIRE(pair.a.rdma(IBV_WR_RDMA_WRITE, pair.b, 64) == 0);
    CHECK(pair.a.poll().status == IBV_WC_SUCCESS);
  }
  // So often in vain that the packets are left to the helper thread.
  for (int i = 0; i < 50; ++i) {
    REQUIRE(pair.a.rdma(IBV_WR_RDMA_WRITE, pair.b, 64) == 0);
    CHECK_FALSE(fetch(pair.b));
    CHECK(pair.a.poll().status == IBV_WC_SUCCESS);
  }
  for (int i = 0; i < 20; ++i) pass_message(pair.a, pair.b);
}

TEST_CASE(
    "packets wake again after they were left to the helper thread, though only events are asked for that are there") {
  Pair pair(over_sockets());
  for (int i = 0; i < 50; ++i) CHECK_FALSE(fetch(pair.b));
  bool woken = false;
  for (int attempt = 0; attempt < 200 && !woken; ++attempt) {
    arm(pair.b);
    REQUIRE(pair.a.send(0, 64) == 0);
    REQUIRE(readable(pair.b.channel->fd, kLong));
    while (!fetch(pair.b)) REQUIRE(readable(pair.b.channel->fd, kLong));
    CHECK(pair.b.poll().status == IBV_WC_SUCCESS);
    CHECK(pair.a.poll().status == IBV_WC_SUCCESS);
    // Nothing completes at b, so only the packet can wake.
    REQUIRE(pair.a.rdma(IBV_WR_RDMA_WRITE, pair.b, 64) == 0);
    woken = readable(pair.b.channel->fd, 20);
    CHECK(pair.a.poll().status == IBV_WC_SUCCESS);
  }
  CHECK(woken);
}

TEST_CASE("a descriptor that is made blocking again blocks until there is an event") {
  Pair pair(over_sockets());
  pass_message(pair.a, pair.b);
  set_blocking(pair.b, true);
  arm(pair.b);
  std::thread sender([&] {
    // Its packets complete nothing at b.
    REQUIRE(pair.a.rdma(IBV_WR_RDMA_WRITE, pair.b, 64) == 0);
    CHECK(pair.a.poll().status == IBV_WC_SUCCESS);
    REQUIRE(pair.a.send(0, 64) == 0);
  });
  CHECK(fetch(pair.b));
  sender.join();
  CHECK(pair.b.poll().status == IBV_WC_SUCCESS);
  CHECK(pair.a.poll().status == IBV_WC_SUCCESS);
  set_blocking(pair.b, false);
  pass_message(pair.a, pair.b);
}

TEST_CASE("a copy of the descriptor wakes as well, and closing it affects no one") {
  Pair pair(over_sockets());
  const int copy = dup(pair.b.channel->fd);
  REQUIRE(copy >= 0);
  CHECK((fcntl(copy, F_GETFL) & O_NONBLOCK) != 0);
  arm(pair.b);
  REQUIRE(pair.a.send(0, 64) == 0);
  wait_for_event(pair.b, copy);
  CHECK(pair.b.poll().status == IBV_WC_SUCCESS);
  CHECK(pair.a.poll().status == IBV_WC_SUCCESS);
  close(copy);
  pass_message(pair.a, pair.b);
}

TEST_CASE("the sockets of a device change while its channel is waited on") {
  Pair pair(over_sockets());
  pass_message(pair.a, pair.b);
  const std::string another = local_address(53);
  REQUIRE(verbs_soft_add_gid("b", 1, another.c_str(), nullptr) == 0);
  pass_message(pair.a, pair.b);
  REQUIRE(verbs_soft_remove_gid("b", 1, another.c_str()) == 0);
  pass_message(pair.a, pair.b);
  // Nothing of the closed socket stays behind.
  CHECK_FALSE(fetch(pair.b));
  CHECK_FALSE(readable(pair.b.channel->fd, 0));
}

TEST_CASE("in a forked child the channel's calls fail, and the parent's channel still works") {
  Pair pair(over_sockets());
  pass_message(pair.a, pair.b);
  arm(pair.b);
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    const bool failed = ibv_get_cq_event(pair.b.channel, &cq, &context) == -1 && errno == EIO;
    const bool closed = ibv_close_device(pair.b.context.release()) == 0;
    _exit(failed && closed ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  CHECK(status == 0);
  REQUIRE(pair.a.send(0, 64) == 0);
  wait_for_event(pair.b);
  CHECK(pair.b.poll().status == IBV_WC_SUCCESS);
  CHECK(pair.a.poll().status == IBV_WC_SUCCESS);
}

TEST_CASE("while no packet arrives, no thread wakes") {
  Pair pair(over_sockets());
  pass_message(pair.a, pair.b);
  // The acknowledgement timers of the sent packets expire, and the helpers sleep without a deadline.
  readable(pair.b.channel->fd, 300);
  fetch(pair.b);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  CHECK_FALSE(readable(pair.b.channel->fd, 500));
  getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_nvcsw - before.ru_nvcsw < 50);
}
