#include "nic/device/pull.h"

#include <algorithm>
#include <array>

#include "nic/device/scatter.h"
#include "nic/shared/guarded_memory.h"

namespace verbs::soft::nic {
namespace {

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

}  // namespace

bool pull(std::span<const iovec> to, const ReferredPayload& referred) {
  std::array<iovec, link::kMostReferences> mapped;
  std::size_t count = 0;
  for (const link::Reference& piece : referred.pieces) {
    const std::uint8_t* at = referred.memory.find_mapped(piece);
    if (at == nullptr) return referred.memory.read(to, referred.pieces);
    mapped[count++] = {const_cast<std::uint8_t*>(at), piece.size};
  }
  return referred.memory.confirm_mapped(copy(to, {mapped.data(), count}));
}

bool pull(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
          const ReferredPayload& referred) {
  MemoryPieces to;
  return locate(mrs, pd, sges, count, offset, referred.size, IBV_ACCESS_LOCAL_WRITE, &to) && pull(to.all(), referred);
}

}  // namespace verbs::soft::nic
