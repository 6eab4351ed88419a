#include "link/sharing/number_ranges.h"

#include <unistd.h>

#include <cerrno>
#include <random>
#include <string>

#include "link/doors/local_socket.h"

namespace verbs::soft::link {
namespace {

// A device with many queue pairs takes the ranges behind its first one: those behind 0, which most devices have, and
// the upper half, from which programs choose numbers, are nobody's first.
constexpr Range kFirstRandom = 256, kLastRandom = 2047;
constexpr int kTries = 64;

}  // namespace

std::shared_ptr<NumberRanges> NumberRanges::all() {
  static auto* const kAll = new std::shared_ptr<NumberRanges>(new NumberRanges(true));  // outlives every thread
  return *kAll;
}

int NumberRanges::claim(std::shared_ptr<NumberRanges>* ranges) {
  const std::shared_ptr<NumberRanges> made(new NumberRanges(false));
  int error = made->lock(0);
  Range range = 0;
  std::minstd_rand random(std::random_device{}());
  for (int i = 0; error == EADDRINUSE && i < kTries; ++i) {
    range = static_cast<Range>(kFirstRandom + random() % (kLastRandom - kFirstRandom + 1));
    error = made->lock(range);
  }
  for (Range next = 1; error == EADDRINUSE && next <= kLastRandom; ++next) error = made->lock(range = next);
  if (error != 0) return error;
  made->first_ = made->last_ = range;
  *ranges = made;
  return 0;
}

int NumberRanges::claim_next() {
  if (all_) return 0;
  if (last_ + 1u >= kRanges) return EADDRINUSE;
  const auto next = static_cast<Range>(last_ + 1);
  if (const int error = owns(next) ? 0 : lock(next)) return error;
  last_ = next;
  return 0;
}

int NumberRanges::lock(Range range) {
  names_.reserve(names_.size() + 1);
  const std::string name = "verbs-soft/numbers/" + std::to_string(geteuid()) + "/" + std::to_string(range);
  int fd = -1;
  if (const int error = take_name(name, &fd)) return error;
  names_.push_back(fd);
  set(range);
  return 0;
}

void NumberRanges::abandon() {
  for (const int fd : names_) close(fd);
  names_.clear();
}

NumberRanges::~NumberRanges() { abandon(); }

}  // namespace verbs::soft::link
