// What the replaced calls keep of the contract of libc's: they are for signal handlers and for children of vfork(),
// they work with descriptors of any folder, and with limits of the process.
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

constexpr const char* kState = "/sys/class/infiniband/call0/ports/1/state";
constexpr const char* kSent = "/sys/class/infiniband/call0/ports/1/hw_counters/sent_pkts";
constexpr const char* kActive = "4: ACTIVE\n";

bool reads(const char* path, const char* expected) {
  const int fd = open(path, O_RDONLY);
  if (fd < 0) return false;
  char text[64];
  const ssize_t size = read(fd, text, sizeof text);
  close(fd);
  return size == static_cast<ssize_t>(std::strlen(expected)) && std::memcmp(text, expected, std::strlen(expected)) == 0;
}

std::uint64_t number_at(const char* path) {
  char text[64] = "";
  const int fd = open(path, O_RDONLY);
  REQUIRE(fd >= 0);
  REQUIRE(read(fd, text, sizeof text - 1) > 0);
  close(fd);
  return std::strtoull(text, nullptr, 10);
}

void send_one(End& from, End& to) {
  REQUIRE(to.post_recv(0, 64) == 0);
  REQUIRE(from.send(0, 64) == 0);
  CHECK(from.poll().status == IBV_WC_SUCCESS);
}

std::string output(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::string text;
  char part[256];
  while (const std::size_t size = fread(part, 1, sizeof part, pipe)) text.append(part, size);
  CHECK(pclose(pipe) == 0);
  return text;
}

// Runs `body` in a child; its exit status, or 128 and more for a signal.
template <typename Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a deadlock ends
    _exit(body());
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int execute(const char* program, const char* argument) {
  const int null = open("/dev/null", O_WRONLY);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) dup2(null, stream);
  execlp(program, program, argument, nullptr);
  return 127;
}

std::atomic<int> in_handler{0}, wrong_in_handler{0};

void look_in_handler(int) {
  const int before = errno;
  struct stat status{};
  const bool right =
      reads(kState, kActive) && stat(kSent, &status) == 0 && access("/dev/infiniband/uverbs0", F_OK) == 0;
  ++in_handler;
  if (!right) ++wrong_in_handler;
  errno = before;
}

}  // namespace

