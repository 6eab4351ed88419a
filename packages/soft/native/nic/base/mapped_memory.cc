#include "nic/base/mapped_memory.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace verbs::soft::nic {
namespace {

// MADV_POPULATE_READ and _WRITE (Linux 5.14), which older C libraries do not name.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;

// Pages that are populated to find out whether they are mapped, as pinning would populate them.
constexpr std::size_t kSmall = std::size_t{16} << 20;      // instead of reading the list of all mappings
constexpr std::size_t kPinnable = std::size_t{256} << 20;  // when there is no other way

// PROCMAP_QUERY of <linux/fs.h> (Linux 6.11), which older headers lack: the mapping that covers an address.
struct MappingQuery {
  static constexpr std::uint64_t kReadable = 1;
  static constexpr std::uint64_t kWritable = 2;

  std::uint64_t size;
  std::uint64_t query_flags;
  std::uint64_t query_addr;
  std::uint64_t vma_start;
  std::uint64_t vma_end;
  std::uint64_t vma_flags;
  std::uint64_t vma_page_size;
  std::uint64_t vma_offset;
  std::uint64_t inode;
  std::uint32_t dev_major;
  std::uint32_t dev_minor;
  std::uint32_t vma_name_size;
  std::uint32_t build_id_size;
  std::uint64_t vma_name_addr;
  std::uint64_t build_id_addr;
};
constexpr unsigned long kQueryMapping = _IOWR('f', 17, MappingQuery);

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
  bool writable;
};

std::uintptr_t page_mask() {
  static const std::uintptr_t kMask = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)) - 1;
  return kMask;
}

// 0, EFAULT, or ENOTTY if the kernel does not answer queries.
int query_mappings(int maps, const Range& range) {
  for (std::uintptr_t next = range.begin; next < range.end;) {
    MappingQuery query{};
    query.size = sizeof query;
    query.query_flags = MappingQuery::kReadable | (range.writable ? MappingQuery::kWritable : 0);
    query.query_addr = next;
    if (ioctl(maps, kQueryMapping, &query) != 0) return errno == ENOENT ? EFAULT : ENOTTY;
    next = query.vma_end;
  }
  return 0;
}

// Calls visit(start, end, readable, writable) for each mapping in ascending order until it returns false.
template <typename Visit>
void for_each_mapping(int maps, Visit visit) {
  char buffer[16384];
  std::size_t used = 0;
  bool more = true;
  while (more) {
    const ssize_t got = read(maps, buffer + used, sizeof buffer - 1 - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
    buffer[used] = '\0';
    char* line = buffer;
    while (more) {
      char* end = static_cast<char*>(std::memchr(line, '\n', used - static_cast<std::size_t>(line - buffer)));
      if (end == nullptr) break;
      std::uintptr_t from = 0;
      std::uintptr_t to = 0;
      char access[5] = {};
      if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, access) == 3) {
        more = visit(from, to, access[0] == 'r', access[1] == 'w');
      }
      line = end + 1;
    }
    used -= static_cast<std::size_t>(line - buffer);
    std::memmove(buffer, line, used);
  }
}

int read_mappings(int maps, const Range& range) {
  std::uintptr_t next = range.begin;
  for_each_mapping(maps, [&](std::uintptr_t from, std::uintptr_t to, bool can_read, bool can_write) {
    if (to <= next) return true;
    if (from > next || !can_read || (range.writable && !can_write)) return false;
    next = to;
    return next < range.end;
  });
  return next >= range.end ? 0 : EFAULT;
}

int populate_range(const Range& range) {
  const std::uintptr_t from = range.begin & ~page_mask();
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return populate_pages(reinterpret_cast<void*>(from), range.end - from, range.writable);
}

// Without the list of mappings: no descriptor is left, or there is no /proc.
int check_without_list(const Range& range) {
  if (range.end - range.begin > kPinnable) return ENOMEM;
  const int error = populate_range(range);
  if (error == EAGAIN) return ENOMEM;
  return error == 0 ? 0 : EFAULT;
}

int check_range(const Range& range) {
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return check_without_list(range);
  int error = query_mappings(maps, range);
  if (error == ENOTTY) {
    const bool populated = range.end - range.begin <= kSmall && populate_range(range) == 0;
    error = populated ? 0 : read_mappings(maps, range);
  }
  close(maps);
  return error;
}

}  // namespace

int check_mapped(const void* address, std::size_t size, bool writable) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (begin + size < begin) return EINVAL;
  const int saved = errno;
  const int error = check_range({begin, begin + size, writable});
  errno = saved;
  return error;
}

bool has_page_offset_of(const void* memory, std::uint64_t iova) {
  return ((reinterpret_cast<std::uintptr_t>(memory) ^ iova) & page_mask()) == 0;
}

int populate_pages(void* pages, std::size_t size, bool writable) {
  return madvise(pages, size, writable ? kPopulateWrite : kPopulateRead) == 0 ? 0 : errno;
}

int populate(void* address, std::size_t size, bool writable) {
  if (size == 0) return 0;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const int error = populate_range({begin, begin + size, writable});
  if (error == 0) return 0;
  // Of a failure the list of mappings has the reason, and kernels that cannot populate leave it to the access.
  return error == EAGAIN ? ENOMEM : check_mapped(address, size, writable);
}

int write_back(void* at, std::size_t size) {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(at) & page_mask();
  return msync(static_cast<std::uint8_t*>(at) - offset, size + offset, MS_SYNC) == 0 ? 0 : errno;
}

}  // namespace verbs::soft::nic
