// Whether a thread polls so often that nobody else need wait for packets, and for how long to believe it.
//
// A thread that polls all the time does so every microsecond or two; one that computes, or has a timer, every
// millisecond or ten, perhaps a few times in a row. Only the first is as fast as a thread that sleeps until a packet
// wakes it. Polls that take long, because they handle many packets, are few as well: so a thread that was seen to poll
// often is believed as long as its last poll is recent. A thread that posts one request after the other polls rarely,
// but its posts receive now and then, and count like polls.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host/progress/clock.h"

namespace verbs::soft::host {

class PollRate {
 public:
  static constexpr Nanos kGap = 20'000;           // between two polls of a thread that polls often, at most
  static constexpr std::uint64_t kPolls = 6;      // this number of polls is no coincidence
  static constexpr Nanos kWindow = 200'000;       // in which they are counted
  static constexpr Nanos kRecent = 100'000;       // a recent poll, at most
  static constexpr Nanos kFirstBelief = 50'000;   // doubles with each confirmation, so that a thread that polled
  static constexpr Nanos kBelief = kMillisecond;  // in one burst is not believed for long
  static constexpr Nanos kStale = kGap / 2;       // after that long without a poll a post receives

  void count() { ++polls_; }
  void stamp(Nanos time) {
    polled_at_ = time;
    posts_ = 0;
  }
  // A thread woke to fetch an event: its posts are no series.
  void fetched() { posts_ = 0; }
  // A thread posts. True: it is one of a series, and nobody has polled for a while.
  bool posted(Nanos time) { return ++posts_ > 1 && time - polled_at_ > kStale; }

  // How long to leave the packets to the threads that poll, from `time` on; 0: not at all.
  Nanos judge(Nanos time) {
    const std::uint64_t polls = polls_ - counted_;
    const Nanos elapsed = time - since_;
    const bool many = polls >= kPolls && elapsed <= static_cast<Nanos>(polls) * kGap;
    const bool still = belief_ != 0 && polls != 0 && time - polled_at_ <= std::min(belief_ / 2, kRecent);
    if (many || still) {
      belief_ = belief_ == 0 ? kFirstBelief : std::min(2 * belief_, kBelief);
    } else {
      belief_ = 0;
    }
    if (belief_ != 0 || elapsed >= kWindow) {
      counted_ = polls_;
      since_ = time;
    }
    return belief_;
  }

 private:
  std::uint64_t polls_ = 0;
  std::uint64_t posts_ = 0;  // since the last poll or fetch
  Nanos polled_at_ = INT64_MIN / 2;
  std::uint64_t counted_ = 0;  // at `since_`
  Nanos since_ = 0;
  Nanos belief_ = 0;
};

}  // namespace verbs::soft::host
