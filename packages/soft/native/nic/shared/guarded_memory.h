// Access to the application's memory. A kernel pins the pages of a memory region, but a process cannot: they may be
// unmapped at any time. So every access is a guarded copy, which survives a fault.
//
// The guarded calls are for memory of regions, under the device's lock: the thread takes the signals of faults until
// the lock is released (guard/fault_signals.h). Not so for memory that `lasts`, whose pages the NIC has mapped itself
// and cannot lose, or whose owner keeps it mapped: for that a system call in each step would be too much. It is guarded
// all the same, against a machine whose memory or swap device fails.
#pragma once

#include <cstddef>
#include <cstdint>

namespace verbs::soft::nic {

// memcpy. False when a page of either side is not mapped or not accessible; a part of the bytes may have been copied.
bool guarded_copy(void* to, const void* from, std::size_t size, bool lasts);

// The same for memory that the caller of a verb passes and that is copied during the call, as a provider does by
// memcpy: inline data, ibv_memcpy_to_dm(). With or without a lock. The signals of faults stay as they are.
bool copy_argument(void* to, const void* from, std::size_t size);

// Atomic operations on a naturally aligned word. They are atomic towards the application's own atomic instructions too.
// `original` gets the value before. False when the word is not mapped or not writable.
bool guarded_compare_swap(void* at, std::uint64_t compare, std::uint64_t swap, std::uint64_t* original, bool lasts);
bool guarded_fetch_add(void* at, std::uint64_t add, std::uint64_t* original, bool lasts);
bool guarded_store(void* at, std::uint64_t value, bool lasts);

}  // namespace verbs::soft::nic
