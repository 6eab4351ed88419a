// Who knocks, and what he can make others wait for.
#include "link/doors/door.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "link/doors/local_socket.h"
#include "test/abi/support/failing_new.h"
#include "test/link/shm/shm_end.h"
#include "test/link/support/lingering_socket.h"
#include "test/refused_calls.h"
#include "verbs_soft_boundary.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
using namespace verbs::soft::test;
using verbs::soft::contain;
namespace wire = verbs::soft::wire;

namespace {

constexpr auto kBudget = std::chrono::milliseconds(300);
constexpr double kSoon = 0.2;  // of a thread that waits for nobody, on a busy machine

// Says something, and what it heard.
class EchoVisit final : public Visit {
 public:
  Next proceed(int fd) override {
    if (!greeted_) {
      greeted_ = true;
      return send(fd, "hi", 2, MSG_NOSIGNAL) == 2 ? Next::kRead : Next::kOver;
    }
    std::uint8_t byte = 0;
    std::size_t size = 0;
    const int error = receive(fd, {&byte, 1}, &size);
    if (error != 0) return error == EAGAIN ? Next::kRead : Next::kOver;
    (void)!send(fd, &byte, size, MSG_NOSIGNAL);
    return Next::kOver;
  }

 private:
  bool greeted_ = false;
};

struct EchoDoor {
  EchoDoor() {
    static int count = 0;
    name = "verbs-door-test." + std::to_string(getpid()) + "." + std::to_string(++count);
    const auto receive = [] { return std::make_unique<EchoVisit>(); };
    REQUIRE(Door::open(name, kBudget, receive, &door) == 0);
  }
  int visit() const {
    int fd = -1;
    return connect_to(name, &fd) == 0 ? fd : -1;
  }
  std::string name;
  std::unique_ptr<Door> door;
};

bool is_readable(int fd, int milliseconds) {
  pollfd entry{fd, POLLIN, 0};
  return poll(&entry, 1, milliseconds) == 1;
}

// All that comes until the other end hangs up; "…" if it does not within two seconds.
std::string hear(int fd) {
  std::string all;
  for (char part[64]; is_readable(fd, 2000);) {
    const ssize_t size = recv(fd, part, sizeof part, 0);
    if (size <= 0) return all;
    all.append(part, static_cast<std::size_t>(size));
  }
  return all + "…";
}

// A whole visit, and how long it took.
std::string talk(const EchoDoor& door, double* seconds) {
  const Stopwatch watch;
  const int fd = door.visit();
  std::string heard = "nobody";
  if (fd >= 0) {
    (void)!send(fd, "x", 1, MSG_NOSIGNAL);
    heard = hear(fd);
    close(fd);
  }
  *seconds = watch.seconds();
  return heard;
}

// Runs `act` as another user, in a process of its own, whose result is its status.
template <typename Act>
pid_t as_stranger(Act&& act) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(30);
  if (setgroups(0, nullptr) != 0 || setresgid(4242, 4242, 4242) != 0 || setresuid(4242, 4242, 4242) != 0) _exit(255);
  _exit(act());
}

int wait_for(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int connect_as_anyone(const std::string& name) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), size) == 0) return fd;
  close(fd);
  return -1;
}

// Runs the test cases of this suite again, in a process whose kernel knows less.
int run_again(bool (*older)()) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("VERBS_TEST_AGAIN", "1", 1);
    if (!older()) _exit(2);
    execl("/proc/self/exe", "link_test", "-ts=doors", "-m", static_cast<char*>(nullptr));
    _exit(3);
  }
  return wait_for(child);
}
const bool kAgain = std::getenv("VERBS_TEST_AGAIN") != nullptr;
const bool kNotRoot = geteuid() != 0;

}  // namespace

TEST_SUITE_BEGIN("doors");

TEST_CASE("a visitor of this user is served") {
  const EchoDoor door;
  double seconds = 0;
  CHECK(talk(door, &seconds) == "hix");
  CHECK(seconds < kSoon);
}

