// What a process publishes about its devices, and who may read it.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>

#include "test/abi/support/device_pair.h"
#include "verbs_soft.h"

using namespace verbs::soft::test;

namespace {

std::map<int, std::string> processes() {
  std::map<int, std::string> reports;
  const auto add = [](void* data, int pid, const char* report) {
    (*static_cast<std::map<int, std::string>*>(data))[pid] = report;
  };
  CHECK(verbs_soft_processes(add, &reports) == 0);
  return reports;
}

bool report_has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The name of this process's socket; empty if there is none.
std::string published_name() {
  const std::string wanted = "@verbs-soft." + std::to_string(geteuid()) + "." + std::to_string(getpid()) + ".";
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t at = line.find(wanted);
    if (at != std::string::npos) return line.substr(at + 1);
  }
  return {};
}

// The number of bytes that a connection gets before it is closed; -1 if there is no connection.
int read_all(const std::string& name) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  int total = -1;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0) {
    char buffer[4096];
    total = 0;
    for (ssize_t count; (count = recv(fd, buffer, sizeof buffer, 0)) > 0;) total += static_cast<int>(count);
  }
  close(fd);
  return total;
}

// Runs `body` in a forked child and returns what it returns (0 to 255).
template <typename Body>
int run_forked(Body&& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
}

}  // namespace

TEST_CASE("a process with an open device publishes its ports, counters and queue pairs") {
  configure("c,mtu=1024;d");
  CHECK(processes().count(getpid()) == 0);
  {
    End a("c"), b("d");
    a.connect(b);
    b.connect(a);
    REQUIRE(b.post_recv(0, 64) == 0);
    REQUIRE(a.send(0, 64) == 0);
    CHECK(b.poll().status == IBV_WC_SUCCESS);
    CHECK(a.poll().status == IBV_WC_SUCCESS);
    const std::string report = processes()[getpid()];
    CHECK(report_has(report, R"({"version":1,"program":"abi_test","devices":[{"name":"c","kind":"roce","ports":[)"));
    CHECK(report_has(report, R"({"state":"ACTIVE","mtu":1024,"gid":"::ffff:127.0.0.)"));
    CHECK(report_has(report, R"("name":"d")"));
    CHECK(report_has(report, R"("rdma_sends":"1")"));
    CHECK(report_has(report, R"("qpNum":)" + std::to_string(a.qp->qp_num) +
                                 R"(,"type":"RC","state":"RTS","destQpNum":)" + std::to_string(b.qp->qp_num)));
    CHECK(report.back() == '}');
  }
  CHECK(processes().count(getpid()) == 0);
  CHECK(published_name().empty());
}

#ifndef __SANITIZE_THREAD__  // which ends a forked child that starts a thread
TEST_CASE("a forked child publishes its own devices, and the parent still responds") {
  configure("c");
  const End parent("c");
  const int status = run_forked([] {
    if (!published_name().empty()) return 1;  // it has opened nothing
    const End child("c");
    const auto reports = processes();
    return reports.count(getpid()) == 1 && reports.count(getppid()) == 1 ? 0 : 2;
  });
  CHECK(status == 0);
  CHECK(processes().count(getpid()) == 1);
}
#endif

TEST_CASE("VERBS_SOFT_PUBLISH=0 switches it off") {
  configure("c");
  setenv("VERBS_SOFT_PUBLISH", "0", 1);
  {
    const End end("c");
    CHECK(published_name().empty());
  }
  unsetenv("VERBS_SOFT_PUBLISH");
}

namespace {

// Listens at so many names as publishers of this user have, and accepts no one: as processes that are stopped, or as
// another user who has taken the names. Each has a full queue besides.
int squat(int count, const char* prefix) {
  for (int i = 0; i < count; ++i) {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = std::string("verbs-soft.0.") + prefix + std::to_string(i) + ".00000000";
    name.copy(address.sun_path + 1, name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(fd, 0) != 0) return 1;
    const int own = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (i % 2 == 0 && connect(own, reinterpret_cast<const sockaddr*>(&address), size) != 0) return 2;
  }
  return 0;
}

}  // namespace

TEST_CASE("silent names cost a reader one time for all, and those of another user none" *
          doctest::skip(geteuid() != 0)) {
  configure("c");
  const End end("c");
  const auto read_beside = [](int count, uid_t user) {
    int pipes[2];
    REQUIRE(pipe(pipes) == 0);
    const pid_t child = fork();
    if (child == 0) {
      const bool done = (user == 0 || setuid(user) == 0) && squat(count, user == 0 ? "1" : "2") == 0;
      (void)!write(pipes[1], done ? "y" : "n", 1);
      pause();
    }
    char done = 0;
    REQUIRE(read(pipes[0], &done, 1) == 1);
    CHECK(done == 'y');
    const auto start = std::chrono::steady_clock::now();
    CHECK(processes().count(getpid()) == 1);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(pipes[0]);
    close(pipes[1]);
    return seconds.count();
  };
  CHECK(read_beside(100, 4242) < 0.2);
  CHECK(read_beside(20, 0) < 0.6);
}

TEST_CASE("another user gets nothing" * doctest::skip(geteuid() != 0)) {
  configure("c");
  const End end("c");
  const std::string name = published_name();
  REQUIRE(!name.empty());
  CHECK(read_all(name) > 100);
  CHECK(run_forked([&] { return setuid(65534) == 0 && read_all(name) == 0 ? 0 : 1; }) == 0);
  // Nor does this user believe another one that has taken such a name.
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  const pid_t impostor = fork();
  if (impostor == 0) {
    if (setuid(65534) != 0) _exit(1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string taken = "verbs-soft.0." + std::to_string(getpid()) + ".00000000";
    taken.copy(address.sun_path + 1, taken.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + taken.size());
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(fd, 4) != 0) _exit(2);
    if (write(pipes[1], "x", 1) != 1) _exit(3);
    for (int connection; (connection = accept(fd, nullptr, nullptr)) >= 0;) {
      constexpr char kText[] = R"({"version":1,"program":"impostor","devices":[]})";
      send(connection, kText, sizeof kText - 1, MSG_NOSIGNAL);
      close(connection);
    }
    _exit(0);
  }
  char ready = 0;
  REQUIRE(read(pipes[0], &ready, 1) == 1);
  CHECK(processes().count(impostor) == 0);
  kill(impostor, SIGKILL);
  waitpid(impostor, nullptr, 0);
  close(pipes[0]);
  close(pipes[1]);
}
