// Explains refusals and failures: finds the reason where a check only says no, and takes it to the device's ring
// (nic/base/reasons.h). Everything here runs after something has failed, and never before.
#pragma once

#include "nic/core/core.h"
#include "nic/core/packet.h"

namespace verbs::soft::nic {

// A call of the program is refused with that errno value. `qp` may be nullptr.
[[gnu::cold]] void explain_call(Core& core, Place place, int error, const Why& why, const Qp* qp = nullptr,
                                std::uint64_t wr_id = 0);
// The same, for `return refuse(…)`.
[[gnu::cold]] int refuse_post(Core& core, const Qp& qp, Place place, std::uint64_t wr_id, int error, const Why& why);

// A packet of a connected queue pair, or of none, is dropped.
[[gnu::cold]] void explain_drop(Core& core, const Why& why, const Qp* qp, const wire::FrameView* frame,
                                std::uint32_t source_qp = 0);
// The responder of the queue pair ends the connection with a NAK, or drops the message of a UC queue pair (no
// syndrome); its receive request in progress, if there is one, gets that status.
[[gnu::cold]] void explain_responder(Core& core, const Qp& qp, std::uint8_t syndrome, ibv_wc_status status,
                                     const Why& why);
// The oldest send request is about to fail with that status.
[[gnu::cold]] void explain_failed_send(Core& core, Qp& qp, ibv_wc_status status);
// A completion is lost.
[[gnu::cold]] void explain_overrun(Core& core, const Qp& qp, const Cq& cq);

// Why a remote key does not open the range to the peer of the queue pair, or what was behind it is gone.
[[gnu::cold]] Why why_no_remote_access(const Core& core, const Qp& qp, const Pd* pd, std::uint32_t rkey,
                                       std::uint64_t address, std::size_t size, unsigned access);
// Why the elements of a list do not all have memory with that access.
[[gnu::cold]] Why why_no_local_access(const Core& core, const Pd* pd, const ibv_sge* sges, std::uint32_t count,
                                      unsigned access);
// The same for the receive request in progress.
[[gnu::cold]] Why why_no_receive_memory(const Core& core, const Qp& qp);

}  // namespace verbs::soft::nic
