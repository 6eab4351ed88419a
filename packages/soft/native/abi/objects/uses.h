// How a call takes hold of the objects that the program passes, as the kernel does: by their handles. Objects that a
// call uses cannot be destroyed meanwhile by another thread (EBUSY).
//
// The data path (posting, polling, arming, the extended calls of a QP or CQ) looks nothing up, and does not read the
// handle: a pointer of a destroyed object there is the program's error, as with a vendor's driver. But another thread
// may destroy an object just now, and a pointer that is stale for a short time must not end the process. So the
// structures of destroyed objects linger (nic/shared/lingering.h) and say that they are (Live in objects.h): the call
// fails with EINVAL. This does not hold for a QP or CQ within a section of extended calls, and not when the device's
// last context is closed.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "abi/objects/handles.h"
#include "abi/objects/later.h"

namespace verbs::soft::abi {

constexpr Kind kind_of(const ibv_context*) { return Kind::kContext; }
constexpr Kind kind_of(const ibv_pd*) { return Kind::kPd; }
constexpr Kind kind_of(const ibv_td*) { return Kind::kTd; }
constexpr Kind kind_of(const ibv_mr*) { return Kind::kMr; }
constexpr Kind kind_of(const ibv_mw*) { return Kind::kMw; }
constexpr Kind kind_of(const ibv_dm*) { return Kind::kDm; }
constexpr Kind kind_of(const ibv_comp_channel*) { return Kind::kChannel; }
constexpr Kind kind_of(const ibv_cq*) { return Kind::kCq; }
constexpr Kind kind_of(const ibv_xrcd*) { return Kind::kXrcd; }
constexpr Kind kind_of(const ibv_srq*) { return Kind::kSrq; }
constexpr Kind kind_of(const ibv_qp*) { return Kind::kQp; }
constexpr Kind kind_of(const ibv_ah*) { return Kind::kAh; }
constexpr Kind kind_of(const ibv_dmah*) { return Kind::kDmah; }
constexpr Kind kind_of(const ibv_buf*) { return Kind::kBuf; }
constexpr Kind kind_of(const ibv_comp_cntr*) { return Kind::kCompCntr; }

// The objects of one call, from add() to the end of the call.
class Uses {
 public:
  static constexpr std::size_t kMost = 8;  // of one call

  Uses() = default;
  ~Uses();
  Uses(const Uses&) = delete;
  Uses& operator=(const Uses&) = delete;

  // 0, or the kernel's errno. `missing` is the one for a handle that does not exist: EINVAL from a write command (most
  // calls), ENOENT from an ioctl. EINVAL for an object of another type, or another object's handle.
  template <typename Object>
  int add(const Object* ibv, int missing = EINVAL) {
    return add(ibv, kind_of(ibv), nullptr, missing);
  }
  // The same, and EINVAL for an object that is not in the command file `file`.
  template <typename Object>
  int add(const Object* ibv, const Handles& file, int missing = EINVAL) {
    return add(ibv, kind_of(ibv), &file, missing);
  }
  // The same for a type that is known at run time only.
  int add(const void* ibv, Kind kind, int missing) { return add(ibv, kind, nullptr, missing); }
  // The first verbs structure of an object by its handle; nullptr unless it is an importable object of that kind.
  void* add(Handles& file, std::uint32_t handle, Kind kind);

 private:
  struct Use {
    Handles* file;
    std::uint32_t handle;  // kNone for a context
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  int add(const void* ibv, Kind kind, const Handles* file, int missing);
  void note(Handles* file, std::uint32_t handle);

  std::array<Use, kMost> uses_{};
  std::size_t count_ = 0;
};

// An object that a call destroys. From begin() on no other call finds it; it is live again at the end of the call
// unless Handles::remove() was called for it.
class Retirement {
 public:
  Retirement() = default;
  ~Retirement();
  Retirement(const Retirement&) = delete;
  Retirement& operator=(const Retirement&) = delete;

  // 0; ENOENT or EINVAL, as Uses::add(); EBUSY: a call of another thread uses or destroys it.
  template <typename Object>
  int begin(const Object* ibv) {
    return begin(ibv, kind_of(ibv));
  }

 private:
  int begin(const void* ibv, Kind kind);

  Handles* file_ = nullptr;
  std::uint32_t handle_ = 0;
  std::uint64_t born_ = 0;
};

}  // namespace verbs::soft::abi
