// Copies between packets and the scatter/gather lists of work requests, through the memory regions that they name.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "nic/objects/mr.h"

namespace verbs::soft::nic {

// IBV_WC_SUCCESS or IBV_WC_LOC_PROT_ERR unless every entry lies in a region of `pd` with the rights.
ibv_wc_status check_sges(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, unsigned access);

// `size` bytes from `offset` of the list on. False when an entry's region is gone, lacks the right, or its memory is
// not there any more.
bool gather(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
            std::uint8_t* to, std::size_t size);
bool scatter(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
             const std::uint8_t* from, std::size_t size);

}  // namespace verbs::soft::nic
