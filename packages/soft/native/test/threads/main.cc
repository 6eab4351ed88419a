// Threads on libibverbs: see options.cc.
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "test/threads/games.h"

using namespace verbs::soft::test::threads;

int main(int count, char** arguments) {
  const Options options = read_options(count, arguments);
  // Packets go from socket to socket: then threads run between sending and receiving.
  setenv("VERBS_SOFT", "a,link=udp;b,link=udp", 0);
  const char* rules = options.illegal ? "illegal" : "legal";
  std::printf("%s, %d threads, %g s, seed %" PRIu64 "\n", rules, options.threads, options.seconds, options.seed);
  std::fflush(stdout);
  alarm(static_cast<unsigned>(options.seconds) + 120);  // a hang ends here, by a signal
  const std::vector<Player> players = options.illegal ? play_illegal(options) : play_legal(options);
  std::map<std::string, Tally> all;
  for (const Player& player : players) {
    for (const auto& [call, tally] : player.tallies) {
      all[call].succeeded += tally.succeeded;
      all[call].failed += tally.failed;
    }
  }
  std::uint64_t calls = 0;
  for (const auto& [call, tally] : all) {
    std::printf("%-26s %10" PRIu64 " succeeded %10" PRIu64 " did not\n", call.c_str(), tally.succeeded, tally.failed);
    calls += tally.succeeded + tally.failed;
  }
  std::printf("%" PRIu64 " calls\n", calls);
  return 0;
}
