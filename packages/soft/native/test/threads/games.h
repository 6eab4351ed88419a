// What the threads play.
#pragma once

#include <vector>

#include "test/threads/options.h"
#include "test/threads/player.h"

namespace verbs::soft::test::threads {

// As the rules of libibverbs for threads allow; checks results and data. Returns the players' tallies.
std::vector<Player> play_legal(const Options& options);
// As they forbid: nothing is checked but that the process lives, and that the devices still work at the end.
std::vector<Player> play_illegal(const Options& options);

}  // namespace verbs::soft::test::threads
