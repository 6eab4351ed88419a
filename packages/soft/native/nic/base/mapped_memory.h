// The mappings of the process: what the kernel looks at when it pins the pages of a region.
#pragma once

#include <cstddef>
#include <cstdint>

namespace verbs::soft::nic {

// 0 if all of [address, address + size) is mapped readable (and writable, if asked); EFAULT if it is not, EINVAL if it
// wraps around, ENOMEM if this cannot be found out. Its cost grows with the range's own mappings, not with those of the
// process. Makes system calls: call it without a lock.
int check_mapped(const void* address, std::size_t size, bool writable);

// Whether an address for peers has the offset in its page that the memory has: an adapter translates pages, and the
// kernel refuses other addresses.
bool has_page_offset_of(const void* memory, std::uint64_t iova);

// Populates whole pages, which are mapped: as madvise(MADV_POPULATE_READ) or, if `writable`, MADV_POPULATE_WRITE. 0 or
// errno: a hole is ENOMEM, the wrong protection EINVAL or EFAULT, a kernel that cannot EINVAL.
int populate_pages(void* pages, std::size_t size, bool writable);

// Populates the pages of [address, address + size), so that an access does not wait for them. 0, ENOMEM, or EFAULT if a
// part is not mapped or lacks the wanted protection.
int populate(void* address, std::size_t size, bool writable);

// Writes the range back to the file that it maps; does nothing for other memory. 0, or ENOMEM when a page is not
// mapped.
int write_back(void* at, std::size_t size);

}  // namespace verbs::soft::nic
