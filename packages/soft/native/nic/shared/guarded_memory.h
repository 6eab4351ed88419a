// Access to the application's memory. A kernel pins the pages of a memory region, but a process cannot: they may be
// unmapped at any time. So every access is a guarded copy, which survives a fault.
#pragma once

#include <cstddef>
#include <cstdint>

namespace verbs::soft::nic {

// memcpy. False when a page of either side is not mapped or not accessible; a part of the bytes may have been copied.
bool guarded_copy(void* to, const void* from, std::size_t size);

// Atomic operations on a naturally aligned word. They are atomic towards the application's own atomic instructions too.
// `original` gets the value before. False when the word is not mapped or not writable.
bool guarded_compare_swap(void* at, std::uint64_t compare, std::uint64_t swap, std::uint64_t* original);
bool guarded_fetch_add(void* at, std::uint64_t add, std::uint64_t* original);
bool guarded_store(void* at, std::uint64_t value);

// Installs the fault handler of the guarded copies. Call it before the first copy of a region; later calls are cheap.
void arm_fault_handler();

// Writes the range back to the file that it maps; does nothing for other memory. 0, or ENOMEM when a page is not
// mapped.
int write_back(void* at, std::size_t size);

// 0, or EFAULT unless all of [address, address + size) is mapped readable (and writable, if asked); EINVAL if it wraps
// around. Arms the fault handler.
int check_mapped(const void* address, std::size_t size, bool writable);

// Populates the pages of [address, address + size), so that an access does not wait for them. 0, ENOMEM, or EFAULT if a
// part is not mapped or lacks the wanted protection.
int populate(void* address, std::size_t size, bool writable);

}  // namespace verbs::soft::nic
