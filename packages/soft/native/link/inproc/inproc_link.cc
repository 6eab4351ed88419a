#include "link/inproc/inproc_link.h"

#include <algorithm>

namespace verbs::soft::link {
namespace {

// Drops the frames to groups that a link of this process sent: the queue has them already.
class ForeignGroups final : public Receiver {
 public:
  ForeignGroups(QueueDirectory::Reader& process, Receiver& next) : process_(process), next_(next) {}
  void deliver(std::span<const std::uint8_t> frame) override {
    if (wire::destination_of(frame).is_multicast() && process_.find(wire::source_of(frame)) != nullptr) return;
    next_.deliver(frame);
  }

 private:
  QueueDirectory::Reader& process_;
  Receiver& next_;
};

}  // namespace

InprocLink::InprocLink(const wire::Gid& address, Link* next, std::function<void()> notify)
    : address_(address),
      next_(next),
      queue_(std::make_shared<FrameQueue>(std::move(notify))),
      directory_(QueueDirectory::process()),
      listed_(directory_.add(address, queue_)),
      neighbours_(directory_) {
  if (next_ == nullptr) buffer_ = std::make_unique<std::uint8_t[]>(wire::kMaxFrame);
}

InprocLink::~InprocLink() {
  for (const wire::Gid& group : groups_) directory_.leave(group, queue_.get());
  if (listed_) directory_.remove(address_);
  queue_->close();
}

std::uint8_t* InprocLink::reserve() { return reserved_ = next_ != nullptr ? next_->reserve() : buffer_.get(); }

void InprocLink::commit(std::size_t size) {
  const std::span<const std::uint8_t> frame{reserved_, size};
  const bool addressed = wire::network_size_of(frame) != 0;
  if (addressed && wire::destination_of(frame).is_multicast()) return commit_to_group(size);
  FrameQueue* queue = addressed ? neighbours_.find(wire::destination_of(frame)) : nullptr;
  if (queue != nullptr) {
    ++(queue->push(frame) ? counters_.sent : counters_.overflow);
  } else if (next_ != nullptr) {
    next_->commit(size);
  } else {
    ++counters_.unreachable;
  }
}

// To the members in this process, and to the next link for other processes.
void InprocLink::commit_to_group(std::size_t size) {
  const std::span<const std::uint8_t> frame{reserved_, size};
  neighbours_.for_each(wire::destination_of(frame),
                       [&](FrameQueue& queue) { ++(queue.push(frame) ? counters_.sent : counters_.overflow); });
  if (next_ != nullptr) next_->commit(size);
}

void InprocLink::join(const wire::Gid& group) {
  if (std::find(groups_.begin(), groups_.end(), group) != groups_.end()) return;
  groups_.push_back(group);
  directory_.join(group, queue_);
}

void InprocLink::leave(const wire::Gid& group) {
  if (std::erase(groups_, group) != 0) directory_.leave(group, queue_.get());
}

void InprocLink::flush() {
  if (next_ != nullptr) next_->flush();
}

std::size_t InprocLink::receive(Receiver& receiver, std::size_t budget) {
  std::size_t taken = queue_->drain(receiver, budget);
  counters_.received += taken;
  if (next_ == nullptr || taken >= budget) return taken;
  if (groups_.empty()) return taken + next_->receive(receiver, budget - taken);
  ForeignGroups foreign(neighbours_, receiver);
  return taken + next_->receive(foreign, budget - taken);
}

void InprocLink::advance(Nanos now) {
  if (next_ != nullptr) next_->advance(now);
}

}  // namespace verbs::soft::link
