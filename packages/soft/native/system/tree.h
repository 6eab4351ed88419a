// Where the files of the machine's devices are (machine/folder.h). The launcher, or the first program, has made them; a
// program whose NIC has other devices has a tree of its own.
#pragma once

#include <string_view>

#include "machine/folder.h"
#include "system/text.h"

namespace verbs::soft::system {

// The path of this process's tree; nothing: there is none, and every path is the kernel's.
void add_root(Text* text);

// The path of the machine's folder; empty without one.
std::string_view machine_folder();

// The name, as programs know it, of a path that leads into a tree; nothing: it leads into none. "/" for the tree
// itself.
std::string_view name_in_tree(std::string_view path);

// Whether the tree has links to devices of the kernel itself.
bool has_kernels_own();

}  // namespace verbs::soft::system
