// The memory and the two RC queue pairs of a connection: how they are created, connected and posted to. What the frames
// mean is the connection's.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "model/bluefield/device.h"
#include "model/channel/completion_queues.h"
#include "model/channel/frame.h"
#include "model/setup/handshake.h"

namespace verbs::doca_comm::model {

struct Sizes {
  std::uint16_t message = 4080;
  std::uint16_t send_queue = 64;
  std::uint16_t recv_queue = 64;
  std::uint8_t features = 0;  // of EndAttributes
  bool prompt = false;        // the user waits for each acknowledgement
};

// The operation that a completion belongs to.
enum class Work : std::uint8_t { kReceive, kSend, kFlush, kControlReceive };

// The wr_id of a work request: the connection's number, the operation and the slot of memory.
struct WorkId {
  std::uint32_t connection;
  Work work;
  std::uint32_t slot;

  static constexpr int kSlotBits = 24;
  std::uint64_t pack() const {
    return static_cast<std::uint64_t>(connection) << 32 | static_cast<std::uint64_t>(work) << kSlotBits | slot;
  }
  static WorkId unpack(std::uint64_t id) {
    return {static_cast<std::uint32_t>(id >> 32), static_cast<Work>(id >> kSlotBits & 0xff),
            static_cast<std::uint32_t>(id & ((1u << kSlotBits) - 1))};
  }
};

class QueuePairs {
 public:
  static constexpr std::uint32_t kControlReceives = 32;
  static constexpr std::uint32_t kControlSends = 16;

  // `number` is the connection's; `send_slots` the frames that can be in flight.
  QueuePairs(doca_dev& dev, CompletionQueues& sends, CompletionQueues& receives, const Sizes& sizes,
             std::uint32_t number, std::uint32_t send_slots);
  ~QueuePairs() { close(); }
  QueuePairs(const QueuePairs&) = delete;
  QueuePairs& operator=(const QueuePairs&) = delete;

  // Allocates everything and posts all receives. 0 or errno.
  int open();
  // Frees everything. 0, or the first errno of destroying a queue pair.
  int close();
  // The half of the connection that the peer has to know.
  const EndAttributes& own() const { return own_; }
  int connect(const Gid& gid, const EndAttributes& peer);  // 0 or errno

  std::uint32_t receive_slots() const { return sizes_.recv_queue + 1u; }
  Frame* receive_slot(std::uint32_t slot) const;
  Frame* send_slot(std::uint32_t slot) const;
  Control* control_receive_slot(std::uint32_t slot) const;
  Control* control_send_slot(std::uint32_t slot) const;

  // Give the memory of slots that nobody uses back to the system until they are used again: the slots from `first` to
  // before `end`.
  void discard_receive_slots(std::uint32_t first, std::uint32_t end);
  void discard_send_slots(std::uint32_t first, std::uint32_t end);

  // 0 or errno.
  // Of the slots from `first` to before `end`, in their order.
  int post_receives(std::uint32_t first, std::uint32_t end);
  int post_control_receive(std::uint32_t slot);
  int post_frame(std::uint32_t slot, std::size_t message_size, bool signaled);
  // A signaled RDMA WRITE of no bytes on the data queue pair: completes after all frames up to `slot`.
  int post_flush(std::uint32_t slot);
  int post_control(std::uint32_t slot);
  // An RDMA WRITE of no bytes on the control queue pair, which the peer's NIC acknowledges without its program.
  int post_keep_alive();

  // The number of completed sends on the control queue pair; `failed` is set if one of them failed.
  std::uint32_t poll_control_sends(bool* failed);

 private:
  std::uint32_t data_sends() const { return send_slots_ + 1; }  // and the flush
  int sends_reserved() const { return static_cast<int>(data_sends() + kControlReceives); }
  Control* control_slots() const;
  void discard(const Frame* first, const Frame* end);

  doca_dev& dev_;
  CompletionQueues& sends_;
  CompletionQueues& receives_;
  const Sizes sizes_;
  const std::uint32_t number_;
  const std::uint32_t send_slots_;
  std::size_t stride_;  // bytes from one frame's slot to the next
  std::size_t size_;
  std::uint8_t* memory_ = nullptr;
  ibv_mr* mr_ = nullptr;
  // Receives of the control queue pair complete on send_cq_: a sender waits for credits as for completions. Its sends
  // have a queue without a channel, since no one waits for them.
  ibv_cq* send_cq_ = nullptr;
  ibv_cq* recv_cq_ = nullptr;
  ibv_cq* control_send_cq_ = nullptr;
  ibv_qp* data_ = nullptr;
  ibv_qp* control_ = nullptr;
  EndAttributes own_;
};

}  // namespace verbs::doca_comm::model
