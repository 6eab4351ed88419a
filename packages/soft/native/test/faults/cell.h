// One cell of the matrix: a stream of messages of one operation, over a link with one fault, by one seed, in virtual
// time. It checks everything that both ends see, and throws Wrong for an error.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "test/faults/fault_case.h"
#include "test/faults/operation.h"

namespace verbs::soft::test::faults {

struct Cell {
  const Operation* operation;
  const FaultCase* fault;
  unsigned repetition;
};

// "send/drop_5/2"
std::string name_of(const Cell& cell);

struct Result {
  std::uint64_t hash = 0;  // over all packets, completions, events and counters of both ends
  int messages = 0;
  int completed = 0;  // successfully, as the sender sees it
  int received = 0;
  std::uint64_t retransmitted = 0;
  std::int64_t nanoseconds = 0;  // virtual
};

class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Result run_cell(const Cell& cell, std::uint64_t seed);

}  // namespace verbs::soft::test::faults
