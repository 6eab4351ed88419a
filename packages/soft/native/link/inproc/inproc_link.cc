#include "link/inproc/inproc_link.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "link/neighbour.h"
#include "link/process_instance.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::link {
namespace {

// Drops the frames to groups that a link of this process sent: the queue has them already. Other processes may send
// from the same address, by other numbers.
class ForeignGroups final : public Receiver {
 public:
  ForeignGroups(QueueDirectory::Reader& process, Receiver& next) : process_(process), next_(next) {}
  void deliver(std::span<const std::uint8_t> frame) override {
    constexpr std::size_t kSourceNumber = 12 + 4;  // of the DETH, behind the BTH
    const std::size_t at = wire::network_size_of(frame) + kSourceNumber;
    const bool datagram = frame.size() >= at + 4 && wire::destination_of(frame).is_multicast();
    if (datagram && process_.has(wire::source_of(frame), wire::load_be<std::uint32_t>(&frame[at]) & 0xffffff)) return;
    next_.deliver(frame);
  }
  void deliver_unsealed(std::span<const std::uint8_t> frame) override { next_.deliver_unsealed(frame); }
  void deliver_referring(std::span<const std::uint8_t> frame, SenderMemory& memory) override {
    next_.deliver_referring(frame, memory);
  }
  bool deliver_message(const Message& message, std::span<const std::uint8_t> payload,
                       const MessageEnds& ends) override {
    return next_.deliver_message(message, payload, ends);
  }
  void refuse(const wire::Path& path) override { next_.refuse(path); }

 private:
  QueueDirectory::Reader& process_;
  Receiver& next_;
};

// A tunnel's frame has its number behind another header, and devices with tunnels share no address.
Range range_here(std::span<const std::uint8_t> frame) {
  const std::size_t network = wire::network_size_of(frame);
  const std::size_t port = network - wire::kUdpSize + 2;
  return wire::load_be<std::uint16_t>(&frame[port]) == wire::kRocePort ? range_of(frame) : kAnyRange;
}

}  // namespace

InprocLink::InprocLink(const wire::Gid& address, Link* next, std::function<void()> notify,
                       std::shared_ptr<const NumberRanges> numbers, std::shared_ptr<Neighbour> entrance)
    : address_(address),
      next_(next),
      queue_(std::make_shared<FrameQueue>(std::move(notify), std::move(entrance))),
      directory_(QueueDirectory::process()),
      neighbours_(directory_) {
  batch_.front() = FrameQueue::make_slot();
  if (!batch_.front()) throw std::bad_alloc();
  directory_.add(address, queue_, std::move(numbers));
}

InprocLink::~InprocLink() {
  queue_->close();
  Neighbourhood::changed();
  directory_.remove_closed();
}

std::uint8_t* InprocLink::reserve() {
  if (next_ != nullptr) return reserved_ = next_->reserve();
  if (committed_ == kBatch) hand_over_batch();
  if (!batch_[committed_]) batch_[committed_] = FrameQueue::make_slot();
  if (!batch_[committed_]) hand_over_batch();  // there is no memory: the first one is empty then
  return reserved_ = batch_[committed_]->bytes;
}

void InprocLink::commit(std::size_t size) {
  const std::span<const std::uint8_t> frame{reserved_, size};
  const bool addressed = wire::network_size_of(frame) != 0;
  if (addressed && wire::destination_of(frame).is_multicast()) return commit_to_group(size);
  const std::shared_ptr<FrameQueue>* queue =
      addressed ? neighbours_.find(wire::destination_of(frame), range_here(frame)) : nullptr;
  if (queue != nullptr) {
    add_to_batch(*queue, frame, FrameForm::kSealed);
  } else if (next_ != nullptr) {
    next_->commit(size);
  } else {
    ++counters_.unreachable;
  }
}