TEST_CASE("a visitor who says nothing, or stops listening, has his time and no more, and holds nobody up") {
  const EchoDoor door;
  const Stopwatch watch;
  const int silent = door.visit();
  double seconds = 0;
  for (int i = 0; i < 10; ++i) {
    CHECK(talk(door, &seconds) == "hix");
    CHECK(seconds < kSoon);
  }
  CHECK(hear(silent) == "hi");
  CHECK(watch.seconds() >= 0.25);
  CHECK(watch.seconds() < 0.3 + kSoon);
  close(silent);
}

TEST_CASE("so many silent visitors that all places are taken: the oldest goes, and another one is served") {
  const EchoDoor door;
  std::vector<int> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(door.visit());
  double seconds = 0;
  CHECK(talk(door, &seconds) == "hix");
  CHECK(seconds < kSoon);
  CHECK(is_readable(silent.front(), 0));
  CHECK(hear(silent.front()) == "hi");
  for (const int fd : silent) close(fd);
}

TEST_CASE("the end of a door waits for no visitor, and its name is free then") {
  EchoDoor door;
  const int silent = door.visit();
  CHECK(is_readable(silent, 2000));
  const Stopwatch watch;
  door.door.reset();
  CHECK(watch.seconds() < kSoon);
  CHECK(hear(silent) == "hi");
  close(silent);
  CHECK(door.visit() == -1);
  int fd = -1;
  CHECK(listen_at(door.name, &fd) == 0);
  close(fd);
}

#ifndef __SANITIZE_THREAD__  // which ends a forked child that starts a thread
TEST_CASE("without memory there is no door, and nothing is left of it") {
  if (!kAllocationsCanFail) return;
  const std::string name = "verbs-door-test." + std::to_string(getpid()) + ".memory";
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const Door::Receive receive = [] { return std::make_unique<EchoVisit>(); };
  const auto before = descriptors();
  for (int nth = 1;; ++nth) {
    CAPTURE(nth);
    std::unique_ptr<Door> door;
    fail_allocation(nth);
    const int error =
        contain([&] { return Door::open(name, kBudget, receive, &door); }, [](int failed) { return failed; });
    fail_allocation(0);
    if (error == 0) break;
    REQUIRE(error == ENOMEM);
    REQUIRE(descriptors() == before);
  }
}

TEST_CASE("a descriptor that a thread is to close is closed once, also without memory" *
          doctest::skip(!kAllocationsCanFail)) {
  // Without memory for the list of descriptors, then for a thread.
  for (int turn = 0; turn < 10; ++turn) {
    CAPTURE(turn);
    const int closing = eventfd(0, EFD_CLOEXEC);
    fail_allocation(1);
    close_elsewhere(closing);
    fail_allocation(0);
    const int next = eventfd(0, EFD_CLOEXEC);  // of the same number, if that is closed already
    close_elsewhere(eventfd(0, EFD_CLOEXEC));
    while (closing_elsewhere() != 0) std::this_thread::yield();
    CHECK(fcntl(next, F_GETFD) != -1);
    close(next);
  }
}

TEST_CASE("a forked child has a door of its own, and its parent's goes on" * doctest::skip(kAgain)) {
  const EchoDoor parent;
  const int silent = parent.visit();
  const pid_t child = fork();
  if (child == 0) {
    parent.door->abandon();
    const EchoDoor own;
    double seconds = 0;
    const bool served = talk(own, &seconds) == "hix" && talk(parent, &seconds) == "hix";
    _exit(served ? 0 : 1);
  }
  CHECK(wait_for(child) == 0);
  CHECK(hear(silent) == "hi");
  close(silent);
}
#endif

