#include "nic/objects/memory_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "guard/fault_handler.h"
#include "nic/base/containers.h"
#include "nic/base/guarded_memory.h"
#include "nic/base/mapped_memory.h"
#include "nic/base/mapping_watch.h"

namespace verbs::soft::nic {
namespace {

constexpr unsigned kWriters =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
// Rights to flush to memory (bits 8 and 9 of the kernel's flags): later headers name them.
constexpr unsigned kFlush = 3u << 8;
constexpr unsigned kKnown = kWriters | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND |
                            IBV_ACCESS_HUGETLB | kFlush | IBV_ACCESS_OPTIONAL_RANGE;

int check_access(unsigned access) {
  if ((access & ~kKnown) != 0) return EINVAL;
  // IBTA 10.6.3.1: remote write access needs local write access.
  const bool remote_writes = (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
  return remote_writes && (access & IBV_ACCESS_LOCAL_WRITE) == 0 ? EINVAL : 0;
}

}  // namespace

// IBV_ACCESS_HUGETLB promises huge pages; nothing here depends on the page size.
int check_region(const void* address, std::size_t length, unsigned access) {
  if (const int error = check_access(access)) return error;
  // The kernel pins pages: a region without a byte, but within a page, has one.
  if (length == 0 && has_page_offset_of(address, 0)) return EINVAL;
  guard::put_in_front();
  if ((access & IBV_ACCESS_ON_DEMAND) == 0) {
    return check_mapped(address, std::max<std::size_t>(length, 1), (access & kWriters) != 0);
  }
  if (address == nullptr && length == SIZE_MAX) return (access & IBV_ACCESS_HUGETLB) != 0 ? EINVAL : 0;
  return reinterpret_cast<std::uintptr_t>(address) + length < length ? EINVAL : 0;
}

Why why_no_region(const void* address, std::size_t length, unsigned access, int error) {
  if (error != EINVAL) return {Reason::kUnmapped, {length, reinterpret_cast<std::uintptr_t>(address)}};
  const bool known = (access & ~kKnown) == 0;
  return {known && check_access(access) != 0 ? Reason::kRemoteWithoutLocal : Reason::kUnknownAccess, {access}};
}

int check_file_access(unsigned access) {
  constexpr unsigned kAllowed = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_OPTIONAL_RANGE;
  return (access & ~kAllowed) != 0 ? EINVAL : check_access(access);
}

bool Mr::read(void* to, std::uint64_t from, std::size_t size) const {
  if (null) {
    if (!covers(from, size)) return false;
    std::memset(to, 0, size);
    return true;
  }
  const std::uint8_t* memory = at(from, size);
  return memory != nullptr && guarded_copy(to, memory, size, lasts());
}

bool Mr::write(std::uint64_t to, const void* from, std::size_t size) const {
  if (null) return covers(to, size);
  std::uint8_t* memory = at(to, size);
  return memory != nullptr && guarded_copy(memory, from, size, lasts());
}

bool Mr::is_unchanged(std::uint64_t from, std::size_t size) const {
  return size == 0 || is_same_mapping(address + (from - iova), size);
}

// A region on demand follows the mappings of the program.
void MrTable::watch(Mr& mr) const {
  mr.watched = rules_.strict && (mr.access & IBV_ACCESS_ON_DEMAND) == 0 && watch_mapping(mr.address, mr.length);
}

int MrTable::insert(std::unique_ptr<Mr> region, Mr** mr) {
  Mr* raw = region.get();
  const std::uint32_t index = table_.insert(std::move(region));
  if (index == 0) return ENOMEM;
  raw->key = index << 8 | ++next_byte_;
  ++raw->pd->users;
  *mr = raw;
  return 0;
}

int MrTable::reg(Pd* pd, void* address, std::size_t length, std::uint64_t iova, unsigned access, Mr** mr) {
  auto region = std::make_unique<Mr>();
  region->pd = pd;
  region->address = static_cast<std::uint8_t*>(address);
  region->length = length;
  region->iova = (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova;
  region->access = access;
  watch(*region);
  return insert(std::move(region), mr);
}

int MrTable::alloc_null(Pd* pd, Mr** mr) {
  auto region = std::make_unique<Mr>();
  region->pd = pd;
  region->length = SIZE_MAX;
  region->access = IBV_ACCESS_LOCAL_WRITE;
  region->null = true;
  return insert(std::move(region), mr);
}

int MrTable::reg_dm(Pd* pd, std::shared_ptr<Dm> dm, std::uint64_t offset, std::size_t length, unsigned access,
                    Mr** mr) {
  constexpr unsigned kAllowed = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_OPTIONAL_RANGE;
  if (const int error = check_access(access)) return error;
  const bool zero_based = (access & IBV_ACCESS_ZERO_BASED) != 0;
  if ((access & ~kAllowed) != 0 || !zero_based || !dm->covers(offset, length)) return EINVAL;
  auto region = std::make_unique<Mr>();
  region->pd = pd;
  region->address = dm->address + offset;
  region->length = length;
  region->access = access;
  region->kept = true;
  region->dm = std::move(dm);
  if (const int error = insert(std::move(region), mr)) return error;
  ++(*mr)->dm->regions;
  return 0;
}

int MrTable::reg_file(Pd* pd, std::unique_ptr<FileMemory> file, std::size_t length, std::uint64_t iova, unsigned access,
                      Mr** mr) {
  auto region = std::make_unique<Mr>();
  region->pd = pd;
  region->address = file->address();
  region->length = length;
  region->iova = iova;
  region->access = access;
  region->file = std::move(file);
  if (const int error = insert(std::move(region), mr)) return error;
  if (offered_ != nullptr) (*mr)->offer = offered_->add((*mr)->file->offer());
  return 0;
}

int MrTable::plan_rereg(const Mr* mr, int flags, void* address, std::size_t length, unsigned access, Rereg* plan) {
  if (mr->null || mr->dm || mr->file || mr->windows > 0) return EINVAL;
  const bool moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
  const bool changes_access = (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0;
  *plan = {.moves = moves,
           .changes_pd = (flags & IBV_REREG_MR_CHANGE_PD) != 0,
           .changes_memory = moves || changes_access,
           .address = moves ? static_cast<std::uint8_t*>(address) : mr->address,
           .length = moves ? length : mr->length,
           .access = changes_access ? access : mr->access};
  return 0;
}

int MrTable::rereg(Mr* mr, const Rereg& plan, Pd* pd) {
  if (mr->windows > 0) return EINVAL;  // bound since the plan was made
  revoke_references(*mr);
  if (plan.changes_pd) {
    --mr->pd->users;
    mr->pd = pd;
    ++pd->users;
  }
  const bool was_zero_based = (mr->access & IBV_ACCESS_ZERO_BASED) != 0;
  const bool zero_based = (plan.access & IBV_ACCESS_ZERO_BASED) != 0;
  if (plan.moves || zero_based != was_zero_based) {
    mr->iova = zero_based ? 0 : reinterpret_cast<std::uintptr_t>(plan.address);
  }
  if (plan.moves) mr->kept = false;
  mr->address = plan.address;
  mr->length = plan.length;
  mr->access = plan.access;
  if (!mr->kept) watch(*mr);
  return 0;
}

void MrTable::revoke_references(Mr& mr) {
  if (mr.referred) ports_.revoke_references();
  mr.referred = false;
}

int MrTable::dereg(Mr* mr) {
  if (mr->windows > 0) return rules_.bound_region_error;
  revoke_references(*mr);
  --mr->pd->users;
  if (mr->dm) --mr->dm->regions;
  if (mr->offer != 0) offered_->withdraw(mr->offer);
  erase(table_, mr->key >> 8);
  return 0;
}

int MrTable::advised_range(const Pd* pd, const ibv_sge& sge, bool for_writing, void** address) const {
  const Mr* mr = table_.find(sge.lkey >> 8);
  if (mr == nullptr || mr->key != sge.lkey) return ENOENT;
  if (mr->pd != pd || (for_writing && (mr->access & IBV_ACCESS_LOCAL_WRITE) == 0)) return EPERM;
  if ((mr->access & IBV_ACCESS_ON_DEMAND) == 0) return EINVAL;
  if (!mr->covers(sge.addr, sge.length)) return EFAULT;
  *address = mr->at(sge.addr, sge.length);
  return 0;
}

namespace {

constexpr std::uint64_t kPage = 4096;
// F_SEAL_FUTURE_WRITE (Linux 5.1), which older C libraries do not name.
constexpr int kSealFutureWrite = 0x10;
// The most that is populated. Larger files may have more pages than the machine has, and are not looked through between
// two messages, which takes a millisecond for this size.
constexpr std::size_t kMostAtOnce = std::size_t{64} << 20;

int check_file(int fd, std::uint64_t offset, std::size_t length) {
  struct stat status{};
  if (fstat(fd, &status) != 0) return errno;
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return EINVAL;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  return length == 0 || offset > size || length > size - offset ? EINVAL : 0;
}

}  // namespace

bool FileMemory::is_memory_file(int fd) { return fcntl(fd, F_GET_SEALS) >= 0; }

int FileMemory::map(int fd, std::uint64_t offset, std::size_t length, bool writable,
                    std::unique_ptr<FileMemory>* memory) {
  if (const int error = check_file(fd, offset, length)) return error;
  const auto skipped = static_cast<std::size_t>(offset % kPage);
  const std::size_t size = skipped + length;
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return errno;
  const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
  void* pages = mmap(nullptr, size, protection, MAP_SHARED, own, static_cast<off_t>(offset - skipped));
  if (pages == MAP_FAILED) {
    const int error = errno == EACCES ? EPERM : errno;
    close(own);
    return error;
  }
  const int populated = size <= kMostAtOnce ? populate_pages(pages, size, writable) : 0;
  if (populated != 0 && populated != EINVAL) {  // EINVAL: a kernel that cannot
    munmap(pages, size);
    close(own);
    return ENOMEM;
  }
  try {
    memory->reset(new FileMemory(own, static_cast<std::uint8_t*>(pages), size, offset - skipped, skipped, writable));
  } catch (...) {  // there is no memory
    munmap(pages, size);
    close(own);
    throw;
  }
  guard::put_in_front();
  return 0;
}

FileMemory::~FileMemory() {
  munmap(pages_, size_);
  close(fd_);
}

bool FileMemory::look_for_seal() {
  const int seals = fcntl(fd_, F_GET_SEALS);
  if (seals < 0 || (seals & (F_SEAL_WRITE | kSealFutureWrite)) == 0) return false;
  // Holes that were made before the seal. Without memory for them the guard remains, as for other memory.
  lasts_ = size_ <= kMostAtOnce && populate_pages(pages_, size_, writable_) == 0;
  return lasts_;
}

link::Offer FileMemory::offer() const {
  return {.address = reinterpret_cast<std::uintptr_t>(pages_),
          .size = size_,
          .offset = offset_,
          .fd = static_cast<std::uint32_t>(fd_)};
}

}  // namespace verbs::soft::nic
