// The application's memory. A kernel pins the pages of a memory region, a process cannot: they may be unmapped at any
// time, so every access goes through a copy that survives a fault.
#pragma once

#include <cstddef>
#include <cstdint>

namespace verbs::soft::nic {

// memcpy; false when a page of either side is not there or not accessible (part of the bytes may have been copied).
bool guarded_copy(void* to, const void* from, std::size_t size);

// Atomic operations on a naturally aligned word, also against the application's own atomic instructions. `original`
// gets the value before. False when the word is not there or not writable.
bool guarded_compare_swap(void* at, std::uint64_t compare, std::uint64_t swap, std::uint64_t* original);
bool guarded_fetch_add(void* at, std::uint64_t add, std::uint64_t* original);
bool guarded_store(void* at, std::uint64_t value);

// Prepares the process for guarded_copy: call it before the first copy of a region. Cheap when it was called before.
void arm_fault_handler();

// Writes what was stored in the range back to the files that it maps; nothing to do for other memory. 0 or errno:
// ENOMEM when a page is not there.
int write_back(void* at, std::size_t size);

// 0, or EFAULT unless all of [address, address + size) is mapped readable (and writable, if asked); EINVAL if it wraps
// around. Arms the fault handler.
int check_mapped(const void* address, std::size_t size, bool writable);

// Brings the pages of [address, address + size) in, so that an access does not wait for them. 0, or EFAULT if a part is
// not mapped, or not writable and should be; ENOMEM.
int populate(void* address, std::size_t size, bool writable);

}  // namespace verbs::soft::nic
