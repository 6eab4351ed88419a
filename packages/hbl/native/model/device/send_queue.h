// Executing a mapped send queue: its entries become work requests of the NIC's queue pair.
#pragma once

#include <cstdint>

#include "hbl_doorbell.h"

namespace verbs::hbl::model {

class Context;
struct Qp;

inline constexpr std::uint32_t kIndexMask = (1u << HBL_DOORBELL_INDEX_BITS) - 1;  // of a producer index in a doorbell

// Executes the queue pair's entries before the producer index `index` (modulo 2^22). False while the NIC's send queue
// is full; call it again later. An invalid entry moves the queue pair to the error state. Under the context's lock.
bool run_send_queue(Context& context, Qp& qp, std::uint32_t index);

}  // namespace verbs::hbl::model
