// Ten processes at one address, each connected with every other one. Members are killed, stopped and replaced: the
// connections of the others lose nothing.
//
//   sharing_processes [--kills N] [--seed S] [--hosts 2]
//
// With two hosts, which are network namespaces and need root, every second process is on the other one. Exits with 77
// where that cannot be had.
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "test/sharing/member.h"

using namespace verbs::soft::test::sharing;

namespace {

// Where members are: the first half of the places, by turns, and the second one.
struct Host {
  std::string configuration;
  int network = -1;
};

bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

// Two namespaces, which end with this process.
bool make_hosts(std::array<Host, 2>* hosts) {
  if (unshare(CLONE_NEWNET) != 0) return false;
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) return false;
  const pid_t other = fork();
  if (other == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const char done = unshare(CLONE_NEWNET) == 0;
    (void)!write(ready[1], &done, 1);
    pause();
    _exit(0);
  }
  char done = 0;
  if (read(ready[0], &done, 1) != 1 || done == 0) return false;
  const std::string pid = std::to_string(other), there = "nsenter -n -t " + pid + " ";
  (*hosts)[1].network = open(("/proc/" + pid + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC);
  const char* addresses[] = {"10.211.9.1", "10.211.9.2"};
  for (int i = 0; i < 2; ++i) (*hosts)[i].configuration = std::string("soft0,addr=") + addresses[i];
  return run("ip link set lo up") && run(there + "ip link set lo up") &&
         run("ip link add s0 type veth peer name s1 netns " + pid) && run("ip addr add 10.211.9.1/24 dev s0") &&
         run(there + "ip addr add 10.211.9.2/24 dev s1") && run("ip link set s0 up") &&
         run(there + "ip link set s1 up");
}

class Group {
 public:
  Group(std::uint32_t seed, const std::array<Host, 2>& hosts) : random_(seed), hosts_(hosts) {
    for (int i = 0; i < kMembers; ++i) start(i);
    for (int i = 0; i < kMembers; ++i) {
      for (int j = 0; j < i; ++j) connect(i, j);
    }
  }

  // All of `places` exchange messages with all others of them, and then `disturb` is called.
  template <typename Disturb>
  void exchange(unsigned places, int count, Disturb&& disturb) {
    each(places, [&](int i) { members_[i]->exchange(places & ~(1u << i), count); });
    disturb();
  }
  void finish(unsigned places, unsigned spared) {
    each(places, [&](int i) {
      const unsigned failed = members_[i]->finish() & ~spared;
      require(failed == 0, "member " + std::to_string(i) + " lost connections: " + std::to_string(failed));
    });
  }

  void run(int count) {
    exchange(kAll, count, [] {});
    finish(kAll, 0);
  }

  // The killed one has exchanged with all, too. Its connections end, and the others' do not.
  void kill_one() {
    const int victim = pick();
    const unsigned others = kAll & ~(1u << victim);
    members_[victim]->exchange(others, 1 << 20);  // until it is killed
    exchange(others, 30, [&] {
      std::this_thread::sleep_for(std::chrono::microseconds(random_() % 3000));
      members_[victim]->kill();
    });
    finish(others, 0);
    replace(victim);
  }

  // One is stopped, another one is killed meanwhile: the rest goes on.
  void kill_beside_stopped() {
    const int stopped = pick();
    int victim = pick();
    while (victim == stopped) victim = pick();
    const unsigned others = kAll & ~(1u << victim) & ~(1u << stopped);
    members_[stopped]->stop();
    exchange(others, 30, [&] { members_[victim]->kill(); });
    finish(others, 0);
    members_[stopped]->go_on();
    replace(victim);
  }

  void report() {
    std::uint64_t received = 0, forwarded = 0, unowned = 0;
    each(kAll, [&](int i) {
      received += members_[i]->counter("rcvd_pkts");
      forwarded += members_[i]->counter("link_shm_forwarded");
      unowned += members_[i]->counter("link_shm_unowned");
    });
    std::printf("packets: %llu; handed over: %llu, to nobody: %llu\n", static_cast<unsigned long long>(received),
                static_cast<unsigned long long>(forwarded), static_cast<unsigned long long>(unowned));
    require(forwarded * 20 < received, "the kernel chose wrong processes");
  }

 private:
  static constexpr unsigned kAll = (1u << kMembers) - 1;

  template <typename Visit>
  void each(unsigned places, Visit&& visit) {
    for (int i = 0; i < kMembers; ++i) {
      if ((places >> i & 1) != 0) visit(i);
    }
  }
  int pick() { return static_cast<int>(random_() % kMembers); }

  void connect(int a, int b) {
    const Address at_a = members_[a]->make(b), at_b = members_[b]->make(a);
    const auto stamp = static_cast<std::uint32_t>(random_());
    members_[a]->connect(b, at_b, stamp);
    members_[b]->connect(a, at_a, stamp);
  }
  void start(int place) {
    const Host& host = hosts_[place % 2];
    members_[place] = std::make_unique<Member>(place, host.configuration, host.network);
  }
  void replace(int place) {
    start(place);
    for (int i = 0; i < kMembers; ++i) {
      if (i != place) connect(place, i);
    }
  }

  std::mt19937 random_;
  std::array<Host, 2> hosts_;
  std::array<std::unique_ptr<Member>, kMembers> members_;
};

int option(int count, char** values, const std::string& name, int otherwise) {
  for (int i = 1; i + 1 < count; ++i) {
    if (values[i] == name) return std::atoi(values[i + 1]);
  }
  return otherwise;
}

}  // namespace

int main(int count, char** values) {
  const int kills = option(count, values, "--kills", 100);
  const int seed = option(count, values, "--seed", 1);
  // Not the address that other tests use by default.
  const char* given = std::getenv("VERBS_SOFT");
  std::array<Host, 2> hosts;
  hosts[0].configuration = hosts[1].configuration = given ? given : "soft0,addr=127.0.0.91";
  if (option(count, values, "--hosts", 1) == 2 && !make_hosts(&hosts)) {
    std::printf("skipped: no network namespaces\n");
    return 77;
  }
  try {
    Group group(static_cast<std::uint32_t>(seed), hosts);
    group.run(50);
    std::printf("all pairs exchange messages\n");
    for (int i = 0; i < kills; ++i) {
      i % 10 == 9 ? group.kill_beside_stopped() : group.kill_one();
    }
    group.run(50);
    std::printf("%d are killed, and nothing of the others is lost\n", kills);
    group.report();
  } catch (const std::exception& error) {
    std::printf("FAILED (--seed %d): %s\n", seed, error.what());
    return 1;
  }
  return 0;
}
