// The lock of the tables that all contexts of the process share. It is held across a fork, so that the tables are
// consistent in the child.
#pragma once

#include <mutex>

namespace verbs::soft::abi {

// The innermost lock (host::LockRank::kTable): a thread that holds it only allocates and frees memory.
std::mutex& process_lock();

}  // namespace verbs::soft::abi
