// The fault handler of the process, for SIGSEGV and SIGBUS. There is one for the NIC and all models. A fault belongs to
// a guarded access of its thread (access_guard.h), to a watched range, or to somebody else: then it
// is passed on to the handler that was there before, once.
#pragma once

namespace verbs::soft::guard {

// Puts the handler in front of the one that is installed, unless it is in front. Call it whenever memory that may fault
// becomes known: at each registration. Takes no lock.
void put_in_front();

// The same for the many steps of the data path, at little cost: the first 16 steps after put_in_front() and after each
// tick of the system's coarse clock (1 to 4 ms) look, and each 64th of the others. Nothing before the first
// put_in_front().
void stay_in_front();

}  // namespace verbs::soft::guard
