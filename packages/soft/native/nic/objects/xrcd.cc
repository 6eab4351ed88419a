#include "nic/objects/xrcd.h"

#include <cerrno>

#include "nic/device/nic_impl.h"

namespace verbs::soft::nic {

int Nic::open_xrcd(const XrcdFile* file, bool create, bool exclusive, Xrcd** xrcd) {
  Core& core = impl_->core;
  Xrcd* known = nullptr;
  if (file != nullptr) {
    core.xrcds.for_each([&](Xrcd& other) {
      if (other.file && other.file->device == file->device && other.file->inode == file->inode) known = &other;
    });
    if (known == nullptr && !create) return EAGAIN;  // as from the kernel: nobody has made it yet
    if (known != nullptr && exclusive) return EINVAL;
  }
  if (known != nullptr) {
    ++known->opens;
    *xrcd = known;
    return 0;
  }
  auto made = std::make_unique<Xrcd>();
  if (file != nullptr) made->file = *file;
  Xrcd* raw = made.get();
  raw->handle = core.xrcds.insert(std::move(made));
  if (raw->handle == 0) return ENOMEM;
  *xrcd = raw;
  return 0;
}

int Nic::close_xrcd(Xrcd* xrcd) {
  if (xrcd->opens == 1 && xrcd->users > 0) return EBUSY;
  if (--xrcd->opens == 0) impl_->core.xrcds.erase(xrcd->handle);
  return 0;
}

int Nic::find_target_qp(const Xrcd* xrcd, std::uint32_t number, Qp** qp) const {
  Qp* found = impl_->core.qps.find(number);
  if (found == nullptr || found->xrcd != xrcd) return EINVAL;
  *qp = found;
  return 0;
}

}  // namespace verbs::soft::nic
