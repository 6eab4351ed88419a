// Processes that use shared memory with each other, and an adversary that shares memory with all of them. Two of them
// write to each other all the time and must not notice it; a third connects to the adversary again and again, and may
// only see its own requests fail.
//
//   shm_adversary [SECONDS [SEED]]
#include <poll.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "test/adversary/adversary.h"
#include "test/processes/peer.h"

using namespace verbs::soft::test::processes;
namespace wire = verbs::soft::wire;

namespace {

using Clock = std::chrono::steady_clock;

wire::Gid gid_of(const Peer& peer) { return wire::Gid::from_bytes(peer.address().gid.raw); }

verbs::soft::test::adversary::Victim victim(const Peer& peer) {
  const Address& address = peer.address();
  return {gid_of(peer), address.qpn, address.memory, address.rkey};
}

void connect(Peer& a, Peer& b) {
  require(a.ask(Command::kConnect, b.address()) == IBV_WC_SUCCESS, "connect");
  require(b.ask(Command::kConnect, a.address()) == IBV_WC_SUCCESS, "connect");
}

void run(double seconds, std::uint32_t seed) {
  Peer writer, target, third;
  connect(writer, target);
  require(writer.ask(Command::kWriteSome) == IBV_WC_SUCCESS, "the first writes");
  const std::uint8_t address[4] = {127, 99, static_cast<std::uint8_t>(getpid()),
                                   static_cast<std::uint8_t>(getpid() >> 8)};
  const wire::Gid own = wire::Gid::from_ipv4(address);
  const pid_t attacker =
      verbs::soft::test::adversary::start(own, {victim(writer), victim(target), victim(third)}, seed);
  require(attacker > 0, "no adversary");
  writer.send(Command::kWriteForever);

  Address attackers{};
  attackers.qpn = 17;
  std::memcpy(attackers.gid.raw, own.bytes.data(), sizeof attackers.gid.raw);
  int failures = 0;
  for (const auto end = Clock::now() + std::chrono::duration<double>(seconds); Clock::now() < end; ++failures) {
    require(third.ask(Command::kConnect, attackers) == IBV_WC_SUCCESS, "connect to the adversary");
    const Command command = failures % 2 == 0 ? Command::kReadForever : Command::kWriteForever;
    require(third.ask(command) != IBV_WC_SUCCESS, "requests to an adversary end with an error");
    require(third.ask(Command::kStartAnew) == IBV_WC_SUCCESS, "start anew");
  }
  require(waitpid(attacker, nullptr, WNOHANG) == 0, "the adversary has ended by itself");
  ::kill(attacker, SIGKILL);
  waitpid(attacker, nullptr, 0);

  require(writer.alive() && target.alive() && third.alive(), "a process has ended");
  require(!writer.has_answer(), "the writes to another process have failed");
  target.kill();
  require(writer.answer() == IBV_WC_RETRY_EXC_ERR, "the writes to a process that was killed");
  require(writer.ask(Command::kStartAnew) == IBV_WC_SUCCESS && third.ask(Command::kStartAnew) == IBV_WC_SUCCESS,
          "anew");
  connect(writer, third);
  require(writer.ask(Command::kWriteSome) == IBV_WC_SUCCESS, "the last writes");
  std::printf("an adversary for %.0f s with seed %u: %d of its own connections failed, nothing else\n", seconds, seed,
              failures);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("VERBS_SOFT", "soft0,link=shm", 1);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  const std::uint32_t seed =
      argc > 2 ? static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)) : std::random_device{}();
  try {
    run(seconds, seed);
    return 0;
  } catch (const std::exception& error) {
    std::printf("with seed %u: FAILED: %s\n", seed, error.what());
    return 1;
  }
}
