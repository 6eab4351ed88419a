// The replaced calls as docs/contracts.md has them: each in a signal handler that interrupts the same call and an
// allocation, in a child of vfork(), and with a cancellation pending.
#include <dirent.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace contract {  // other files of this folder have constants of the same names
namespace {

constexpr const char* kFolder = "/sys/class/infiniband/contract0";
constexpr const char* kLink = "/sys/class/infiniband/contract0";
constexpr const char* kFile = "/sys/class/infiniband/contract0/ports/1/state";
constexpr const char* kSent = "/sys/class/infiniband/contract0/ports/1/hw_counters/sent_pkts";  // of the moment

int folder = -1, file = -1, counter_file = -1;
char text[4096];

struct Call {
  const char* name;
  bool is_point;  // of cancellation
  bool (*works)();
};

bool opened(int fd) {
  const bool right = fd >= 0;
  if (right) syscall(SYS_close, fd);  // no cancellation point
  return right;
}

iovec part() { return {text, sizeof text}; }

const Call kCalls[] = {
    {"open", true, [] { return opened(open(kFile, O_RDONLY | O_CLOEXEC)); }},
    {"open of a counter", true, [] { return opened(open(kSent, O_RDONLY | O_CLOEXEC)); }},
    {"openat", true, [] { return opened(openat(folder, "ports/1/state", O_RDONLY | O_CLOEXEC)); }},
    {"open of a node", true, [] { return open("/dev/infiniband/uverbs0", O_RDWR) < 0 && errno == ENXIO; }},
    {"open to write", true, [] { return open(kFile, O_WRONLY) < 0 && errno == EACCES; }},
    {"read", true, [] { return read(file, text, sizeof text) >= 0; }},
    {"read of a counter", true, [] { return read(counter_file, text, sizeof text) >= 0; }},
    {"pread", true, [] { return pread(counter_file, text, sizeof text, 0) > 0; }},
    {"readv", true,
     [] {
       const iovec to = part();
       return readv(counter_file, &to, 1) >= 0;
     }},
    {"preadv", true,
     [] {
       const iovec to = part();
       return preadv(counter_file, &to, 1, 0) > 0;
     }},
    {"stat", false,
     [] {
       struct stat status{};
       return stat(kFile, &status) == 0;
     }},
    {"lstat", false,
     [] {
       struct stat status{};
       return lstat(kLink, &status) == 0;
     }},
    {"fstatat", false,
     [] {
       struct stat status{};
       return fstatat(folder, "ports", &status, 0) == 0;
     }},
    {"statx", false,
     [] {
       struct statx status{};
       return statx(folder, "ports", 0, STATX_BASIC_STATS, &status) == 0;
     }},
    {"access", false, [] { return access("/dev/infiniband/uverbs0", F_OK) == 0; }},
    {"faccessat", false, [] { return faccessat(folder, "ports", R_OK, 0) == 0; }},
    {"readlink", false, [] { return readlink(kLink, text, sizeof text) > 0; }},
    {"readlinkat", false, [] { return readlinkat(AT_FDCWD, kLink, text, sizeof text) > 0; }},
    {"getxattr", false, [] { return getxattr(kFile, "user.none", text, sizeof text) < 0 && errno != EFAULT; }},
    {"listxattr", false, [] { return listxattr(kFile, text, sizeof text) >= 0 || errno == EOPNOTSUPP; }},
    {"chdir", false, [] { return chdir(kFolder) == 0 && chdir("/") == 0; }},
    {"getcwd", false, [] { return getcwd(text, sizeof text) != nullptr; }},
    {"socket", false, [] { return opened(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA)); }},
};

void open_all() {
  configure("contract0");
  for (int* fd : {&folder, &file, &counter_file}) {
    if (*fd >= 0) close(*fd);
  }
  folder = open(kFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  file = open(kFile, O_RDONLY | O_CLOEXEC);
  counter_file = open(kSent, O_RDONLY | O_CLOEXEC);
  REQUIRE(folder >= 0);
  REQUIRE(file >= 0);
  REQUIRE(counter_file >= 0);
}

std::atomic<const Call*> current{nullptr};
std::atomic<int> handled{0}, wrong{0};

void call_in_handler(int) {
  const int before = errno;
  if (!current.load()->works()) ++wrong;
  ++handled;
  errno = before;
}

void* cancelled(void* argument) {
  const auto* call = static_cast<const Call*>(argument);
  pthread_cancel(pthread_self());
  call->works();
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  return nullptr;
}

}  // namespace

TEST_CASE("each replaced call in a signal handler, in the middle of itself and of an allocation") {
  open_all();
  struct sigaction action{};
  action.sa_handler = call_in_handler;
  action.sa_flags = SA_RESTART;
  struct sigaction before{};
  sigaction(SIGVTALRM, &action, &before);
  for (const Call& call : kCalls) {
    CAPTURE(call.name);
    // In a child that a deadlock ends. vfork() would not do: the handler needs its own memory.
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      current = &call;
      const itimerval often{.it_interval = {0, 500}, .it_value = {0, 500}};
      setitimer(ITIMER_VIRTUAL, &often, nullptr);
      while (handled < 20) {
        if (!call.works()) ++wrong;
        std::free(std::malloc(100'000));
      }
      _exit(wrong == 0 ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  sigaction(SIGVTALRM, &before, nullptr);
}

TEST_CASE("each replaced call in a child of vfork()") {
  open_all();
  for (const Call& call : kCalls) {
    CAPTURE(call.name);
    const pid_t child = vfork();
    if (child == 0) _exit(call.works() ? 0 : 1);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(call.works());  // and the parent is as before
  }
}

TEST_CASE("each replaced call with a cancellation pending: the points of cancellation are those of libc") {
  open_all();
  for (const Call& call : kCalls) {
    CAPTURE(call.name);
    pthread_t thread{};
    REQUIRE(pthread_create(&thread, nullptr, cancelled, const_cast<Call*>(&call)) == 0);
    void* result = nullptr;
    REQUIRE(pthread_join(thread, &result) == 0);
    CHECK((result == PTHREAD_CANCELED) == call.is_point);
    CHECK(call.works());
  }
}

TEST_CASE("what needs no lock of libibverbs works in a signal handler and in a child of vfork()") {
  const pid_t child = vfork();
  if (child == 0) {
    const bool right = std::strcmp(ibv_wc_status_str(IBV_WC_SUCCESS), "success") == 0 &&
                       ibv_rate_to_mbps(IBV_RATE_10_GBPS) > 0 && mult_to_ibv_rate(4) == IBV_RATE_10_GBPS &&
                       ibv_port_state_str(IBV_PORT_ACTIVE) != nullptr && ibv_node_type_str(IBV_NODE_CA) != nullptr &&
                       ibv_event_type_str(IBV_EVENT_CQ_ERR) != nullptr;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace contract
