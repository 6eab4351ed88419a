#include "inproc_link.h"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace verbs::soft::link {
namespace {

constexpr std::size_t kInboxFrames = 256;

wire::Gid destination_of(const std::uint8_t* frame) {
  return frame[0] >> 4 == 4 ? wire::Gid::from_ipv4(frame + 16) : wire::Gid::from_bytes(frame + 24);
}

}  // namespace

// A ring of frames that any thread may fill and the owner empties.
struct InprocLink::Inbox {
  struct Slot {
    std::size_t size;
    std::uint8_t bytes[wire::kMaxFrame];
  };

  explicit Inbox(std::function<void()> on_first) : ring(std::move(on_first)), slots(kInboxFrames) {}

  bool push(const std::uint8_t* frame, std::size_t size) {
    bool first = false;
    {
      const std::lock_guard lock(mutex);
      const std::size_t used = count.load(std::memory_order_relaxed);
      if (used == slots.size()) return false;
      Slot& slot = slots[(head + used) % slots.size()];
      slot.size = size;
      std::memcpy(slot.bytes, frame, size);
      count.store(used + 1, std::memory_order_release);
      first = used == 0;
    }
    if (first) {
      const std::shared_lock lock(ring_mutex);
      if (ring) ring();
    }
    return true;
  }

  std::mutex mutex;
  std::shared_mutex ring_mutex;  // taken alone by the owner that leaves: afterwards nobody rings
  std::function<void()> ring;
  std::vector<Slot> slots;
  std::size_t head = 0;
  std::atomic<std::size_t> count{0};
};

namespace {

// Addresses come and go rarely and are looked up for every frame; a process has a handful.
struct Registry {
  std::shared_mutex mutex;
  std::map<wire::Gid, std::weak_ptr<void>> inboxes;
};

Registry& registry() {
  static auto* instance = new Registry;  // outlives every thread
  return *instance;
}

}  // namespace

InprocLink::InprocLink(const wire::Gid& address, Link* next, std::function<void()> ring)
    : address_(address), next_(next), inbox_(std::make_shared<Inbox>(std::move(ring))) {
  if (next_ == nullptr) buffer_ = std::make_unique<std::uint8_t[]>(wire::kMaxFrame);
  const std::unique_lock lock(registry().mutex);
  registry().inboxes[address_] = inbox_;
}

InprocLink::~InprocLink() {
  {
    const std::unique_lock lock(registry().mutex);
    registry().inboxes.erase(address_);
  }
  const std::unique_lock lock(inbox_->ring_mutex);
  inbox_->ring = nullptr;
}

std::shared_ptr<InprocLink::Inbox> InprocLink::find(const wire::Gid& address) {
  const std::shared_lock lock(registry().mutex);
  const auto found = registry().inboxes.find(address);
  return found == registry().inboxes.end() ? nullptr : std::static_pointer_cast<Inbox>(found->second.lock());
}

std::uint8_t* InprocLink::reserve() { return reserved_ = next_ != nullptr ? next_->reserve() : buffer_.get(); }

void InprocLink::commit(std::size_t size) {
  const wire::Gid to = destination_of(reserved_);
  const std::shared_ptr<Inbox> inbox = to == address_ ? inbox_ : find(to);
  if (inbox != nullptr) {
    if (inbox->push(reserved_, size)) {
      ++counters_.sent;
    } else {
      ++counters_.overflow;
    }
  } else if (next_ != nullptr) {
    next_->commit(size);
  } else {
    ++counters_.unreachable;
  }
}

void InprocLink::flush() {
  if (next_ != nullptr) next_->flush();
}

std::size_t InprocLink::receive(Receiver& receiver, std::size_t budget) {
  Inbox& inbox = *inbox_;
  std::size_t taken = 0;
  std::size_t waiting = inbox.count.load(std::memory_order_acquire);
  // The slot stays taken while its frame is read, so the lock is not held then: the receiver may transmit to itself.
  while (taken < budget && waiting > 0) {
    const Inbox::Slot& slot = inbox.slots[inbox.head];
    receiver.deliver({slot.bytes, slot.size});
    const std::lock_guard lock(inbox.mutex);
    inbox.head = (inbox.head + 1) % inbox.slots.size();
    waiting = inbox.count.load(std::memory_order_relaxed) - 1;
    inbox.count.store(waiting, std::memory_order_release);
    ++taken;
  }
  counters_.received += taken;
  if (next_ != nullptr && taken < budget) taken += next_->receive(receiver, budget - taken);
  return taken;
}

}  // namespace verbs::soft::link
