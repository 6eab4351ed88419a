// Paths in a tree, which the kernel tells, become the names that the program knows.
#pragma once

#include <sys/types.h>

namespace verbs::soft::system {

// In place: a name is shorter than its path. nullptr stays.
char* rename_in_tree(char* path);
// Of a text without a zero behind. Its new length.
ssize_t rename_in_tree(char* text, ssize_t length);

}  // namespace verbs::soft::system
