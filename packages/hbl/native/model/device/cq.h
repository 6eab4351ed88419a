// A completion queue of hbldv_create_cq(): a queue of the NIC, and a mapped buffer that its completions are copied to.
#pragma once

#include <cstdint>
#include <vector>

#include "hbldv.h"
#include "model/doorbell/register_page.h"

namespace verbs::hbl::model {

class Context;
struct Qp;

// wr_id of work requests from a mapped send queue: this, and the entry's tag in the lower half.
inline constexpr std::uint64_t kMappedQueue = 0xffffffffull << 32;

struct Cq {
  ibv_cq* ibv = nullptr;
  std::uint32_t port_num = 0;
  std::uint32_t number = 0;
  hbldv_cq_type type = HBLDV_CQ_TYPE_QP;
  MappedMemory entries;
  MappedMemory producer;          // a page with the producer index
  RegisterPage* page = nullptr;   // takes the program's consumer index, which the model does not need
  std::uint32_t index = 0;        // completions produced
  std::uint32_t outstanding = 0;  // completions still to come for entries of mapped send queues
  // A ring of completions that ibv_poll_cq() has not fetched. If the program never polls, the newest stay.
  std::vector<ibv_wc> ready;
  std::uint32_t ready_head = 0, ready_count = 0;

  std::uint32_t capacity() const { return static_cast<std::uint32_t>(ready.size()); }
};

// Moves the NIC's completions to the mapped buffer and to `ready`. Under the context's lock.
void move_completions(Context& context, Cq& cq);

// A signaled entry of the queue pair was posted: a completion is to come.
void expect_completion(Context& context, Qp& qp);

// The queue pair is reset or destroyed: what is outstanding does not come any more. `cq` is that of its send queue.
void expect_no_more(Context& context, Qp& qp, const ibv_cq* cq);

}  // namespace verbs::hbl::model
