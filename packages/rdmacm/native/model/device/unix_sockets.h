// The abstract Unix sockets of this network namespace: who has bound which name.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace verbs::rdmacm::model {

struct AbstractSocket {
  std::string name;            // without the zero in front
  std::optional<uid_t> owner;  // the kernel does not say it before Linux 5.3, or without UNIX_DIAG
  std::uint32_t inode = 0;     // older sockets have a lower one
};

// Those whose names begin with `prefix`, the oldest first.
std::vector<AbstractSocket> abstract_sockets(const std::string& prefix);

}  // namespace verbs::rdmacm::model
