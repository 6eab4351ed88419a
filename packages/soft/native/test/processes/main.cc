// Two real processes on the loopback network: one is killed, or memory goes away under its region. The other is told by
// the status of a completion, in time.
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>

#include "test/processes/peer.h"

using namespace verbs::soft::test::processes;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// (retry_cnt + 1) times the ACK timeout of 4.096 us * 2^timeout.
constexpr double kRetryTime = (Endpoint::kRetries + 1) * 4.096e-6 * (1 << Endpoint::kTimeout);
// Busy machines give processes their turn late.
constexpr double kSlack = 5;

void connect(Peer& a, Peer& b) {
  require(a.ask(Command::kConnect, b.address()) == IBV_WC_SUCCESS, "connect");
  require(b.ask(Command::kConnect, a.address()) == IBV_WC_SUCCESS, "connect");
}

void expect(ibv_wc_status status, ibv_wc_status wanted) {
  require(status == wanted, std::string("the status is \"") + ibv_wc_status_str(status) + "\" instead of \"" +
                                ibv_wc_status_str(wanted) + "\"");
}

// Both write to each other, or read, all the time, and one is killed.
std::string kill_one(bool first, Command command) {
  Peer a, b;
  connect(a, b);
  require(a.ask(Command::kWriteSome) == IBV_WC_SUCCESS, "write");
  a.send(command);
  b.send(command);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Peer& victim = first ? a : b;
  Peer& survivor = first ? b : a;
  const auto killed = Clock::now();
  victim.kill();
  expect(survivor.answer(), IBV_WC_RETRY_EXC_ERR);
  const double seconds = seconds_since(killed);
  require(seconds < kRetryTime + kSlack, "it took " + std::to_string(seconds) + " s");
  char text[96];
  std::snprintf(text, sizeof text, "RETRY_EXC_ERR after %.3f s; the retries take %.3f s", seconds, kRetryTime);
  return text;
}

// The requests of the other wait, and are retransmitted, until it goes on.
std::string stop_for_a_while(Command command) {
  Peer a, b;
  connect(a, b);
  require(a.ask(Command::kWriteSome) == IBV_WC_SUCCESS, "write");
  b.stop();
  a.send(command);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const bool early = a.has_answer();
  b.go_on();
  expect(a.answer(), IBV_WC_SUCCESS);
  require(!early, "a process that is stopped has answered");
  return "all requests complete";
}

std::string stop_for_good() {
  Peer a, b;
  connect(a, b);
  require(a.ask(Command::kWriteSome) == IBV_WC_SUCCESS, "write");
  b.stop();
  expect(a.ask(Command::kWriteForever), IBV_WC_RETRY_EXC_ERR);
  Peer c;
  require(a.ask(Command::kStartAnew) == IBV_WC_SUCCESS, "start anew");
  connect(a, c);
  expect(a.ask(Command::kWriteSome), IBV_WC_SUCCESS);
  return "RETRY_EXC_ERR; it goes on with another peer";
}

// After an error both processes and their devices are still well.
void expect_well(Peer& a, Peer& b) {
  require(a.alive() && b.alive(), "a process has ended");
  require(a.ask(Command::kStartAnew) == IBV_WC_SUCCESS && b.ask(Command::kStartAnew) == IBV_WC_SUCCESS, "start anew");
  connect(a, b);
  expect(a.ask(Command::kWriteSome), IBV_WC_SUCCESS);
  expect(b.ask(Command::kWriteSome), IBV_WC_SUCCESS);
}

std::string unmap_remote(Command command) {
  Peer a, b;
  connect(a, b);
  a.send(command);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  b.ask(Command::kUnmap);
  expect(a.answer(), IBV_WC_REM_ACCESS_ERR);
  expect_well(a, b);
  return "REM_ACCESS_ERR; both go on";
}

std::string unmap_local(Command command) {
  Peer a, b;
  connect(a, b);
  require(a.ask(Command::kWriteSome) == IBV_WC_SUCCESS, "write");
  expect(a.ask(command), IBV_WC_LOC_PROT_ERR);
  expect_well(a, b);
  return "LOC_PROT_ERR; both go on";
}

struct Scenario {
  const char* name;
  std::function<std::string()> run;
};

}  // namespace

int main() {
  const Scenario scenarios[] = {
      {"kill -9 of the first of two that write to each other", [] { return kill_one(true, Command::kWriteForever); }},
      {"kill -9 of the second of two that write to each other", [] { return kill_one(false, Command::kWriteForever); }},
      {"kill -9 of one of two that read each other's memory", [] { return kill_one(true, Command::kReadForever); }},
      {"SIGSTOP for 0.2 s of the one that is written to", [] { return stop_for_a_while(Command::kWriteSome); }},
      {"SIGSTOP for 0.2 s of the one that is read from", [] { return stop_for_a_while(Command::kReadSome); }},
      {"SIGSTOP for good of the one that is written to", stop_for_good},
      {"munmap under the region that the peer writes to", [] { return unmap_remote(Command::kWriteForever); }},
      {"munmap under the region that the peer reads", [] { return unmap_remote(Command::kReadForever); }},
      {"munmap under the region that is written from", [] { return unmap_local(Command::kUnmapAndWrite); }},
      {"munmap under the region that is read into", [] { return unmap_local(Command::kUnmapAndRead); }},
  };
  int failures = 0;
  for (const Scenario& scenario : scenarios) {
    try {
      std::printf("%s: %s\n", scenario.name, scenario.run().c_str());
    } catch (const std::exception& error) {
      std::printf("%s: FAILED: %s\n", scenario.name, error.what());
      ++failures;
    }
    std::fflush(stdout);
  }
  return failures == 0 ? 0 : 1;
}
