// Copies between packets and the scatter/gather lists of work requests, through the memory regions of their entries.
#pragma once

#include <infiniband/verbs.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "link/reference.h"
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

// Where memory lies, for others than this process' own instructions.
struct MemoryPieces {
  std::array<iovec, link::kMostReferences> pieces;
  std::size_t count = 0;

  bool add(void* memory, std::size_t size) {
    if (count == pieces.size()) return false;
    pieces[count++] = {memory, size};
    return true;
  }
  std::span<const iovec> all() const { return {pieces.data(), count}; }
};

// The memory of `size` bytes from `offset` of the list on. False as for gather(), and for lists that are no plain
// memory of a few pieces.
bool locate(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
            std::size_t size, unsigned access, MemoryPieces* memory);

}  // namespace verbs::soft::nic