void InprocLink::commit_unsealed(std::span<std::uint8_t> frame) {
  const wire::Gid destination = wire::destination_of(frame);
  const std::shared_ptr<FrameQueue>* queue =
      destination.is_multicast() ? nullptr : neighbours_.find(destination, range_of(frame));
  if (queue != nullptr) {
    add_to_batch(*queue, frame, FrameForm::kUnsealed);
  } else if (next_ != nullptr && !destination.is_multicast()) {
    next_->commit_unsealed(frame);
  } else {
    Link::commit_unsealed(frame);
  }
}

bool InprocLink::takes_references(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) {
  return next_ != nullptr && !neighbours_.has(destination, qp_num) &&
         next_->takes_references(source, destination, qp_num);
}

// To an address of this process no way is needed, but others at that address may be meant.
int InprocLink::route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu) {
  if (next_ == nullptr) return 0;
  const int error = next_->route(source, destination, mtu);
  return neighbours_.find(destination, kAnyRange) != nullptr ? 0 : error;
}

std::shared_ptr<Neighbour> InprocLink::neighbour(const wire::Gid& source, const wire::Gid& destination) {
  if (source != address_) return nullptr;
  const std::shared_ptr<FrameQueue>* queue = neighbours_.find(destination, kAnyRange);
  return queue != nullptr ? (*queue)->neighbour() : nullptr;
}

MessageWay* InprocLink::message_way(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) {
  if (next_ == nullptr || neighbours_.has(destination, qp_num)) return nullptr;
  return next_->message_way(source, destination, qp_num);
}

void InprocLink::commit_referring(std::span<std::uint8_t> frame) {
  if (next_ != nullptr) next_->commit_referring(frame);
}

void InprocLink::revoke_references() {
  if (next_ != nullptr) next_->revoke_references();
}

// To the members in this process, and to the next link for other processes.
void InprocLink::commit_to_group(std::size_t size) {
  const std::span<const std::uint8_t> frame{reserved_, size};
  hand_over_batch();
  neighbours_.for_each(wire::destination_of(frame), [&](const auto& queue) { hand_over(queue, frame); });
  if (next_ != nullptr) next_->commit(size);
}

void InprocLink::add_to_batch(const std::shared_ptr<FrameQueue>& queue, std::span<const std::uint8_t> frame,
                              FrameForm form) {
  if (queue != target_ || committed_ == kBatch) {
    const std::size_t reserved = committed_;
    hand_over_batch();
    if (next_ == nullptr) std::swap(batch_.front(), batch_[reserved]);
    target_ = queue;
  }
  if (!batch_[committed_]) batch_[committed_] = FrameQueue::make_slot();
  if (!batch_[committed_]) hand_over_batch();
  FrameQueue::Slot& slot = *batch_[committed_++];
  slot.size = frame.size();
  slot.form = form;
  if (slot.bytes != frame.data()) std::memcpy(slot.bytes, frame.data(), frame.size());
}

// Behind the frames that wait, so that the order stays.
void InprocLink::hand_over_batch() {
  const std::span<FrameQueue::SlotPointer> slots(batch_.data(), std::exchange(committed_, 0));
  if (slots.empty()) return;
  bool closed = false;
  const std::size_t taken = send_waiting() ? target_->exchange(slots, queue_, &closed) : 0;
  counters_.sent += taken;
  for (const auto& slot : slots.subspan(taken)) keep_waiting(target_, slot->form, {slot->bytes, slot->size}, closed);
}

// The same for one frame.
void InprocLink::hand_over(const std::shared_ptr<FrameQueue>& queue, std::span<const std::uint8_t> frame) {
  const FrameQueue::Push result = send_waiting() ? queue->offer(frame, queue_) : FrameQueue::Push::kFull;
  if (result == FrameQueue::Push::kTaken) {
    ++counters_.sent;
  } else {
    keep_waiting(queue, FrameForm::kSealed, frame, result == FrameQueue::Push::kClosed);
  }
}

void InprocLink::keep_waiting(const std::shared_ptr<FrameQueue>& queue, FrameForm form,
                              std::span<const std::uint8_t> frame, bool closed) {
  if (closed || waiting_.size() >= kMostWaiting) {
    ++counters_.overflow;
  } else {
    waiting_.push_back({queue, form, {frame.begin(), frame.end()}});
  }
}

