// The peers that are no software NICs of this project, as the configuration names them: the kernel's soft-RoCE and
// adapters. They choose the source ports of their packets, and the identifications of IPv4.
#pragma once

#include <cstdint>
#include <vector>

#include "wire/gid.h"

namespace verbs::soft::link {

// The addresses with the same first `length` bits; IPv4 addresses in their mapped form, with 96 more.
struct Network {
  wire::Gid address;
  std::uint8_t length = 128;

  bool contains(const wire::Gid& gid) const;
  bool operator==(const Network&) const = default;
};

class ForeignPeers {
 public:
  void add(const Network& network) { networks_.push_back(network); }
  bool empty() const { return networks_.empty(); }
  bool contains(const wire::Gid& gid) const;
  const std::vector<Network>& networks() const { return networks_; }

 private:
  std::vector<Network> networks_;
};

}  // namespace verbs::soft::link
