// Copies between packets and the scatter/gather lists of work requests, through the memory regions of their entries.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "nic/objects/mr.h"

namespace verbs::soft::nic {

// IBV_WC_LOC_PROT_ERR unless every entry lies in a region of `pd` with the rights `access`; else IBV_WC_SUCCESS.
ibv_wc_status check_sges(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, unsigned access);

// Copy `size` bytes from `offset` of the list on. False when the region of an entry does not exist or lacks the right,
// or its memory is not mapped.
bool gather(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
            std::uint8_t* to, std::size_t size);
bool scatter(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
             const std::uint8_t* from, std::size_t size);

}  // namespace verbs::soft::nic