TEST_CASE("another user is turned away, and those who send descriptors make nobody wait" * doctest::skip(kNotRoot)) {
  EchoDoor door;
  const pid_t stranger = as_stranger([&] {
    std::vector<std::unique_ptr<LingeringSocket>> kept;
    for (int i = 0; i < 20; ++i) {
      const int fd = connect_as_anyone(door.name);
      auto lingering = std::make_unique<LingeringSocket>();
      lingering->send_by(fd, "x", 1);
      if (fd >= 0 && hear(fd) != "") return 1;
      close(fd);
      kept.push_back(std::move(lingering));
    }
    sleep(LingeringSocket::kSeconds);
    return 0;
  });
  double seconds = 0;
  for (int i = 0; i < 20; ++i) {
    CHECK(talk(door, &seconds) == "hix");
    CHECK(seconds < kSoon);
    usleep(10'000);
  }
  const Stopwatch watch;
  door.door.reset();
  CHECK(watch.seconds() < kSoon);
  kill(stranger, SIGKILL);
  wait_for(stranger);
}

TEST_CASE("another user who connects all the time keeps nobody out" * doctest::skip(kNotRoot)) {
  const EchoDoor door;
  const pid_t stranger = as_stranger([&] {
    std::vector<int> fds(2000, -1);
    for (std::size_t i = 0;; i = (i + 1) % fds.size()) {
      if (fds[i] >= 0) close(fds[i]);
      fds[i] = connect_as_anyone(door.name);
    }
    return 0;
  });
  usleep(100'000);
  for (int i = 0; i < 10; ++i) {
    const Stopwatch watch;
    double seconds = 0;
    while (talk(door, &seconds) != "hix" && watch.seconds() < 5) usleep(1000);
    CHECK(watch.seconds() < 1);
  }
  kill(stranger, SIGKILL);
  wait_for(stranger);
}

#ifndef __SANITIZE_THREAD__
TEST_CASE("a program that may not accept connections has no door" * doctest::skip(kAgain)) {
  const auto visit_under = [](bool (*filter)()) {
    const pid_t child = fork();
    if (child == 0) {
      if (!filter()) _exit(255);
      const EchoDoor door;  // its thread inherits the filter
      double seconds = 0;
      const std::string heard = talk(door, &seconds);
      if (heard == "hix") _exit(0);
      usleep(100'000);
      _exit(door.visit() == -1 && errno == ECONNREFUSED ? 1 : 2);
    }
    return wait_for(child);
  };
  CHECK(visit_under([] { return true; }) == 0);
  CHECK(visit_under([] { return refuse_call(SYS_accept4, EPERM); }) == 0);
  CHECK(visit_under([] { return refuse_call(SYS_accept4, ENOSYS); }) == 0);
  CHECK(visit_under([] { return refuse_call(SYS_accept4, EPERM) && refuse_call(SYS_accept, EPERM); }) == 1);
}
#endif

TEST_CASE("a peer that sends something else than its ring's memory, or descriptors later, makes nobody wait") {
  std::unique_ptr<End> b = std::make_unique<End>();
  const wire::Gid source = new_address();
  const Hello hello = make_hello(source, b->address, PeerProcess::own_proof());
  std::vector<std::unique_ptr<LingeringSocket>> lingering;
  const auto add = [&]() -> LingeringSocket& { return *lingering.emplace_back(std::make_unique<LingeringSocket>()); };
  const auto look = [&] {
    const Stopwatch watch;
    for (int i = 0; i < 50; ++i) {
      b->receive();
      usleep(1000);
    }
    CHECK(watch.seconds() < 0.05 + kSoon);
  };
  SUBCASE("in its place") {
    for (int i = 0; i < 3; ++i) {
      const int fd = invited_to(b->address);
      CHECK(add().send_by(fd, &hello, sizeof hello));
      look();
      CHECK(is_readable(fd, 0));  // hung up on
      close(fd);
    }
  }
  SUBCASE("with the invitation not awaited") {
    int fd = -1;
    REQUIRE(connect_to_peer(b->address, kAnyRange, &fd) == 0);
    add().send_by(fd, &hello, sizeof hello);
    look();
    close(fd);
  }
  SUBCASE("behind it") {
    const int fd = invited_to(b->address);
    SharedMemory memory;
    int memory_fd = -1;
    REQUIRE(SharedMemory::create(kRingMemory, &memory, &memory_fd) == 0);
    CHECK(send_hello(fd, hello, memory_fd) == 0);
    add().send_by(fd, "b", 1);
    close(memory_fd);
    look();
    add().send_by(fd, "b", 1);
    look();
    close(fd);
  }
  const Stopwatch watch;
  End other;
  other.meet(*b);
  b.reset();
  CHECK(watch.seconds() < 2 * kSoon);
}

TEST_CASE("all of this on a kernel whose sockets take descriptors of everybody" * doctest::skip(kAgain)) {
  CHECK(run_again(be_linux_6_15) == 0);
}

TEST_SUITE_END();
