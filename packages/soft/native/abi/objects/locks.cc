#include "abi/objects/locks.h"

#include "host/fork_order.h"

namespace verbs::soft::abi {
namespace {

// Trivially destructible: threads may outlive the static objects.
constinit std::mutex lock;

[[gnu::constructor]] void register_lock() {
  host::at_fork(host::LockRank::kTable, [] { lock.lock(); }, [] { lock.unlock(); }, [] { lock.unlock(); });
}

}  // namespace

std::mutex& process_lock() { return lock; }

}  // namespace verbs::soft::abi
