#include "host/progress/progress.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <thread>

#include "host/events/completion_channel.h"
#include "host/events/wait_set.h"

using namespace verbs::soft::host;

namespace {

// An engine whose frames arrive on an eventfd.
class FakeEngine final : public Engine {
 public:
  FakeEngine() : socket(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~FakeEngine() { close(socket); }

  bool receive(Nanos) override {
    std::uint64_t value = 0;
    if (read(socket, &value, sizeof value) == sizeof value) {
      received += static_cast<int>(value);
      if (channel) channel->push(&target);
    }
    return false;
  }
  bool has_output() const override { return output; }
  bool transmit(Nanos now) override {
    output = false;
    if (deadline <= now) {
      deadline = INT64_MAX;
      ++fired;
    }
    return false;
  }
  Nanos next_deadline() const override { return deadline; }
  void idle() override {
    ++idles;
    changed.notify_all();
  }

  void arrive() {
    const std::uint64_t one = 1;
    REQUIRE(write(socket, &one, sizeof one) == sizeof one);
  }

  int socket;
  int received = 0;
  int fired = 0;
  int idles = 0;
  bool output = false;
  Nanos deadline = INT64_MAX;
  CompletionChannel* channel = nullptr;
  EventTarget target;
  std::condition_variable_any changed;
};

struct Fixture {
  Fixture() { REQUIRE(progress.start({engine.socket}) == 0); }
  // Waits until the helper thread has made the condition true.
  template <typename Condition>
  bool eventually(Condition condition) {
    std::unique_lock guard(lock);
    return engine.changed.wait_for(guard, std::chrono::seconds(20), condition);
  }

  DeviceLock lock;
  FakeEngine engine;
  Progress progress{engine, lock};
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "while no thread polls, the helper receives frames") {
  engine.arrive();
  CHECK(eventually([this] { return engine.received == 1; }));
  engine.arrive();
  CHECK(eventually([this] { return engine.received == 2; }));
}

TEST_CASE_FIXTURE(Fixture, "a timer that is armed while the helper sleeps without limit fires") {
  REQUIRE(eventually([this] { return engine.idles > 0; }));
  {
    const std::lock_guard guard(lock);
    engine.deadline = now() + kMillisecond;
    progress.expect(engine.deadline);
  }
  CHECK(eventually([this] { return engine.fired == 1; }));
}

TEST_CASE_FIXTURE(Fixture, "after a poll the helper ticks, and receives when no other poll follows") {
  {
    const std::lock_guard guard(lock);
    progress.note_poll();
  }
  engine.arrive();
  CHECK(eventually([this] { return engine.received == 1; }));
}

TEST_CASE_FIXTURE(Fixture, "work from another thread wakes the helper") {
  REQUIRE(eventually([this] { return engine.idles > 0; }));
  int before = 0;
  {
    const std::lock_guard guard(lock);
    before = engine.idles;
  }
  progress.wake();
  CHECK(eventually([&] { return engine.idles > before; }));
}

TEST_CASE_FIXTURE(Fixture, "a blocked call makes the progress itself") {
  CompletionChannel channel;
  REQUIRE(channel.open() == 0);
  engine.channel = &channel;
  std::thread peer([this] { engine.arrive(); });
  CHECK(progress.wait(channel) == 0);
  peer.join();
  CHECK(channel.pop() == &engine.target);
}

TEST_CASE_FIXTURE(Fixture, "a socket that comes later wakes the thread that waits on a descriptor") {
  const int signal = eventfd(0, EFD_CLOEXEC);
  const int added = eventfd(1, EFD_CLOEXEC);
  WaitSet set;
  REQUIRE(set.open(signal) == 0);
  const auto is_readable = [&] {
    pollfd entry{set.fd(), POLLIN, 0};
    return poll(&entry, 1, 0) == 1;
  };
  {
    const std::lock_guard guard(lock);
    progress.attach(set);
    CHECK_FALSE(is_readable());
    progress.set_sockets({engine.socket, added});
    CHECK(is_readable());
    progress.set_sockets({engine.socket});
    CHECK_FALSE(is_readable());
    progress.detach(set);
  }
  close(added);
  close(signal);
}

TEST_CASE_FIXTURE(Fixture, "two blocked calls on two channels both end") {
  CompletionChannel first, second;
  REQUIRE(first.open() == 0);
  REQUIRE(second.open() == 0);
  EventTarget one, two;
  std::thread waiter([&] { CHECK(progress.wait(first) == 0); });
  std::thread other([&] { CHECK(progress.wait(second) == 0); });
  first.push(&one);
  waiter.join();
  second.push(&two);
  other.join();
  CHECK(first.pop() == &one);
  CHECK(second.pop() == &two);
}

namespace {
extern "C" void do_nothing(int) {}
}  // namespace

TEST_CASE_FIXTURE(Fixture, "a signal handler without SA_RESTART ends a blocked call, one with it does not") {
  CompletionChannel channel;
  REQUIRE(channel.open() == 0);
  engine.channel = &channel;
  // The test framework's own handlers of these have no SA_RESTART.
  const auto old_int = signal(SIGINT, SIG_DFL);
  const auto old_term = signal(SIGTERM, SIG_DFL);
  struct sigaction action{}, old{};
  action.sa_handler = do_nothing;
  REQUIRE(sigaction(SIGUSR1, &action, &old) == 0);
  int result = 0;
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    result = progress.wait(channel);
    done = true;
  });
  // Until the thread is blocked the signal has nothing to interrupt, so it is sent until it has.
  while (!done) {
    pthread_kill(waiter.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  waiter.join();
  CHECK(result == EINTR);

  action.sa_flags = SA_RESTART;
  REQUIRE(sigaction(SIGUSR1, &action, nullptr) == 0);
  done = false;
  std::thread patient([&] {
    result = progress.wait(channel);
    done = true;
  });
  for (int i = 0; i < 100; ++i) {
    pthread_kill(patient.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  CHECK_FALSE(done);
  engine.arrive();
  patient.join();
  CHECK(result == 0);
  REQUIRE(sigaction(SIGUSR1, &old, nullptr) == 0);
  signal(SIGINT, old_int);
  signal(SIGTERM, old_term);
}
