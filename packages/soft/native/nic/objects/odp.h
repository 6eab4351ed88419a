// On-demand paging capabilities (ibv_device_attr_ex): all of them, because no region is ever pinned and every access is
// guarded (shared/guarded_memory.h).
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace verbs::soft::nic {

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
