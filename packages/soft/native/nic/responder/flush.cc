#include "nic/responder/flush.h"

#include <atomic>

#include "nic/responder/nak.h"
#include "nic/responder/remote_memory.h"
#include "nic/responder/replay.h"
#include "nic/shared/flush.h"
#include "nic/shared/mapped_memory.h"

namespace verbs::soft::nic {
namespace {

struct Range {
  std::uint8_t* memory = nullptr;
  std::size_t size = 0;
};

unsigned access_for(const wire::Feth& feth) {
  return ((feth.placement & wire::Feth::kGlobal) != 0 ? kAccessFlushGlobal : 0) |
         ((feth.placement & wire::Feth::kPersistent) != 0 ? kAccessFlushPersistent : 0);
}

bool is_known(const wire::Feth& feth) {
  constexpr unsigned kPlacements = wire::Feth::kGlobal | wire::Feth::kPersistent;
  return feth.placement != 0 && (feth.placement & ~kPlacements) == 0 && feth.selectivity <= wire::Feth::kRegion;
}

Range range_of(const Core& core, const Qp& qp, const wire::Feth& feth, const wire::Reth& reth) {
  const unsigned access = access_for(feth);
  if (feth.selectivity == wire::Feth::kRange) {
    return {remote_memory(core, qp, qp.remote_pd, reth.rkey, reth.address, reth.length, access).at, reth.length};
  }
  const Mr* mr = core.mrs.find(reth.rkey, qp.remote_pd, access);
  return mr != nullptr ? Range{mr->address, mr->length} : Range{};
}

}  // namespace

void execute_flush(Core& core, Qp& qp, const Packet& packet) {
  const wire::Feth feth = wire::Feth::parse(packet.header(packet.info.feth));
  const wire::Reth reth = wire::Reth::parse(packet.header(packet.info.reth));
  if (!is_known(feth) || !allows(qp, access_for(feth)) || !packet.payload().empty()) {
    return nak_invalid_request(core, qp);
  }
  const Range range = range_of(core, qp, feth, reth);
  if (range.memory == nullptr) return nak_remote_access(core, qp);
  if (is_out_of_resources(qp)) return;
  // Writes go to coherent memory, so a fence makes them globally visible. Persistence is that of the mapped file: the
  // whole device waits for the file system here.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if ((feth.placement & wire::Feth::kPersistent) != 0 && write_back(range.memory, range.size) != 0) {
    return nak_remote_access(core, qp);
  }
  respond_and_cache(core, qp, packet, 0);
}

}  // namespace verbs::soft::nic
