// Memory regions, and the kinds of memory behind them.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "link/offered_memory.h"
#include "nic/base/containers.h"
#include "nic/base/limits.h"
#include "nic/objects/device_memory.h"
#include "nic/objects/ports.h"
#include "nic/objects/protection_domain.h"

namespace verbs::soft::nic {

// Memory of a descriptor, which the NIC maps itself: a memory file (memfd) that cannot shrink. It stays mapped until
// the region of it is gone. A forked child shares it.
//
// The pages of up to 64 MiB are there from the start. But whoever has the descriptor may punch holes into the file, and
// the kernel may have no page for the next access then, which is a fault. A seal forbids holes: F_SEAL_WRITE, or
// F_SEAL_FUTURE_WRITE, which leaves the present mappings writable. The program adds the latter when all have mapped the
// file, hence after the registration.
class FileMemory {
 public:
  static bool is_memory_file(int fd);
  // `fd` remains the caller's. 0; EINVAL for other files, and for a range that the file does not have; EPERM if
  // it is to be written and may not be; ENOMEM if there are not pages for all of it; or what else mmap() says. Makes
  // system calls: the caller must not hold a lock.
  static int map(int fd, std::uint64_t offset, std::size_t length, bool writable, std::unique_ptr<FileMemory>* memory);
  ~FileMemory();
  FileMemory(const FileMemory&) = delete;
  FileMemory& operator=(const FileMemory&) = delete;

  std::uint8_t* address() const { return pages_ + skipped_; }  // of the offset
  // No access can fault any more, as far as the machine is sound: no hole can be made, and there is none. Looks for the
  // seal now and then.
  bool lasts() { return lasts_ || (looks_++ % kLooksApart == 0 && look_for_seal()); }
  // To processes that may map it as well.
  link::Offer offer() const;

 private:
  static constexpr unsigned kLooksApart = 64;

  FileMemory(int fd, std::uint8_t* pages, std::size_t size, std::uint64_t offset, std::size_t skipped, bool writable)
      : fd_(fd), pages_(pages), size_(size), offset_(offset), skipped_(skipped), writable_(writable) {}
  bool look_for_seal();

  int fd_;
  std::uint8_t* pages_;
  std::size_t size_;
  std::uint64_t offset_;  // of the first page
  std::size_t skipped_;   // bytes of it before the memory
  bool writable_;
  bool lasts_ = false;
  unsigned looks_ = 0;
};

// Memory regions: keys, ranges and rights.

class Mr {
 public:
  Pd* pd = nullptr;
  std::uint8_t* address = nullptr;
  std::size_t length = 0;
  std::uint64_t iova = 0;
  unsigned access = 0;
  std::uint32_t key = 0;      // table index << 8 | a byte that changes with every registration
  std::uint32_t windows = 0;  // memory windows bound to it
  bool null = false;          // reads as zeros and ignores writes; has a local key only
  bool kept = false;          // it stays mapped: device memory, or MrTable::keep_mapped()
  bool watched = false;       // it must still be the mapping that was registered (mapping_watch.h)
  bool referred = false;      // READ responses have referred to it: a peer may still read it

  // The device memory or the file behind it; nullptr: the application's memory.
  std::shared_ptr<Dm> dm;
  std::unique_ptr<FileMemory> file;
  std::uint32_t offer = 0;  // … that peers may map; 0: they may not

  // [from, from + size) of the region's address space lies in the region.
  bool covers(std::uint64_t from, std::size_t size) const {
    const std::uint64_t offset = from - iova;
    return offset <= length && size <= length - offset && (!watched || is_unchanged(from, size));
  }
  // The memory behind [from, from + size), or nullptr when the range leaves the region. Not for a null MR. Arithmetic
  // on integers, because an implicit on-demand region begins at nullptr.
  std::uint8_t* at(std::uint64_t from, std::size_t size) const {
    const std::uint64_t offset = from - iova;
    if (offset > length || size > length - offset) return nullptr;
    if (watched && !is_unchanged(from, size)) return nullptr;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(address) + offset);
  }

  // Whether the NIC cannot lose the memory (guarded_memory.h). A file that stays mapped may still lack a page.
  bool lasts() const { return kept || (file && file->lasts()); }

  // The keys that the application sees. A null MR has no remote key.
  std::uint32_t lkey() const { return key; }
  std::uint32_t rkey() const { return null ? 0 : key; }

  // Copies out of and into the region. False when the range leaves the region or its memory is not mapped.
  bool read(void* to, std::uint64_t from, std::size_t size) const;
  bool write(std::uint64_t to, const void* from, std::size_t size) const;

 private:
  bool is_unchanged(std::uint64_t from, std::size_t size) const;
};

// Whether a region of that memory may have those rights: 0, EINVAL, EFAULT, or ENOMEM if it cannot be found out. With
// IBV_ACCESS_ON_DEMAND the memory need not be there yet, and nullptr with SIZE_MAX is the whole address space (an
// implicit region). Puts the fault handler in front. Makes system calls: the caller must not hold a lock.
int check_region(const void* address, std::size_t length, unsigned access);

