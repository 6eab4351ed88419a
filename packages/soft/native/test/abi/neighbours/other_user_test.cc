// What another user of the machine cannot do: a child process that becomes uid 65534 tries it. Needs root.
#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

constexpr uid_t kStranger = 65534;
const bool kNotRoot = geteuid() != 0;

// Runs `act` as the stranger, in a child process. Its result, or -1 if it ended otherwise.
template <typename Act>
int as_stranger(Act&& act) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    const bool changed = setgroups(0, nullptr) == 0 && setresgid(kStranger, kStranger, kStranger) == 0 &&
                         setresuid(kStranger, kStranger, kStranger) == 0;
    _exit(changed ? act() : 255);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

sockaddr_in at(const std::string& text, std::uint16_t port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(port);
  inet_pton(AF_INET, text.c_str(), &made.sin_addr);
  return made;
}

// The errno of binding a socket there, with these options set.
int bind_error(const std::string& address, std::initializer_list<int> options) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  for (const int option : options) setsockopt(fd, SOL_SOCKET, option, &on, sizeof on);
  const sockaddr_in own = at(address, 4791);
  const int error = bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0 ? 0 : errno;
  close(fd);
  return error;
}

constexpr const char* kShared[] = {"/dev/shm", "/run", "/tmp", "/var/tmp"};
enum Names : int { kNone, kFile, kSocket, kNoDevice, kNoNamespace };

// In namespaces of its own, so that everything that is there is the device's: empty shared folders, and no sockets.
bool enter_namespaces() {
  if (unshare(CLONE_NEWNS | CLONE_NEWNET) != 0) return false;
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  for (const char* folder : kShared) {
    if (mount("none", folder, "tmpfs", 0, nullptr) != 0) return false;
  }
  ifreq loopback{};
  std::strcpy(loopback.ifr_name, "lo");
  loopback.ifr_flags = IFF_UP;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool up = ioctl(fd, SIOCSIFFLAGS, &loopback) == 0;
  close(fd);
  return up;
}

// The kind of name that a device makes while it is open.
Names names_of_a_device() {
  if (!enter_namespaces()) return kNoNamespace;
  setenv("VERBS_SOFT_PUBLISH", "0", 1);  // the socket of the live counters: processes_test.cc
  int count = 0;
  ibv_device** list = verbs_soft_configure("quiet,link=udp") == 0 ? ibv_get_device_list(&count) : nullptr;
  ibv_context* context = list && count == 1 ? ibv_open_device(list[0]) : nullptr;
  if (!context || !ibv_alloc_pd(context)) return kNoDevice;
  for (const char* folder : kShared) {
    if (!std::filesystem::is_empty(folder)) return kFile;
  }
  // Those of its ranges and doors, at which other users are turned away (door_test.cc).
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t name = line.find('@');
    if (name != std::string::npos && line.compare(name, 12, "@verbs-soft/") != 0) return kSocket;
  }
  return kNone;
}

}  // namespace

TEST_CASE("another user cannot take over the address of a device" * doctest::skip(kNotRoot)) {
  const std::string address = local_address(61);
  configure("taken,link=udp,addr=" + address);
  const End end("taken");
  for (const auto options :
       {std::initializer_list<int>{}, {SO_REUSEADDR}, {SO_REUSEPORT}, {SO_REUSEADDR, SO_REUSEPORT}}) {
    CHECK(as_stranger([&] { return bind_error(address, options); }) == EADDRINUSE);
  }
}

TEST_CASE("another user who floods a device from a peer's address disturbs no connection" * doctest::skip(kNotRoot)) {
  const std::string one = local_address(62), two = local_address(63);
  configure("flooded,link=udp,addr=" + one + ";peer,link=udp,addr=" + two);
  End a("flooded"), b("peer");
  a.connect(b);
  b.connect(a);
  // A SEND MIDDLE without a beginning, for a PSN that is expected: it would end the connection. It needs no right ICRC
  // to be looked at, and impostor_test.cc has one that is right.
  std::uint8_t packet[16] = {0x01, 0x00, 0xff, 0xff};
  packet[5] = static_cast<std::uint8_t>(a.qp->qp_num >> 16);
  packet[6] = static_cast<std::uint8_t>(a.qp->qp_num >> 8);
  packet[7] = static_cast<std::uint8_t>(a.qp->qp_num);
  const auto flood = [&] {
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const sockaddr_in own = at(two, 0), to = at(one, 4791);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) return 1;
    for (int i = 0; i < 20'000; ++i) {
      sendto(fd, packet, sizeof packet, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    }
    return 0;
  };
  int flooded = -1;
  std::thread other([&] { flooded = as_stranger(flood); });
  for (int i = 0; i < 200; ++i) {
    REQUIRE(b.post_recv(0, 256) == 0);
    REQUIRE(a.send(0, 256) == 0);
    CHECK(a.poll().status == IBV_WC_SUCCESS);
    CHECK(b.poll().status == IBV_WC_SUCCESS);
  }
  other.join();
  CHECK(flooded == 0);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  ibv_wc wc;
  while (counter("flooded", "link_udp_wrong_source_port") == 0 && std::chrono::steady_clock::now() < give_up) {
    ibv_poll_cq(a.cq, 1, &wc);
  }
  CHECK(counter("flooded", "link_udp_wrong_source_port") > 0);
}

TEST_CASE("another user reads neither the memory nor the descriptors of a program" * doctest::skip(kNotRoot)) {
  configure("private,link=udp,addr=" + local_address(64));
  End end("private");
  const std::string process = "/proc/" + std::to_string(getpid());
  const std::string command = process + "/fd/" + std::to_string(end.context->cmd_fd);
  CHECK(as_stranger([&] { return open(command.c_str(), O_RDWR) < 0 ? errno : 0; }) == EACCES);
  CHECK(as_stranger([&] { return open((process + "/mem").c_str(), O_RDONLY) < 0 ? errno : 0; }) == EACCES);
  const pid_t victim = getpid();
  CHECK(as_stranger([&] {
          char byte = 0;
          iovec local{&byte, 1}, remote{end.memory.data(), 1};
          return process_vm_readv(victim, &local, 1, &remote, 1, 0) < 0 ? errno : 0;
        }) == EPERM);
}

TEST_CASE("an open device has no file that other users could open, and no socket but its doors" *
          doctest::skip(kNotRoot)) {
  const pid_t child = fork();
  if (child == 0) _exit(names_of_a_device());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoNamespace) {
    MESSAGE("skipped: this container cannot make namespaces");
    return;
  }
  CHECK(WEXITSTATUS(status) == kNone);
}
