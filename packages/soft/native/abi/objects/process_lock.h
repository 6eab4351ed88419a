// The lock of the tables that all contexts of the process share. It is held across a fork, so that a child finds the
// tables in one piece.
#pragma once

#include <mutex>

namespace verbs::soft::abi {

// Held for moments only: nothing is called, allocated objects apart, while somebody holds it.
std::mutex& process_lock();

}  // namespace verbs::soft::abi