// Why check_region() says that.
[[gnu::cold]] Why why_no_region(const void* address, std::size_t length, unsigned access, int error);

// Whether a region of a descriptor may have those rights: 0 or EINVAL.
int check_file_access(unsigned access);
inline bool is_written(unsigned access) { return (access & IBV_ACCESS_LOCAL_WRITE) != 0; }

// What a re-registration makes of a region.
struct Rereg {
  bool moves;
  bool changes_pd;
  bool changes_memory;  // check_region() has to agree to the three fields below
  std::uint8_t* address;
  std::size_t length;
  unsigned access;
};

class MrTable {
 public:
  // `offered`: the memory that peers may map, if there are any.
  MrTable(const Limits& limits, const Rules& rules, Ports& ports, link::OfferedMemory* offered)
      : table_(1, static_cast<std::uint32_t>(limits.max_mr)), rules_(rules), ports_(ports), offered_(offered) {}

  // A region that check_region() agreed to. 0 or ENOMEM.
  int reg(Pd* pd, void* address, std::size_t length, std::uint64_t iova, unsigned access, Mr** mr);
  int alloc_null(Pd* pd, Mr** mr);
  int reg_dm(Pd* pd, std::shared_ptr<Dm> dm, std::uint64_t offset, std::size_t length, unsigned access, Mr** mr);
  int reg_file(Pd* pd, std::unique_ptr<FileMemory> file, std::size_t length, std::uint64_t iova, unsigned access,
               Mr** mr);
  // A change of what `flags` (IBV_REREG_MR_*) names, in two steps with the check of the memory between them. 0, or
  // EINVAL for regions without memory of the application and while windows are bound. The keys stay.
  static int plan_rereg(const Mr* mr, int flags, void* address, std::size_t length, unsigned access, Rereg* plan);
  int rereg(Mr* mr, const Rereg& plan, Pd* pd);
  // The caller promises that the memory stays mapped, with the rights that the region needs, until the region ends or
  // is moved by rereg().
  static void keep_mapped(Mr* mr) {
    mr->kept = true;
    mr->watched = false;
  }
  int dereg(Mr* mr);  // 0, or Rules::bound_region_error
  // Before a remote key to it ends: a peer that still has references to it does not use what it reads there.
  void revoke_references(Mr& mr);
  // The application's memory behind an entry of ibv_advise_mr(), whose advice the caller carries out without the lock.
  // 0, ENOENT, EPERM, EINVAL (the region is not on demand) or EFAULT.
  int advised_range(const Pd* pd, const ibv_sge& sge, bool for_writing, void** address) const;

  // The region of `key`, if it belongs to `pd` and grants all of `access`.
  const Mr* find(std::uint32_t key, const Pd* pd, unsigned access) const {
    const Mr* mr = table_.find(key >> 8);
    if (mr == nullptr || mr->key != key || mr->pd != pd || (mr->access & access) != access) return nullptr;
    return mr;
  }

  // The region of `key`, whoever may use it.
  const Mr* find(std::uint32_t key) const {
    const Mr* mr = table_.find(key >> 8);
    return mr != nullptr && mr->key == key ? mr : nullptr;
  }

  // The region of `key`, if it belongs to `pd`.
  Mr* find(std::uint32_t key, const Pd* pd) {
    Mr* mr = table_.find(key >> 8);
    return mr != nullptr && mr->key == key && mr->pd == pd ? mr : nullptr;
  }
  std::size_t count() const { return table_.size(); }
  // `visit(object)` may not make or end one.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    table_.for_each(std::forward<Visit>(visit));
  }

 private:
  int insert(std::unique_ptr<Mr> region, Mr** mr);

  void watch(Mr& mr) const;

  Table<Mr> table_;
  Rules rules_;
  Ports& ports_;
  link::OfferedMemory* offered_;
  std::uint8_t next_byte_ = 0;
};

// On-demand paging capabilities (ibv_device_attr_ex): all of them, because no region is ever pinned and every access is
// guarded (nic/base/guarded_memory.h).

// IBV_ODP_SUPPORT_FLUSH and _ATOMIC_WRITE of headers since 57.
inline constexpr std::uint32_t kOdpFlush = 1u << 6;
inline constexpr std::uint32_t kOdpAtomicWrite = 1u << 7;

inline constexpr std::uint32_t kOdpOperations = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
                                                IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC |
                                                IBV_ODP_SUPPORT_SRQ_RECV | kOdpFlush | kOdpAtomicWrite;
inline constexpr ibv_odp_caps kOdpCaps = {
    .general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT,
    .per_transport_caps = {
        .rc_odp_caps = kOdpOperations,
        .uc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_SRQ_RECV,
        .ud_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV}};
inline constexpr std::uint32_t kXrcOdpCaps = kOdpOperations;

}  // namespace verbs::soft::nic
