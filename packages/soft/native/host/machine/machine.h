// The machine that this process is on: a folder that it shares with other programs of a `verbs run` (machine/folder.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace verbs::soft::host {

// The path of the folder; empty: the process is on no such machine.
const std::string& machine_folder();

// Leaves word that a program of the machine uses the software NIC. Only the first call of a process does something.
void note_use();

// Whether a file may be that long: beyond the process's limit, writing would end it by SIGXFSZ.
bool may_be_long(std::size_t size);

// Files on the machine, as the kernel would have them for its RDMA devices. Those of one list of devices are made once,
// by the first process that needs them, and do not change.

struct TreeFile {
  enum class Kind : std::uint8_t { kFile, kNode, kLink };

  std::string name;     // /sys/class/infiniband/...
  std::string content;  // of a link its target
  Kind kind = Kind::kFile;
};

// The folder with the files, and with those of the kernel's own devices beside them. `devices` are the names of the
// devices. Empty: it cannot be made.
std::string make_tree(std::vector<TreeFile> files, const std::vector<std::string>& devices);

// Shows to the preloaded library what the devices of this process look like (machine/live_files.h).

// Whether such a library is there, on a machine.
bool has_live_view();

// From now on the files of the devices are in the tree at `root`, with these paths and contents instead of the tree's.
// Under the registry's lock.
void show_live_files(const std::string& root, const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace verbs::soft::host
