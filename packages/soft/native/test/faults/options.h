// The command line of the matrix.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace verbs::soft::test::faults {

struct Options {
  std::uint64_t seed = 1;
  std::size_t cells = 600;
  std::string only;  // the name of a cell; empty: all
  bool json = false;
  bool list = false;  // a line for every cell
};

inline constexpr const char* kUsage =
    "usage: fault_matrix [--seed N] [--cells N] [--only OPERATION/FAULT/REPETITION] [--list] [--json]\n"
    "  --seed N    of everything that happens by chance (1)\n"
    "  --cells N   how many cells (600)\n"
    "  --only C    one cell, which runs as it does among the others\n"
    "  --list      a line for every cell, with its hash\n"
    "  --json      the same as one JSON object\n";

// nullopt, after a message on standard error.
std::optional<Options> read_options(int count, char** words);

}  // namespace verbs::soft::test::faults
