// Files whose content changes: counters, and what differs for this process (machine/live_files.h). A program gets a
// file in memory of its own with the content of the moment. As a file of sysfs it is made anew whenever it is read from
// its beginning. Its name in the kernel tells what it is, so that it works for descriptors that were passed on.
#pragma once

#include <sys/types.h>

namespace verbs::soft::system {

// In place of `fd`, which a program has just opened in the tree with `flags`: the descriptor of what that file has now.
// -1 and EINVAL where reading the kernel's file fails; `fd` is closed then.
int serve(int fd, int flags);

// Whether this process may hold such a file. Cheap.
bool holds_served();
// Before it is read at `at`, or at its own place (-1): brings its content up to date. 0, or the errno of the reading.
int refresh(int fd, off_t at);

}  // namespace verbs::soft::system
