// Shows to the preloaded library what the devices of this process look like (machine/live_files.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace verbs::soft::host {

// Whether such a library is there, on a machine.
bool has_live_view();

// From now on the files of the devices are in the tree at `root`, with these paths and contents instead of the tree's.
// Under the registry's lock.
void show_live_files(const std::string& root, const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace verbs::soft::host
