// What the program was told to do.
#pragma once

#include <cstdint>

namespace verbs::soft::test::threads {

struct Options {
  double seconds = 3;
  int threads = 4;
  std::uint64_t seed = 0;
  bool illegal = false;
};

// Prints what is wrong and ends the program, or prints the usage for --help.
Options read_options(int count, char** arguments);

}  // namespace verbs::soft::test::threads
