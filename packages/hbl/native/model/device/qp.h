// A queue pair: one of the NIC, the hardware's number of it, and its mapped work queues.
#pragma once

#include <cstdint>

#include "hbldv.h"
#include "model/doorbell/mapped_memory.h"

namespace verbs::hbl::model {

struct Qp {
  ibv_qp* ibv = nullptr;
  std::uint32_t port_num = 0;
  std::uint32_t number = 0;      // the hardware's; 0 before INIT
  std::uint32_t generation = 0;  // INIT gives a new number each time
  std::uint32_t wq_type = 0;
  hbldv_swq_granularity granularity = HBLDV_SWQE_GRAN_32B;
  std::uint32_t local_key = 0, remote_key = 0;
  std::uint32_t max_send_wr = 0;
  MappedMemory send_queue, receive_queue;
  std::uint32_t entries = 0;  // of each of the two queues; 0: none is mapped
  std::uint32_t next = 0;     // the entry to execute next, modulo 2^22
  std::uint32_t stride = 0;   // the stride of that entry to execute next
};

}  // namespace verbs::hbl::model
