// What another host cannot do: a process in a network namespace at the other end of a veth tries it. Needs root, and a
// kernel with namespaces and veth.
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

#include "test/abi/support/device_pair.h"
#include "test/abi/support/impostor.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr const char* kVictim = "10.211.4.1";
constexpr const char* kPeer = "10.211.4.2";
constexpr const char* kOtherAddress = "10.211.4.3";
// No number that a failed assertion ends with.
enum Result : int { kHeld, kNoVeth = 77, kDisturbedByStranger, kReachedLoopback, kPeerNotHeard, kFailed };

bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

bool say(int fd, std::uint32_t number) { return write(fd, &number, sizeof number) == sizeof number; }
std::uint32_t hear(int fd) {
  std::uint32_t number = UINT32_MAX;
  return read(fd, &number, sizeof number) == sizeof number ? number : UINT32_MAX;
}

// A frame to a loopback address of the victim's host, past the routing of the sender's.
void send_to_loopback(std::uint32_t qpn, std::uint8_t last) {
  wire::Path path;
  path.sgid = wire::Gid::from_ipv4(std::array<std::uint8_t, 4>{10, 211, 4, 2}.data());
  path.dgid = wire::Gid::from_ipv4(std::array<std::uint8_t, 4>{127, 0, 0, last}.data());
  path.source_port = wire::kRocePort;
  const std::size_t size = wire::Bth::kSize + wire::kIcrcSize;
  std::vector<std::uint8_t> frame(wire::kMaxNetworkSize + size);
  const std::size_t network = wire::write_network(frame.data(), path, size);
  frame.resize(network + size);
  wire::Bth bth;
  bth.opcode = wire::kSendMiddle;
  bth.dest_qpn = qpn;
  bth.emit(&frame[network]);
  wire::seal_icrc(frame);
  const int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_IP));
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_protocol = htons(ETH_P_IP);
  to.sll_ifindex = static_cast<int>(if_nametoindex("v1"));
  to.sll_halen = 6;
  // The victim's veth has this address.
  const std::uint8_t mac[6] = {0x02, 0, 0, 0, 0, 1};
  std::copy(mac, mac + 6, to.sll_addr);
  REQUIRE(sendto(fd, frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) > 0);
  close(fd);
}

// The attacker's host: `in` tells what to attack, `out` says when it was done.
int attack(int in, int out) {
  if (unshare(CLONE_NEWNET) != 0 || !say(out, 0) || hear(in) != 0) return 1;
  if (!run("ip addr add " + std::string(kPeer) + "/24 dev v1") || !run("ip link set v1 up") ||
      !run("ip addr add " + std::string(kOtherAddress) + "/24 dev v1")) {
    return 1;
  }
  const std::uint32_t qpn = hear(in), loopback_qpn = hear(in);
  for (int i = 0; i < 100; ++i) Impostor(kOtherAddress, kVictim, wire::kRocePort).send(qpn, wire::kSendMiddle, 0);
  for (int i = 0; i < 100; ++i) send_to_loopback(loopback_qpn, 1);
  if (!say(out, 1) || hear(in) != 2) return 1;
  // The same from the peer's address, which this network does not prevent.
  Impostor(kPeer, kVictim, wire::kRocePort).send(qpn, wire::kSendMiddle, 0);
  return say(out, 2) && hear(in) == 3 ? 0 : 1;
}

ibv_qp_state state_of(const End& end) {
  ibv_qp_attr attr;
  ibv_qp_init_attr init;
  REQUIRE(ibv_query_qp(end.qp, &attr, IBV_QP_STATE, &init) == 0);
  return attr.qp_state;
}

void poll_for(End& end, int milliseconds) {
  const auto stop = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  ibv_wc wc;
  while (std::chrono::steady_clock::now() < stop) ibv_poll_cq(end.cq, 1, &wc);
}

// The victim's host, also a namespace.
Result defend(int in, int out, pid_t attacker) {
  if (unshare(CLONE_NEWNET) != 0 || hear(in) != 0) return kNoVeth;
  if (!run("ip link set lo up") || !run("ip link add v0 address 02:00:00:00:00:01 type veth peer name v1") ||
      !run("ip link set v1 netns " + std::to_string(attacker)) ||
      !run("ip addr add " + std::string(kVictim) + "/24 dev v0") || !run("ip link set v0 up")) {
    return kNoVeth;
  }
  configure(std::string("public,link=udp,addr=") + kVictim + ";local,link=udp,addr=127.0.0.1");
  End open("public"), hidden("local");
  for (End* end : {&open, &hidden}) {
    const ibv_gid own = end->gid;
    End peer(end == &open ? "public" : "local");
    // Connected to the attacker's host, which has no queue pair there. No route leads there from a loopback address.
    const std::array<std::uint8_t, 4> attackers = {10, 211, 4, 2}, nobodys = {127, 0, 0, 9};
    const wire::Gid gid = wire::Gid::from_ipv4((end == &open ? attackers : nobodys).data());
    std::copy(gid.bytes.begin(), gid.bytes.end(), peer.gid.raw);
    end->connect(peer);
    end->gid = own;
  }
  if (!say(out, 0) || !say(out, open.qp->qp_num) || !say(out, hidden.qp->qp_num) || hear(in) != 1) return kFailed;
  poll_for(open, 200);
  poll_for(hidden, 200);
  if (state_of(open) != IBV_QPS_RTS) return kDisturbedByStranger;
  if (state_of(hidden) != IBV_QPS_RTS || counter("local", "rcvd_pkts") != 0) return kReachedLoopback;
  if (!say(out, 2) || hear(in) != 2) return kFailed;
  // The attacks do arrive: from the peer's own address this one succeeds.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (state_of(open) == IBV_QPS_RTS && std::chrono::steady_clock::now() < give_up) poll_for(open, 10);
  say(out, 3);
  return state_of(open) == IBV_QPS_ERR ? kHeld : kPeerNotHeard;
}

}  // namespace

TEST_CASE("another host reaches no loopback device, and disturbs no connection but from the peer's address" *
          doctest::skip(geteuid() != 0)) {
  int to_attacker[2], to_victim[2];
  REQUIRE((pipe(to_attacker) == 0 && pipe(to_victim) == 0));
  const pid_t attacker = fork();
  if (attacker == 0) {
    alarm(60);
    _exit(attack(to_attacker[0], to_victim[1]));
  }
  const pid_t victim = fork();
  if (victim == 0) {
    alarm(60);
    _exit(defend(to_victim[0], to_attacker[1], attacker));
  }
  for (const int fd : {to_attacker[0], to_attacker[1], to_victim[0], to_victim[1]}) close(fd);
  int status = -1, attacked = -1;
  REQUIRE(waitpid(victim, &status, 0) == victim);
  kill(attacker, SIGKILL);
  REQUIRE(waitpid(attacker, &attacked, 0) == attacker);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoVeth) {
    MESSAGE("skipped: no namespaces and veth in this container");
    return;
  }
  CHECK(WEXITSTATUS(status) == kHeld);
}
