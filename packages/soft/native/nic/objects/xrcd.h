// XRC domains: a shared receive queue and the target QPs that fill it are in the same domain.
#pragma once

#include <cstdint>
#include <optional>

#include "nic/shared/table.h"

namespace verbs::soft::nic {

// The file that names an XRC domain.
struct XrcdFile {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

class Xrcd {
 public:
  std::uint32_t handle = 0;
  std::uint32_t users = 0;       // SRQs and target QPs in it
  std::uint32_t opens = 1;       // more than one only for a domain with a file
  std::optional<XrcdFile> file;  // that names it
};

class XrcdTable {
 public:
  XrcdTable() : table_(1, kMaxXrcds) {}

  // With a file: opens the domain with that name (EINVAL if `exclusive`), or makes one (EAGAIN unless `create`). With
  // nullptr: makes one without a name. ENOMEM. Every open needs a close.
  int open(const XrcdFile* file, bool create, bool exclusive, Xrcd** xrcd);
  // 0, or EBUSY for the last close while objects are in the domain.
  int close(Xrcd* xrcd);

 private:
  static constexpr std::uint32_t kMaxXrcds = 1u << 16;  // ibv_device_attr has no such limit

  Xrcd* find(const XrcdFile& file);

  Table<Xrcd> table_;
};

}  // namespace verbs::soft::nic
