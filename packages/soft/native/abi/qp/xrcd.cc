#include "abi/qp/xrcd.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "abi/objects/objects.h"

namespace verbs::soft::abi {
namespace {

void destroy_xrcd(void* object) { close_xrcd(static_cast<ibv_xrcd*>(object)); }

}  // namespace

ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* attr) {
  constexpr std::uint32_t kNeeded = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  Uses uses;
  if (uses.add(context) != 0 || (attr->comp_mask & kNeeded) != kNeeded) return null_with<ibv_xrcd>(EINVAL);
  if (attr->comp_mask >= IBV_XRCD_INIT_ATTR_RESERVED) return null_with<ibv_xrcd>(EOPNOTSUPP);
  nic::XrcdFile file;
  if (attr->fd != -1) {
    struct stat status{};
    if (fstat(attr->fd, &status) != 0) return null_with<ibv_xrcd>(errno);
    file = {.device = status.st_dev, .inode = status.st_ino};
  }
  auto xrcd = std::make_unique<Xrcd>();
  Handles::Place place(of(context)->handles, &xrcd->ibv, Kind::kXrcd, destroy_xrcd);
  const int error = control(context, [&](nic::Nic& nic, link::Nanos) {
    return nic.xrcds().open(attr->fd != -1 ? &file : nullptr, (attr->oflags & O_CREAT) != 0,
                            (attr->oflags & O_EXCL) != 0, &xrcd->nic);
  });
  if (error != 0) return null_with<ibv_xrcd>(error);
  xrcd->ibv.context = context;
  place.publish();
  return &xrcd.release()->ibv;
}

int close_xrcd(ibv_xrcd* ibv) {
  Retirement retirement;
  if (const int error = retirement.begin(ibv)) return error;
  Xrcd* xrcd = of(ibv);
  const int error = control(ibv->context, [&](nic::Nic& nic, link::Nanos) { return nic.xrcds().close(xrcd->nic); });
  if (error != 0) return error;
  of(ibv->context)->handles.remove(ibv);
  delete xrcd;
  return 0;
}

}  // namespace verbs::soft::abi
