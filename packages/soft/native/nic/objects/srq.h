// A shared receive queue: receive requests that several QPs take from, oldest first. What is taken is copied to the QP,
// because requests of an SRQ complete out of order.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "nic/objects/pd.h"
#include "nic/objects/qp/work_queue.h"
#include "nic/shared/event.h"

namespace verbs::soft::nic {

class Cq;
class Xrcd;

class Srq {
 public:
  Srq(Pd* srq_pd, void* srq_owner, std::uint32_t max_wr, std::uint32_t max_sge);

  std::uint32_t posted() const { return queue.tail - queue.head; }
  // Larger or smaller, keeping what is posted. EINVAL when that does not fit.
  int resize(std::uint32_t max_wr);
  // Arms the limit event; 0 disarms it. With fewer requests posted than `requests` it comes at once, as the condition
  // that it reports is there already.
  void arm(std::uint32_t requests, EventSink& events);
  // The oldest request goes to a QP: `wqe` and its SGEs are copied. Not on an empty queue.
  void dequeue(RecvWqe* wqe, ibv_sge* sges, EventSink& events);

  Pd* pd;
  void* owner;
  std::uint32_t number = 0;  // place in the NIC's table
  std::uint32_t users = 0;   // QPs that take from it
  std::uint32_t limit = 0;   // armed: the event comes when fewer requests than this are posted
  RecvQueue queue;
  // XRC only. A target QP takes from the SRQ that a packet names, if it is in the same domain.
  Xrcd* xrcd = nullptr;
  Cq* cq = nullptr;     // instead of the QP's
  bool failed = false;  // its CQ has overrun

 private:
  void check_limit(EventSink& events);
};

}  // namespace verbs::soft::nic
