// The memory that a remote key opens to the peer of a QP.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// The memory behind [address, address + size) of the region or window with that remote key. nullptr when the key does
// not open that range to this QP in `pd` with all of `access`. The memory itself may be gone: copy by guarded_copy().
inline std::uint8_t* remote_memory(const Core& core, const Qp& qp, const Pd* pd, std::uint32_t rkey,
                                   std::uint64_t address, std::size_t size, unsigned access) {
  if (MwTable::holds(rkey)) {
    const Mw* mw = core.mws.find(rkey, qp, pd, access);
    return mw != nullptr ? mw->at(address, size) : nullptr;
  }
  const Mr* mr = core.mrs.find(rkey, pd, access);
  return mr != nullptr ? mr->at(address, size) : nullptr;
}

// The region that such a key opens, or nullptr.
inline Mr* remote_region(Core& core, const Qp& qp, const Pd* pd, std::uint32_t rkey) {
  if (!MwTable::holds(rkey)) return core.mrs.find(rkey, pd);
  const Mw* mw = core.mws.find(rkey, qp, pd, 0);
  return mw != nullptr ? mw->mr : nullptr;
}

}  // namespace verbs::soft::nic
