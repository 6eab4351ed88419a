// A user FIFO: a doorbell ring behind a register, and the page with its consumer index.
#pragma once

#include <cstdint>

#include "hbldv.h"
#include "model/doorbell/doorbell_ring.h"
#include "model/doorbell/mapped_memory.h"
#include "model/doorbell/register_page.h"

namespace verbs::hbl::model {

struct UsrFifo {
  explicit UsrFifo(Waker& waker) : ring(waker) {}
  hbldv_usr_fifo hbldv{};  // the structure that the program has
  std::uint32_t port_num = 0;
  int hardware_id = 0;
  hbldv_usr_fifo_type type = HBLDV_USR_FIFO_TYPE_DB;
  MappedMemory consumer;
  RegisterPage* page = nullptr;  // shared by two FIFOs
  DoorbellRing ring;
};

}  // namespace verbs::hbl::model
