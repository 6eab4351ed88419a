// A process of the same user that speaks the protocol of the shared-memory link well enough to be let in, and then does
// its worst with the memory that it shares.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "wire/gid.h"

namespace verbs::soft::test::adversary {

// A process that is attacked, and what it has told the one that connects to it.
struct Victim {
  wire::Gid gid;
  std::uint32_t qpn;
  std::uint64_t memory;
  std::uint32_t rkey;
};

// Starts the process, which ends when it is killed. It connects to the victims, and lets them connect to `own`. The
// seed decides what it writes.
pid_t start(const wire::Gid& own, const std::vector<Victim>& victims, std::uint32_t seed);

}  // namespace verbs::soft::test::adversary
