// The lock order of the process, and the one place where its locks are taken for a fork.
//
// A fork takes every lock that must be consistent in the child, in the order of the ranks: an outer lock before an
// inner one, as the calls of the library do. pthread_atfork() alone would take them in the reverse order of
// registration, which depends on what a program calls first.
//
// Vendors' models register theirs through the extension table: a lock that a model holds while it calls verbs is
// outside of the NIC's, and one that it takes in the NIC's calls of the model is inside.
#pragma once

#include <cstdint>

namespace verbs::soft::host {

// From the outermost to the innermost. A thread takes locks of a later rank while it holds one of an earlier rank,
// never the reverse. Of equal ranks a thread holds at most one, or they have an order of their own.
enum class LockRank : std::uint8_t {
  kModel,       // of a model, held while it calls verbs
  kRegistry,    // of the registry of devices; then the lock of each open device, under which packets are handled
  kTable,       // of a table: held for a look-up or a change, and no other lock is taken meanwhile
  kModelInner,  // of a model, under which no verb is called
};

using ForkHandler = void (*)();

// Registers handlers for the life of the process; any may be nullptr. `prepare` runs before a fork and takes locks;
// `parent` and `child` run after it, in the reverse order. False if there is no room (a library has a few). Takes no
// lock and needs no memory: call it when the lock comes into being.
bool at_fork(LockRank rank, ForkHandler prepare, ForkHandler parent, ForkHandler child);

}  // namespace verbs::soft::host
