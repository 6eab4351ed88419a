// XRC domains: what shared receive queues and target QPs have in common that work together.
#pragma once

#include <cstdint>
#include <optional>

#include "nic/nic.h"

namespace verbs::soft::nic {

class Xrcd {
 public:
  std::uint32_t handle = 0;
  std::uint32_t users = 0;       // SRQs and target QPs in it
  std::uint32_t opens = 1;       // of a domain that is shared by a file
  std::optional<XrcdFile> file;  // that names it
};

}  // namespace verbs::soft::nic
