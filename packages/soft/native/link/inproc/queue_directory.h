// The frame queues of the addresses of this process. It is read for every frame and changed rarely: each reader keeps a
// reference to the list and only checks whether that is still the newest.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "link/frame_queue.h"
#include "wire/gid.h"

namespace verbs::soft::link {

class QueueDirectory {
 public:
  using List = std::vector<std::pair<wire::Gid, std::shared_ptr<FrameQueue>>>;

  // The directory of this process. A forked child starts with an empty one: the inherited entries lead to copies of the
  // parent's queues, which no thread empties.
  static QueueDirectory& process();

  // An address that has a queue already keeps it.
  void add(const wire::Gid& address, std::shared_ptr<FrameQueue> queue);
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
    // nullptr if the address has no open queue in this process. Valid until the next call.
    const std::shared_ptr<FrameQueue>* find(const wire::Gid& address);
    // Calls visit(queue) for each open queue of the group.
    template <typename Visit>
    void for_each(const wire::Gid& group, Visit visit) {
      refresh();
      for (const auto& [known, queue] : *list_) {
        if (known == group && !queue->closed()) visit(queue);
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

}  // namespace verbs::soft::link
