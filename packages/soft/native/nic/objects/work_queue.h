// The send and receive queues of a QP: rings that are allocated when the QP is created.
#pragma once

#include <infiniband/verbs.h>

#include <bit>
#include <cstdint>

#include "nic/base/containers.h"
#include "wire/frame.h"

namespace verbs::soft::nic {

// One posted send request. It gets its PSNs when its first packet is sent.
struct SendWqe {
  std::uint64_t wr_id;
  std::uint64_t remote_addr;
  union {  // by opcode
    struct {
      std::uint64_t swap_or_add;
      std::uint64_t compare;
    } atomic;
    struct {  // binds the window with `rkey` at `remote_addr`
      std::uint64_t length;
      std::uint32_t lkey;
      std::uint32_t access;
    } bind;
    struct {
      std::uint8_t type;
      std::uint8_t level;
    } flush;
  };
  std::uint32_t rkey;
  std::uint32_t remote_srqn;  // XRC
  std::uint32_t length;
  std::uint32_t first_psn;
  std::uint32_t packets;  // number of PSNs
  std::uint32_t done;     // response packets that arrived, for a request with a response of its own
  __be32 imm_data;
  ibv_wr_opcode opcode;
  ibv_wc_status error;  // a local error, or IBV_WC_SUCCESS
  std::uint16_t flags;  // ibv_send_flags
  std::uint16_t num_sge;
  bool started;
  std::uint8_t key_byte;  // BIND_MW: the lowest byte of the window's new key

  std::uint32_t last_psn() const { return (first_psn + packets - 1) & 0xffffff; }
};

// The destination of a datagram, copied from the address handle when it is posted: the handle may be destroyed before
// the packet leaves.
struct Datagram {
  wire::Path path;
  std::uint32_t qpn;
  std::uint32_t qkey;
};

struct RecvWqe {
  std::uint64_t wr_id;
  std::uint32_t length;  // sum of its SGEs
  std::uint32_t num_sge;
};

// A position is a running number that wraps at 2^32; its slot is the position modulo the size of the ring. A request
// takes one of the queue's slots until its completion was polled (Rules::slots_until_polled), which may be long
// after it was executed.
template <typename Wqe>
class WorkQueue {
 public:
  void allocate(std::uint32_t wr, std::uint32_t sge) {
    const std::uint32_t size = wr == 0 ? 0 : std::bit_ceil(wr);
    max_sge_ = sge;
    wqes_.allocate(size);
    sges_.allocate(static_cast<std::size_t>(size) * sge);
  }

  std::uint32_t capacity() const { return static_cast<std::uint32_t>(wqes_.size()); }
  std::uint32_t max_sge() const { return max_sge_; }
  std::uint32_t taken() const { return tail - released; }
  bool full() const { return taken() >= capacity(); }
  bool empty() const { return tail == head; }
  std::uint32_t slot(std::uint32_t position) const { return position & (capacity() - 1); }
  Wqe& at(std::uint32_t position) { return wqes_[slot(position)]; }
  ibv_sge* sges(std::uint32_t position) { return sges_.data() + static_cast<std::size_t>(slot(position)) * max_sge_; }
  void clear() { head = released = tail; }

  std::uint32_t head = 0;      // oldest that is not completed
  std::uint32_t tail = 0;      // next to be posted
  std::uint32_t released = 0;  // the number of slots that were given back, by the same count

 private:
  std::uint32_t max_sge_ = 0;
  LazyArray<Wqe> wqes_;
  LazyArray<ibv_sge> sges_;
};

class SendQueue : public WorkQueue<SendWqe> {
 public:
  void allocate(std::uint32_t wr, std::uint32_t sge, std::uint32_t inline_data, bool datagrams) {
    WorkQueue::allocate(wr, sge);
    max_inline_ = inline_data;
    inline_.allocate(static_cast<std::size_t>(capacity()) * inline_data);
    datagrams_.allocate(datagrams ? capacity() : 0);
  }

  void clear() {
    WorkQueue::clear();
    reported = head;
  }

  // The position behind the last request that made a completion. The next completion gives back the slots from here on.
  std::uint32_t reported = 0;

  std::uint32_t max_inline() const { return max_inline_; }
  std::uint8_t* inline_data(std::uint32_t position) {
    return inline_.data() + static_cast<std::size_t>(slot(position)) * max_inline_;
  }
  Datagram& datagram(std::uint32_t position) { return datagrams_[slot(position)]; }

 private:
  std::uint32_t max_inline_ = 0;
  LazyArray<std::uint8_t> inline_;
  LazyArray<Datagram> datagrams_;
};

using RecvQueue = WorkQueue<RecvWqe>;

}  // namespace verbs::soft::nic
