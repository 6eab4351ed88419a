// The part of the device that works by itself: a thread that takes doorbells out of a context's FIFOs and posts what
// they announce to the software NIC. It sleeps while there is nothing to do.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "model/doorbell/doorbell_ring.h"

struct ibv_cq;
struct ibv_wc;

namespace verbs::hbl {

class Context;
struct Cq;
struct Qp;
struct UsrFifo;

class Worker {
 public:
  explicit Worker(Context& context) : context_(context) {}
  ~Worker();

  int start();  // 0 or errno
  void stop();  // not under the context's lock
  Waker& waker() { return waker_; }

 private:
  enum class Outcome { kIdle, kWorked, kStuck };

  void run();
  Outcome turn();
  Outcome serve(UsrFifo& fifo);
  // Runs the queue up to `index`; false while the NIC's queue has no room.
  bool run_queue(Qp& qp, std::uint32_t index);
  bool any_doorbell();
  void tell_overrun();

  Context& context_;
  Waker waker_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  ibv_cq* progress_ = nullptr;  // polling it makes the NIC's progress
};

// Moves completions from the NIC to the queue's mapped buffer, and to where poll() fetches them. Under the lock.
void reap(Context& context, Cq& cq);

}  // namespace verbs::hbl
