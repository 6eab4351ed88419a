// Closes descriptors whose last close() may sleep: those that another process has sent, and sockets that may hold such
// ones. Threads of its own do it, which exist only meanwhile.
#pragma once

#include <cstddef>

namespace verbs::soft::link {

void close_elsewhere(int fd);

// Those that are not closed yet.
std::size_t closing_elsewhere();

}  // namespace verbs::soft::link
