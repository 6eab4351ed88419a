// The device's own thread: it takes doorbells out of a context's FIFOs and executes the send queues that they name. It
// sleeps while there is nothing to do.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "model/device/doorbell_drops.h"
#include "model/doorbell/doorbell_ring.h"

struct ibv_cq;

namespace verbs::hbl::model {

class Context;
struct UsrFifo;

class Worker {
 public:
  explicit Worker(Context& context) : context_(context) {}
  ~Worker();

  int start();  // 0 or errno
  void stop();  // not under the context's lock
  // In a forked child, which has no thread of its parent.
  void forget_parent();
  Waker& waker() { return waker_; }

 private:
  // Of one round: nothing to do, progress, or work that waits for acknowledgements from the peer.
  enum class Outcome { kIdle, kWorked, kBlocked };

  void run();
  Outcome run_once();
  Outcome drain(UsrFifo& fifo);
  // Executes a doorbell of that FIFO, or counts it. False: it waits for acknowledgements.
  bool execute(const UsrFifo& fifo, std::uint64_t doorbell);
  void drop(DoorbellDrop reason);
  bool has_doorbell();
  void raise_overrun();

  Context& context_;
  Waker waker_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  ibv_cq* progress_ = nullptr;  // polling it makes the NIC's progress
};

}  // namespace verbs::hbl::model
