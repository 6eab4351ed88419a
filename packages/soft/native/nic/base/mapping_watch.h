// Whether the memory of a region is still the mapping that was registered. An adapter goes on using the pages that it
// pinned; when the program has mapped others at their addresses since, both sides see different memory, and no error
// says so. A registration cache that misses an unmap ends like that.
#pragma once

#include <cstddef>

namespace verbs::soft::nic {

// Marks the pages of [address, address + size). False where the kernel cannot (userfaultfd, Linux 5.11; memory of files
// 5.19). The mark is that of a page whose writes could be reported; none is. Makes system calls.
bool watch_mapping(const void* address, std::size_t size);

// Whether all of a marked range still has the mark, which a new mapping does not have. A system call.
bool is_same_mapping(const void* address, std::size_t size);

}  // namespace verbs::soft::nic
