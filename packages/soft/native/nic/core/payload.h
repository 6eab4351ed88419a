// Copies between packets and the scatter/gather lists of work requests, through the memory regions of their entries.
#pragma once

#include <infiniband/verbs.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "link/link.h"
#include "nic/core/core.h"
#include "nic/core/packet.h"
#include "nic/objects/memory_region.h"

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

// Copies between such memory. False when memory of either side is not there.
bool copy(std::span<const iovec> to, std::span<const iovec> from);

// Copies of the payload that a packet refers to.

// A pull copies a payload out of the memory of the sender, to which a frame refers (link/reference.h). The pieces of
// `to` have as many bytes as the payload. False for any reason, from a sender that is gone to a region that does not
// allow it: the sender sends the payload itself then, and that way gives the usual errors.
bool pull(std::span<const iovec> to, const ReferredPayload& referred);
// From `offset` of a scatter list on.
bool pull(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
          const ReferredPayload& referred);

// Which packets refer to their payload: those of SENDs and WRITEs, and READ responses.

// Payloads are referred to from this size on: below, a copy through the link costs less than the system call.
inline constexpr std::size_t kLeastReferred = 16 << 10;

// Whether such a payload may be referred to, in a request of the QP or in a response: the peer reads this process'
// memory.
inline bool may_refer(Core& core, const Qp& qp, bool request, std::size_t size) {
  return size >= kLeastReferred && qp.is_reliable() && qp.send_tunnel(request) == nullptr &&
         core.port_of(qp).transmitter().takes_references(qp.path.sgid, qp.path.dgid, qp.attr.dest_qp_num);
}

}  // namespace verbs::soft::nic
