// Files on the machine, as the kernel would have them for its RDMA devices. Those of one list of devices are made once,
// by the first process that needs them, and do not change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace verbs::soft::host {

struct TreeFile {
  enum class Kind : std::uint8_t { kFile, kNode, kLink };

  std::string name;     // /sys/class/infiniband/...
  std::string content;  // of a link its target
  Kind kind = Kind::kFile;
};

// The folder with the files, and with those of the kernel's own devices beside them. `devices` are the names of the
// devices. Empty: it cannot be made.
std::string make_tree(std::vector<TreeFile> files, const std::vector<std::string>& devices);

}  // namespace verbs::soft::host
