// Frames between addresses of one process, without a socket. All other frames go to the next link.
//
// No frame is lost: those that a full queue does not take wait here, in their order, and the port is congested until
// they are gone. The NIC then sends nothing more by this port, but goes on to receive: two ports that flood each other
// empty their queues all the time, so none waits for ever.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "link/frame_queue.h"
#include "link/link.h"
#include "link/sharing/number_ranges.h"
#include "wire/gid.h"

namespace verbs::soft::link {

// The frame queues of the addresses of this process. It is read for every frame and changed rarely: each reader keeps a
// reference to the list and only checks whether that is still the newest.

class QueueDirectory {
 public:
  struct Entry {
    wire::Gid address;
    std::shared_ptr<FrameQueue> queue;
    std::shared_ptr<const NumberRanges> numbers;  // of no meaning for a group
  };
  using List = std::vector<Entry>;

  // The directory of this process. A forked child starts with an empty one: the inherited entries lead to copies of the
  // parent's queues, which no thread empties.
  static QueueDirectory& process();

  // An address that has a queue already keeps it. It gets the frames to those numbers.
  void add(const wire::Gid& address, std::shared_ptr<FrameQueue> queue, std::shared_ptr<const NumberRanges> numbers);
  // Closed queues are found no more, from their close() on; this frees their memory. Without memory for the shorter
  // list a later call does.
  void remove_closed();
  // A group has any number of queues.
  void join(const wire::Gid& group, std::shared_ptr<FrameQueue> queue);
  // Without memory the queue stays in the group.
  void leave(const wire::Gid& group, const FrameQueue* queue);

  class Reader {
   public:
    explicit Reader(QueueDirectory& directory) : directory_(directory) {}
    // nullptr if the address has no open queue in this process for such frames. Valid until the next call. kAnyRange is
    // for each.
    const std::shared_ptr<FrameQueue>* find(const wire::Gid& address, Range range);
    // Whether a device of this process at that address has the number.
    bool has(const wire::Gid& address, std::uint32_t qp_num) {
      return find(address, range_of_number(qp_num)) != nullptr;
    }
    // Calls visit(queue) for each open queue of the group.
    template <typename Visit>
    void for_each(const wire::Gid& group, Visit visit) {
      refresh();
      for (const Entry& entry : *list_) {
        if (entry.address == group && !entry.queue->closed()) visit(entry.queue);
      }
    }

   private:
    void refresh();

    QueueDirectory& directory_;
    std::shared_ptr<const List> list_;
    std::uint64_t version_ = 0;
  };

 private:
  // A copy without the closed queues.
  std::shared_ptr<List> open_queues() const;
  void replace(std::shared_ptr<const List> list);

  std::mutex mutex_;
  std::shared_ptr<const List> list_ = std::make_shared<const List>();
  std::atomic<std::uint64_t> version_{1};
};

struct InprocCounters {
  std::uint64_t sent = 0;  // to a queue of this process
  std::uint64_t received = 0;
  std::uint64_t overflow = 0;     // lost because the queue was closed, or too many frames waited for room in it
  std::uint64_t unreachable = 0;  // lost because the address is not in this process and there is no next link
};

class InprocLink final : public Link {
 public:
  // `next` may be nullptr and must outlive this link. `notify` is called, by any thread, when a frame arrives in the
  // empty queue. It must not block. It is not called after the link is destroyed. An address that another link of this
  // process has stays with that link. `numbers`: whose frames the address gets here. `entrance`: for messages to this
  // address; nullptr if it takes packets only.
  InprocLink(const wire::Gid& address, Link* next, std::function<void()> notify,
             std::shared_ptr<const NumberRanges> numbers = NumberRanges::all(),
             std::shared_ptr<Neighbour> entrance = nullptr);
  ~InprocLink() override;

  std::uint8_t* reserve() override;
  void commit(std::size_t size) override;
  void commit_unsealed(std::span<std::uint8_t> frame) override;
  bool takes_references(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) override;
  int route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu) override;
  std::shared_ptr<Neighbour> neighbour(const wire::Gid& source, const wire::Gid& destination) override;
  void commit_referring(std::span<std::uint8_t> frame) override;
  MessageWay* message_way(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) override;
  void revoke_references() override;
  void flush() override;
  bool congested(const wire::Gid& destination, std::uint32_t qp_num) override;
  std::uint64_t relieve() override;
  std::uint16_t fixed_source_port() const override { return next_ != nullptr ? next_->fixed_source_port() : 0; }
  std::size_t receive(Receiver& receiver, std::size_t budget) override;
  void advance(Nanos now) override;
  Nanos next_deadline() const override { return next_ != nullptr ? next_->next_deadline() : INT64_MAX; }
  int wait_fd() const override { return next_ != nullptr ? next_->wait_fd() : -1; }

  // From now on frames to the group from this process come here, if `own`, or to another link of the same port; copies
  // of them that the next link brings are dropped.
  void join(const wire::Gid& group, bool own = true);
  void leave(const wire::Gid& group);

  const InprocCounters& counters() const { return counters_; }

 private:
  // Frames to one address that are handed over together.
  static constexpr std::size_t kBatch = 32;
  struct Waiting {
    std::shared_ptr<FrameQueue> queue;
    FrameForm form;
    std::vector<std::uint8_t> frame;
  };
  // The NIC stops at its next look; delayed frames of a fault plan and those of models do not.
  static constexpr std::size_t kMostWaiting = 4096;

  void commit_to_group(std::size_t size);
  void add_to_batch(const std::shared_ptr<FrameQueue>& queue, std::span<const std::uint8_t> frame, FrameForm form);
  void hand_over_batch();
  bool send_waiting();  // false if frames wait still
  void hand_over(const std::shared_ptr<FrameQueue>& queue, std::span<const std::uint8_t> frame);
  void keep_waiting(const std::shared_ptr<FrameQueue>& queue, FrameForm form, std::span<const std::uint8_t> frame,
                    bool closed);

  wire::Gid address_;
  Link* next_;
  std::shared_ptr<FrameQueue> queue_;
  QueueDirectory& directory_;
  QueueDirectory::Reader neighbours_;
  InprocCounters counters_;
  std::vector<wire::Gid> groups_;  // whose frames the next link may bring
  std::deque<Waiting> waiting_;
  std::uint64_t relieved_ = 0;
  std::uint8_t* reserved_ = nullptr;
  // The committed frames to `target_`, and behind them empty slots. Without a next link, frames are built in them. The
  // first slot is always there, the others since they were first needed.
  std::array<FrameQueue::SlotPointer, kBatch> batch_;
  std::size_t committed_ = 0;
  std::shared_ptr<FrameQueue> target_;
};

}  // namespace verbs::soft::link
