// All cells, in an order in which every beginning is a good sample of the whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/faults/cell.h"

namespace verbs::soft::test::faults {

// The first `count` cells: every operation with every fault that applies to it, then all again with other numbers.
std::vector<Cell> cells(std::size_t count);
// How many pairs of operation and fault there are.
std::size_t pair_count();
// The cell of a name ("send/drop_5/2"); false if there is none.
bool find_cell(const std::string& name, Cell* cell);
// A cell's own seed depends on its name and on the seed of the run, not on which cells run beside it.
std::uint64_t seed_of(const Cell& cell, std::uint64_t run_seed);

}  // namespace verbs::soft::test::faults