TEST_CASE("files are opened in signal handlers, also in the middle of the same and of an allocation") {
  configure("call0");
  CHECK(in_child([] {
          struct sigaction action{};
          action.sa_handler = look_in_handler;
          action.sa_flags = SA_RESTART;
          sigaction(SIGVTALRM, &action, nullptr);
          const itimerval often{.it_interval = {0, 1000}, .it_value = {0, 1000}};
          setitimer(ITIMER_VIRTUAL, &often, nullptr);
          int wrong = 0;
          while (in_handler < 50) {
            if (!reads(kState, kActive) || !reads("/sys/class/infiniband/call0/board_id", "VERBS_SOFT\n")) ++wrong;
            std::free(std::malloc(100'000));
          }
          return wrong + wrong_in_handler == 0 ? 0 : 1;
        }) == 0);
}

TEST_CASE("files are opened in children of vfork()") {
  configure("call0");
  const pid_t child = vfork();
  if (child == 0) _exit(reads(kState, kActive) ? 0 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(reads(kState, kActive));
}

TEST_CASE("a descriptor that stays open reads the counter of the moment from its beginning") {
  configure("call0;call1");
  End from("call0"), to("call1");
  from.connect(to);
  to.connect(from);
  const int fd = open(kSent, O_RDONLY);
  REQUIRE(fd >= 0);
  char text[64] = "";
  const auto number = [&](ssize_t size) {
    REQUIRE(size > 0);
    text[size] = '\0';
    return std::strtoull(text, nullptr, 10);
  };
  std::uint64_t before = number(read(fd, text, sizeof text - 1));
  CHECK(read(fd, text, sizeof text) == 0);
  send_one(from, to);
  CHECK(number(pread(fd, text, sizeof text - 1, 0)) > before);
  before = number_at(kSent);
  send_one(from, to);
  REQUIRE(lseek(fd, 0, SEEK_SET) == 0);
  CHECK(number(read(fd, text, sizeof text - 1)) > before);
  before = number_at(kSent);
  send_one(from, to);
  iovec part{text, sizeof text - 1};
  CHECK(number(preadv(fd, &part, 1, 0)) > before);

  // A program gets it by inheritance.
  before = number_at(kSent);
  send_one(from, to);
  REQUIRE(lseek(fd, 0, SEEK_SET) == 0);
  const std::string script = "read number && test $number -gt " + std::to_string(before);
  CHECK(in_child([&] {
          dup2(fd, STDIN_FILENO);
          return execlp("sh", "sh", "-c", script.c_str(), nullptr);
        }) == 0);
  CHECK(write(fd, "1", 1) == -1);
  close(fd);
}

TEST_CASE("counters are those of all processes of the machine, also of those that have ended") {
  configure("call0;call1");
  const std::uint64_t before = number_at(kSent);
  CHECK(in_child([] {
          configure("call0;call1");
          End from("call0"), to("call1");
          from.connect(to);
          to.connect(from);
          send_one(from, to);
          return 0;
        }) == 0);
  CHECK(number_at(kSent) > before);
  CHECK(counter("call0", "sent_pkts") == 0);
}

TEST_CASE("paths relative to a descriptor of a folder above lead to the devices") {
  configure("call0");
  for (const auto& [folder, path] : {std::pair<const char*, std::string>{"/", "sys/class/infiniband"},
                                     {"/sys", "class/infiniband"},
                                     {"/sys/class", "infiniband"}}) {
    CAPTURE(folder);
    const int above = open(folder, O_RDONLY | O_DIRECTORY);
    REQUIRE(above >= 0);
    const int fd = openat(above, path.c_str(), O_RDONLY | O_DIRECTORY);
    CHECK(fd >= 0);
    struct stat status{};
    CHECK(fstatat(fd, "call0/ports", &status, 0) == 0);
    char target[256];
    CHECK(readlinkat(above, (path + "/call0").c_str(), target, sizeof target) > 0);
    CHECK(faccessat(above, (path + "/call0/board_id").c_str(), R_OK, 0) == 0);
    const int file = openat(above, (path + "/call0/board_id").c_str(), O_RDONLY);
    CHECK(file >= 0);
    CHECK(readlinkat(fd, "call0", target, sizeof target) > 0);
    // From there back to the kernel's.
    CHECK(fstatat(fd, "../net", &status, 0) == 0);
    close(file);
    close(fd);
    close(above);
  }
}

// Another program runs it, by the next test: this one may have opened a folder before.
TEST_CASE("a node is one of a device by a folder that is opened as a path only" * doctest::skip()) {
  const int folder = open("/dev/infiniband", O_PATH | O_DIRECTORY);
  REQUIRE(folder >= 0);
  struct stat status{};
  REQUIRE(fstatat(folder, "uverbs0", &status, 0) == 0);
  CHECK(S_ISCHR(status.st_mode));
  close(folder);
}

TEST_CASE("the devices are found from a folder that is opened as a path only") {
  setenv("VERBS_SOFT", "call0", 1);
  CHECK(in_child([] {
          return execl("/proc/self/exe", "system_test", "-tc=*that is opened as a path only", "--no-skip",
                       "-tce=the devices*", nullptr);
        }) == 0);
  unsetenv("VERBS_SOFT");
}

TEST_CASE("every entry of the folders has a status") {
  configure("call0");
  setenv("VERBS_SOFT", "call0;call1,ports=2", 1);
  const std::string list = output(
      "ls -la /sys/class/infiniband /sys/class/infiniband/ /sys/class/infiniband/call1/ /sys/class/infiniband_verbs/ "
      "/sys/class/infiniband/call1/ports/1 /dev/infiniband /sys/devices/virtual/infiniband "
      "/sys/devices/virtual/infiniband/call0/device 2>&1 && cd /sys/class/infiniband/call1/ports && ls -la 2>&1");
  unsetenv("VERBS_SOFT");
  CAPTURE(list);
  CHECK(list.find("call1") != std::string::npos);
  CHECK(list.find('?') == std::string::npos);
}

TEST_CASE("a limit on the size of files does not end a program that looks") {
  configure("call0;call1");
  const auto limited = [](const auto& body) {
    return in_child([&] {
      const rlimit none{0, 0};
      setrlimit(RLIMIT_FSIZE, &none);
      return body();
    });
  };
  CHECK(limited([] { return reads(kState, kActive) && number_at(kSent) != 1 ? 0 : 1; }) == 0);
  CHECK(limited([] {
          configure("limited0;limited1");  // not seen on the machine before
          End from("limited0"), to("limited1");
          from.connect(to);
          to.connect(from);
          send_one(from, to);
          return access("/sys/class/net", F_OK);
        }) == 0);
  setenv("VERBS_SOFT", "limited2", 1);
  CHECK(limited([] { return execute("ls", "/sys/class"); }) == 0);
  CHECK(limited([] { return execute("ls", "/sys/class/infiniband"); }) < 128);
  unsetenv("VERBS_SOFT");
}

TEST_CASE("programs with one list of devices have one set of files") {
  configure("call0");
  const auto trees = [] { return output("ls $VERBS_SOFT_SYSTEM/trees"); };
  setenv("VERBS_SOFT", "once0", 1);
  output("ls /sys/class/infiniband");
  const std::string before = trees();
  CHECK(output("ls /sys/class/infiniband") == "once0\n");
  CHECK(output("cat /sys/class/infiniband/once0/ports/1/state") == kActive);
  CHECK(trees() == before);
  unsetenv("VERBS_SOFT");
}

TEST_CASE("before any open the default device has an address of its type") {
  setenv("VERBS_SOFT", "", 1);
  CHECK(output("cat /sys/class/infiniband/soft0/ports/1/gids/0") == "0000:0000:0000:0000:0000:ffff:7f00:0001\n");
  CHECK(output("cat /sys/class/infiniband/soft0/ports/1/gid_attrs/types/0") == "RoCE v2\n");
  CHECK(output("cat /sys/class/infiniband/soft0/ports/1/gid_attrs/ndevs/0") == "lo\n");
  unsetenv("VERBS_SOFT");
}
