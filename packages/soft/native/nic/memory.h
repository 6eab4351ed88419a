// The application's memory. A kernel pins the pages of a memory region, a process cannot: they may be unmapped at any
// time, so every access goes through a copy that survives a fault.
#pragma once

#include <cstddef>

namespace verbs::soft::nic {

// memcpy; false when a page of either side is not there or not accessible (part of the bytes may have been copied).
bool guarded_copy(void* to, const void* from, std::size_t size);

// 0, or EFAULT unless all of [address, address + size) is mapped readable (and writable, if asked).
// Also arms the fault handler that guarded_copy relies on: call it before the first copy of a region.
int check_mapped(const void* address, std::size_t size, bool writable);

}  // namespace verbs::soft::nic
