// A CQ, QP or SRQ as the event queues see it: the owner pointer of the NIC's object.
#pragma once

#include <cstdint>

namespace verbs::soft::host {

class AsyncQueue;
class CompletionChannel;

struct EventTarget {
  void* ibv = nullptr;  // the ibv_cq, ibv_qp or ibv_srq
  CompletionChannel* channel = nullptr;
  AsyncQueue* async = nullptr;
  EventTarget* sharing = nullptr;  // the next handle of a shared QP, which gets the same events
  // How many events the program received: destroying the object waits until it has acknowledged them. Written by the
  // queues; read after forget().
  std::uint32_t completions_reported = 0;
  std::uint32_t async_reported = 0;
  // The CQ was armed while its channel's wait set was attached. Packets then wake the waiter, and the first poll after
  // arming need not read the sockets. Guarded by the device's lock.
  bool packets_wake = false;

 private:
  friend class CompletionChannel;
  std::uint32_t pending_ = 0;
  EventTarget* next_ = nullptr;
};

}  // namespace verbs::soft::host
