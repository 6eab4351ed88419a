// Random sequences of calls. Few here; VERBS_STRESS_ROUNDS says how many more, and VERBS_COMCH_SEED which one alone.
#include "test/comch/chaos.h"

using namespace verbs::doca_comm::model::test;

namespace {

unsigned setting(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

}  // namespace

TEST_CASE(
    "random calls, right and wrong, of both ends: every task comes back, every message is right, all can be "
    "destroyed") {
  constexpr unsigned kCallsOfEach = 60;
  constexpr unsigned kFew = 100;
  Devices devices;
  const unsigned only = setting("VERBS_COMCH_SEED", 0);
  const unsigned sequences = kFew * setting("VERBS_STRESS_ROUNDS", 1);
  for (unsigned seed = only ? only : 1; seed <= (only ? only : sequences); ++seed) {
    CAPTURE(seed);
    Chaos chaos(devices, seed);
    chaos.begin();
    for (unsigned i = 0; i < kCallsOfEach; ++i) chaos.step();
    chaos.end();
  }
}