bool InprocLink::send_waiting() {
  while (!waiting_.empty()) {
    const Waiting& first = waiting_.front();
    const FrameQueue::Push result = first.queue->offer(first.frame, queue_, first.form);
    if (result == FrameQueue::Push::kFull) return false;
    ++(result == FrameQueue::Push::kTaken ? counters_.sent : counters_.overflow);
    waiting_.pop_front();
    if (waiting_.empty()) ++relieved_;
  }
  return true;
}

// The frames to all addresses of the process wait in one row.
bool InprocLink::congested(const wire::Gid& destination, std::uint32_t qp_num) {
  if (!waiting_.empty() && neighbours_.has(destination, qp_num) && !send_waiting()) return true;
  return next_ != nullptr && next_->congested(destination, qp_num);
}

std::uint64_t InprocLink::relieve() {
  send_waiting();
  return relieved_ + (next_ != nullptr ? next_->relieve() : 0);
}

void InprocLink::join(const wire::Gid& group, bool own) {
  if (std::ranges::find(groups_, group) == groups_.end()) groups_.push_back(group);
  if (own) directory_.join(group, queue_);
}

void InprocLink::leave(const wire::Gid& group) {
  if (std::erase(groups_, group) != 0) directory_.leave(group, queue_.get());
}

void InprocLink::flush() {
  hand_over_batch();
  send_waiting();
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

namespace {

std::nullptr_t nothing(int) { return nullptr; }

}  // namespace

QueueDirectory& QueueDirectory::process() { return process_instance<QueueDirectory>(); }

// Readers may hold the list, so that it is copied.
std::shared_ptr<QueueDirectory::List> QueueDirectory::open_queues() const {
  auto next = std::make_shared<List>();
  next->reserve(list_->size() + 1);
  for (const auto& entry : *list_) {
    if (!entry.queue->closed()) next->push_back(entry);
  }
  return next;
}

void QueueDirectory::add(const wire::Gid& address, std::shared_ptr<FrameQueue> queue,
                         std::shared_ptr<const NumberRanges> numbers) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<List> next = open_queues();
  if (std::ranges::find(*next, address, &Entry::address) != next->end()) return;
  next->push_back({address, std::move(queue), std::move(numbers)});
  replace(std::move(next));
}

void QueueDirectory::remove_closed() {
  const std::lock_guard lock(mutex_);
  if (std::shared_ptr<List> next = contain([&] { return open_queues(); }, nothing)) replace(std::move(next));
}

void QueueDirectory::replace(std::shared_ptr<const List> list) {
  list_ = std::move(list);
  Neighbourhood::changed();
  version_.fetch_add(1, std::memory_order_release);
}

void QueueDirectory::join(const wire::Gid& group, std::shared_ptr<FrameQueue> queue) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<List> next = open_queues();
  const auto is_member = [&](const Entry& entry) { return entry.address == group && entry.queue == queue; };
  if (std::ranges::any_of(*next, is_member)) return;  // there was no memory to leave it
  next->push_back({group, std::move(queue), nullptr});
  replace(std::move(next));
}

void QueueDirectory::leave(const wire::Gid& group, const FrameQueue* queue) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<List> next = contain([&] { return open_queues(); }, nothing);
  if (!next) return;
  std::erase_if(*next, [&](const auto& entry) { return entry.address == group && entry.queue.get() == queue; });
  replace(std::move(next));
}

void QueueDirectory::Reader::refresh() {
  if (version_ != directory_.version_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(directory_.mutex_);
    list_ = directory_.list_;
    version_ = directory_.version_.load(std::memory_order_relaxed);
  }
}

const std::shared_ptr<FrameQueue>* QueueDirectory::Reader::find(const wire::Gid& address, Range range) {
  refresh();
  for (const auto& [known, queue, numbers] : *list_) {
    if (known != address || queue->closed()) continue;
    const bool is_group = !numbers;  // whose members get the frames to any number
    return is_group || range == kAnyRange || numbers->owns(range) ? &queue : nullptr;
  }
  return nullptr;
}

}  // namespace verbs::soft::link
