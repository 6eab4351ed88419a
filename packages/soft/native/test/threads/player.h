// A thread of the game: its random numbers, and the count of its calls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace verbs::soft::test::threads {

// A wrong result ends the program at once.
#define THREADS_CHECK(condition)                                                                      \
  do {                                                                                                \
    if (!(condition)) {                                                                               \
      std::fprintf(stderr, "threads: %s:%d: it must hold that %s\n", __FILE__, __LINE__, #condition); \
      std::_Exit(1);                                                                                  \
    }                                                                                                 \
  } while (false)

struct Tally {
  std::uint64_t succeeded = 0, failed = 0;
};

class Player {
 public:
  Player(std::uint64_t seed, int number, double seconds)
      : state_(seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(number) + 1),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  // A number from 0 to `count` - 1.
  std::uint32_t below(std::uint32_t count) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<std::uint32_t>(state_ >> 33) % count;
  }
  bool one_in(std::uint32_t count) { return below(count) == 0; }
  bool playing() const { return Clock::now() < end_; }

  // Counts a call that gives 0 or an error; returns whether it succeeded.
  bool count(const char* call, int error) {
    Tally& tally = tallies[call];
    ++(error == 0 ? tally.succeeded : tally.failed);
    return error == 0;
  }
  // Counts a call that gives an object or nullptr, and returns it.
  template <typename Object>
  Object* count(const char* call, Object* object) {
    count(call, object == nullptr ? 1 : 0);
    return object;
  }

  std::map<std::string, Tally> tallies;

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t state_;
  Clock::time_point end_;
};

}  // namespace verbs::soft::test::threads
