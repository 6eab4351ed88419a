// Somebody on the path between two stations: reads, drops, repeats, reorders, delays, reflects, cuts and rewrites their
// packets as the input says. One that can forge computes the ICRC anew after rewriting; one that cannot is a network
// that damages packets: what it rewrites reaches the NIC only if the ICRC tells the difference.
#pragma once

#include <deque>

#include "fuzz/adversary/station.h"

namespace verbs::soft::fuzz {

class Adversary {
 public:
  Adversary(Input& input, bool forges) : input_(input), forges_(forges) {}

  // Does something with the frames on their way to a station, and appends those that arrive now.
  void act(std::deque<Bytes>& underway, std::vector<Bytes>& arriving);

 private:
  void keep(const Bytes& frame);
  void rewrite(Bytes& frame);
  void rewrite_header(Bytes& frame);
  void resize(Bytes& frame);
  // Whether the frame may arrive: without forging, not if the NIC must take it for another packet than it was.
  bool may_arrive(const Bytes& frame, const Bytes& original) const;

  Input& input_;
  const bool forges_;
  std::deque<Bytes> seen_;  // of both directions
};

}  // namespace verbs::soft::fuzz
