// What both stations may rely on.
#pragma once

#include "fuzz/adversary/station.h"

namespace verbs::soft::fuzz {

// Whatever the adversary forges: completions come once, in order and with a status that there is, requests end, and
// only memory with the rights for it was written.
void check_order(Station& station, ibv_qp_type type);
// When nobody can forge the ICRC: what was completed with success is right, byte for byte, and atomics were executed
// once. `from` sent its messages to `to`.
void check_reliable(Station& from, Station& to);
void check_unreliable(Station& from, Station& to, bool datagrams);

}  // namespace verbs::soft::fuzz
