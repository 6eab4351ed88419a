// Ten processes at one address, each connected with every other one. Members are killed, stopped and replaced: the
// connections of the others lose nothing, and their counters say so.
//
//   sharing_processes [--kills N] [--seed S] [--hosts 2] [--containers 1]
//
// With two hosts, which are network namespaces, every second process is on the other one. With containers, every second
// process is in a PID namespace of its own, as in a container that has the network of its host. Both need root: it
// exits with 77 where they cannot be had.
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "test/sharing/member.h"

using namespace verbs::soft::test::sharing;

namespace {

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

bool may_make_containers() {
  const pid_t child = fork();
  if (child == 0) _exit(unshare(CLONE_NEWPID) == 0 ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
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
  void exchange(unsigned places, int messages, Disturb&& disturb) {
    each(places, [&](int i) { members_[i]->exchange(places & ~(1u << i), messages); });
    const auto count = static_cast<std::uint64_t>(std::popcount(places));
    verified_ += count * (count - 1) * static_cast<std::uint64_t>(messages);
    disturb();
  }
  void finish(unsigned places, unsigned spared) {
    each(places, [&](int i) {
      const unsigned failed = members_[i]->finish() & ~spared;
      require(failed == 0, "member " + std::to_string(i) + " lost connections: " + std::to_string(failed));
    });
  }

  void run(int messages) {
    exchange(kAll, messages, [] {});
    finish(kAll, 0);
  }

  // The killed one has exchanged with all, too. Its connections end, and the others' do not.
  void kill_one() {
    const int victim = pick();
    const unsigned others = kAll & ~(1u << victim);
    count(victim);
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
    count(victim);
    members_[stopped]->stop();
    exchange(others, 30, [&] { members_[victim]->kill(); });
    finish(others, 0);
    members_[stopped]->go_on();
    replace(victim);
  }

  // The counters of all processes that there were, one a line. A killed one was asked before it began to work for the
  // last time.
  void report() {
    each(kAll, [&](int i) { count(i); });
    std::printf("verified_messages %llu\n", static_cast<unsigned long long>(verified_));
    for (const auto& [name, sum] : counters_) {
      std::printf("%s %llu\n", name.c_str(), static_cast<unsigned long long>(sum));
    }
    require(counters_["rcvd_pkts"] > 0, "the counters do not count");
    // Nobody sends anything to those that are killed or stopped.
    for (const char* name : {"retry_exceeded_err", "retry_rnr_exceeded_err", "drop_icrc"}) {
      require(counters_[name] == 0, std::string("the counters tell of a loss: ") + name);
    }
    require(counters_["link_shm_forwarded"] * 20 < counters_["rcvd_pkts"], "the kernel chose wrong processes");
  }

 private:
  static constexpr unsigned kAll = (1u << kMembers) - 1;

  template <typename Visit>
  void each(unsigned places, Visit&& visit) {
    for (int i = 0; i < kMembers; ++i) {
      if ((places >> i & 1) != 0) visit(i);
    }
  }
  void count(int place) {
    for (const char* name : {"rcvd_pkts", "rcvd_rnr_err", "retransmitted_pkts", "ack_timeout", "retry_exceeded_err",
                             "retry_rnr_exceeded_err", "drop_unknown_qp", "drop_icrc", "link_udp_receive_dropped",
                             "link_shm_forwarded", "link_shm_unowned"}) {
      counters_[name] += members_[place]->counter(name);
    }
  }
  int pick() { return static_cast<int>(random_() % kMembers); }

  void connect(int a, int b) {
    const Address at_a = members_[a]->make(b), at_b = members_[b]->make(a);
    const auto stamp = static_cast<std::uint32_t>(random_());
    members_[a]->connect(b, at_b, stamp);
    members_[b]->connect(a, at_a, stamp);
  }
  void start(int place) { members_[place] = std::make_unique<Member>(place, hosts_[place % 2]); }
  void replace(int place) {
    start(place);
    for (int i = 0; i < kMembers; ++i) {
      if (i != place) connect(place, i);
    }
  }

  std::mt19937 random_;
  std::array<Host, 2> hosts_;
  std::array<std::unique_ptr<Member>, kMembers> members_;
  std::map<std::string, std::uint64_t> counters_;
  std::uint64_t verified_ = 0;
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
  hosts[1].contained = option(count, values, "--containers", 0) != 0;
  if (hosts[1].contained && !may_make_containers()) {
    std::printf("skipped: no PID namespaces\n");
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
