#include "nic/core/payload.h"

#include <algorithm>
#include <array>

#include "nic/base/guarded_memory.h"

namespace verbs::soft::nic {
namespace {

// Calls visit(region, address, size) for each piece of [offset, offset + size) of the list.
template <typename Visit>
bool for_each_piece(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
                    std::size_t size, unsigned access, Visit visit) {
  for (std::uint32_t i = 0; i < count && size > 0; ++i) {
    const ibv_sge& sge = sges[i];
    if (offset >= sge.length) {
      offset -= sge.length;
      continue;
    }
    const std::size_t piece = std::min<std::size_t>(sge.length - offset, size);
    const Mr* mr = mrs.find(sge.lkey, pd, access);
    if (mr == nullptr || !visit(*mr, sge.addr + offset, piece)) return false;
    size -= piece;
    offset = 0;
  }
  return size == 0;
}

}  // namespace

ibv_wc_status check_sges(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, unsigned access) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (sges[i].length == 0) continue;
    const Mr* mr = mrs.find(sges[i].lkey, pd, access);
    if (mr == nullptr || !mr->covers(sges[i].addr, sges[i].length)) return IBV_WC_LOC_PROT_ERR;
  }
  return IBV_WC_SUCCESS;
}

bool gather(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
            std::uint8_t* to, std::size_t size) {
  return for_each_piece(mrs, pd, sges, count, offset, size, 0,
                        [&to](const Mr& mr, std::uint64_t address, std::size_t piece) {
                          if (!mr.read(to, address, piece)) return false;
                          to += piece;
                          return true;
                        });
}

bool scatter(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
             const std::uint8_t* from, std::size_t size) {
  return for_each_piece(mrs, pd, sges, count, offset, size, IBV_ACCESS_LOCAL_WRITE,
                        [&from](const Mr& mr, std::uint64_t address, std::size_t piece) {
                          if (!mr.write(address, from, piece)) return false;
                          from += piece;
                          return true;
                        });
}

bool locate(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
            std::size_t size, unsigned access, MemoryPieces* memory) {
  return for_each_piece(mrs, pd, sges, count, offset, size, access,
                        [memory](const Mr& mr, std::uint64_t address, std::size_t piece) {
                          return !mr.null && mr.covers(address, piece) && memory->add(mr.at(address, piece), piece);
                        });
}

bool copy(std::span<const iovec> to, std::span<const iovec> from) {
  std::size_t source = 0, source_offset = 0;
  for (const iovec& target : to) {
    for (std::size_t done = 0; done < target.iov_len;) {
      if (source == from.size()) return false;
      const iovec& piece = from[source];
      const std::size_t size = std::min(target.iov_len - done, piece.iov_len - source_offset);
      if (!guarded_copy(static_cast<std::uint8_t*>(target.iov_base) + done,
                        static_cast<const std::uint8_t*>(piece.iov_base) + source_offset, size, false)) {
        return false;
      }
      done += size;
      source_offset += size;
      if (source_offset < piece.iov_len) continue;
      ++source;
      source_offset = 0;
    }
  }
  return true;
}

namespace {

// The `size` bytes from `offset` on.
MemoryPieces part_of(std::span<const iovec> all, std::size_t offset, std::size_t size) {
  MemoryPieces part;
  for (const iovec& piece : all) {
    if (offset >= piece.iov_len) {
      offset -= piece.iov_len;
      continue;
    }
    const std::size_t bytes = std::min(piece.iov_len - offset, size);
    part.add(static_cast<std::uint8_t*>(piece.iov_base) + offset, bytes);
    size -= bytes;
    offset = 0;
    if (size == 0) break;
  }
  return part;
}

// Copies as many pieces as are all mapped here, or all not: how many, and their bytes. 0 pieces when that fails.
struct Copied {
  std::size_t pieces, bytes;
};
Copied pull_alike(std::span<const iovec> to, std::size_t offset, std::span<const link::Reference> from,
                  link::SenderMemory& memory) {
  std::array<iovec, link::kMostReferences> mapped;
  Copied copied{};
  const bool here = memory.find_mapped(from[0]) != nullptr;
  for (const link::Reference& piece : from) {
    const std::uint8_t* at = memory.find_mapped(piece);
    if ((at != nullptr) != here) break;
    mapped[copied.pieces++] = {const_cast<std::uint8_t*>(at), piece.size};
    copied.bytes += piece.size;
  }
  const MemoryPieces part = part_of(to, offset, copied.bytes);
  const bool done =
      here ? copy(part.all(), {mapped.data(), copied.pieces}) : memory.read(part.all(), from.first(copied.pieces));
  return done ? copied : Copied{};
}

}  // namespace

bool pull(std::span<const iovec> to, const ReferredPayload& referred) {
  std::size_t pieces = 0, bytes = 0;
  while (pieces < referred.pieces.size()) {
    const Copied copied = pull_alike(to, bytes, referred.pieces.subspan(pieces), referred.memory);
    if (copied.pieces == 0) break;
    pieces += copied.pieces;
    bytes += copied.bytes;
  }
  return referred.memory.confirm(pieces == referred.pieces.size());
}

bool pull(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
          const ReferredPayload& referred) {
  MemoryPieces to;
  return locate(mrs, pd, sges, count, offset, referred.size, IBV_ACCESS_LOCAL_WRITE, &to) && pull(to.all(), referred);
}

}  // namespace verbs::soft::nic
