#include "nic/objects/xrcd.h"

#include <cerrno>

#include "nic/shared/erase.h"

namespace verbs::soft::nic {

Xrcd* XrcdTable::find(const XrcdFile& file) {
  Xrcd* found = nullptr;
  table_.for_each([&](Xrcd& xrcd) {
    if (xrcd.file && xrcd.file->device == file.device && xrcd.file->inode == file.inode) found = &xrcd;
  });
  return found;
}

int XrcdTable::open(const XrcdFile* file, bool create, bool exclusive, Xrcd** xrcd) {
  if (file != nullptr) {
    Xrcd* known = find(*file);
    if (known == nullptr && !create) return EAGAIN;  // as from the kernel
    if (known != nullptr && exclusive) return EINVAL;
    if (known != nullptr) {
      ++known->opens;
      *xrcd = known;
      return 0;
    }
  }
  auto made = std::make_unique<Xrcd>();
  if (file != nullptr) made->file = *file;
  Xrcd* raw = made.get();
  const std::uint32_t index = table_.insert(std::move(made));
  if (index == 0) return ENOMEM;
  raw->handle = index;
  *xrcd = raw;
  return 0;
}

int XrcdTable::close(Xrcd* xrcd) {
  if (xrcd->opens == 1 && xrcd->users > 0) return EBUSY;
  if (--xrcd->opens == 0) erase(table_, xrcd->handle);
  return 0;
}

}  // namespace verbs::soft::nic
