#include "nic/responder/flush.h"

#include <atomic>

#include "nic/responder/remote_memory.h"
#include "nic/responder/replay.h"
#include "nic/responder/response.h"
#include "nic/shared/flush.h"
#include "nic/shared/guarded_memory.h"

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
    return {remote_memory(core, qp, qp.remote_pd, reth.rkey, reth.address, reth.length, access), reth.length};
  }
  const Mr* mr = core.mrs.find(reth.rkey, qp.remote_pd, access);
  return mr != nullptr ? Range{mr->address, mr->length} : Range{};
}

}  // namespace

void take_flush(Core& core, Qp& qp, const Request& request) {
  const wire::Feth feth = wire::Feth::parse(request.header(request.info.feth));
  const wire::Reth reth = wire::Reth::parse(request.header(request.info.reth));
  if (!is_known(feth) || !allows_once(qp, access_for(feth)) || !request.payload().empty()) {
    return refuse_invalid(core, qp);
  }
  const Range range = range_of(core, qp, feth, reth);
  if (range.memory == nullptr) return refuse_access(core, qp);
  if (is_busy(qp)) return;
  // What was written is in the coherent memory of this machine, which is all that global visibility means. What
  // survives is what its file has; the whole device waits for the file system here.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if ((feth.placement & wire::Feth::kPersistent) != 0 && write_back(range.memory, range.size) != 0) {
    return refuse_access(core, qp);
  }
  answer_once(core, qp, request, 0);
}

}  // namespace verbs::soft::nic
