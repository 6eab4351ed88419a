// The memory that a remote key opens to the peer of a QP.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

struct RemoteMemory {
  std::uint8_t* at = nullptr;
  bool lasts = false;  // as Mr::lasts()
};

// The memory behind [address, address + size) of the region or window with that remote key; at nullptr when the key
// does not open that range to this QP in `pd` with all of `access`. The memory itself may be gone: copy by
// guarded_copy().
inline RemoteMemory remote_memory(const Core& core, const Qp& qp, const Pd* pd, std::uint32_t rkey,
                                  std::uint64_t address, std::size_t size, unsigned access) {
  if (MwTable::holds(rkey)) {
    const Mw* mw = core.mws.find(rkey, qp, pd, access);
    return mw != nullptr ? RemoteMemory{mw->at(address, size), mw->mr->lasts()} : RemoteMemory{};
  }
  const Mr* mr = core.mrs.find(rkey, pd, access);
  return mr != nullptr ? RemoteMemory{mr->at(address, size), mr->lasts()} : RemoteMemory{};
}

// The region that such a key opens, or nullptr.
inline Mr* remote_region(Core& core, const Qp& qp, const Pd* pd, std::uint32_t rkey) {
  if (!MwTable::holds(rkey)) return core.mrs.find(rkey, pd);
  const Mw* mw = core.mws.find(rkey, qp, pd, 0);
  return mw != nullptr ? mw->mr : nullptr;
}

}  // namespace verbs::soft::nic
