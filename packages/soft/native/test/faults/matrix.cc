#include "test/faults/matrix.h"

#include "test/faults/digest.h"

namespace verbs::soft::test::faults {

namespace {

std::vector<Cell> pairs() {
  std::vector<Cell> all;
  for (const FaultCase& fault : fault_cases()) {
    for (const Operation& operation : operations()) {
      if (applies(fault, operation)) all.push_back({&operation, &fault, 0});
    }
  }
  return all;
}

}  // namespace

std::size_t pair_count() { return pairs().size(); }

std::vector<Cell> cells(std::size_t count) {
  const std::vector<Cell> all = pairs();
  // Steps of about a golden section of the whole spread every beginning over all operations and faults.
  std::size_t step = all.size() * 618 / 1000;
  const auto divides = [&](std::size_t a, std::size_t b) {
    while (b != 0) std::swap(a %= b, b);
    return a != 1;
  };
  while (divides(all.size(), step)) ++step;
  std::vector<Cell> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    Cell cell = all[i % all.size() * step % all.size()];
    cell.repetition = static_cast<unsigned>(1 + i / all.size());
    chosen.push_back(cell);
  }
  return chosen;
}

bool find_cell(const std::string& name, Cell* cell) {
  const std::size_t first = name.find('/'), last = name.rfind('/');
  if (first == std::string::npos || first == last) return false;
  for (const Cell& candidate : pairs()) {
    if (name.substr(0, first) != candidate.operation->name ||
        name.substr(first + 1, last - first - 1) != candidate.fault->name) {
      continue;
    }
    *cell = candidate;
    cell->repetition = static_cast<unsigned>(std::strtoul(name.c_str() + last + 1, nullptr, 10));
    return name_of(*cell) == name;
  }
  return false;
}

std::uint64_t seed_of(const Cell& cell, std::uint64_t run_seed) {
  Digest digest;
  digest.add(run_seed);
  digest.add(name_of(cell));
  return digest.value();
}

}  // namespace verbs::soft::test::faults
