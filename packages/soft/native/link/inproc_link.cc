#include "inproc_link.h"

namespace verbs::soft::link {

InprocLink::InprocLink(const wire::Gid& address, Link* next, std::function<void()> ring)
    : address_(address),
      next_(next),
      inbox_(std::make_shared<Inbox>(std::move(ring))),
      directory_(InboxDirectory::process()),
      listed_(directory_.add(address, inbox_)),
      neighbours_(directory_) {
  if (next_ == nullptr) buffer_ = std::make_unique<std::uint8_t[]>(wire::kMaxFrame);
}

InprocLink::~InprocLink() {
  if (listed_) directory_.remove(address_);
  inbox_->close();
}

std::uint8_t* InprocLink::reserve() { return reserved_ = next_ != nullptr ? next_->reserve() : buffer_.get(); }

void InprocLink::commit(std::size_t size) {
  const std::span<const std::uint8_t> frame{reserved_, size};
  const bool addressed = wire::network_size_of(frame) != 0;
  Inbox* inbox = addressed ? neighbours_.find(wire::destination_of(frame)) : nullptr;
  if (inbox != nullptr) {
    ++(inbox->push(frame) ? counters_.sent : counters_.overflow);
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
  std::size_t taken = inbox_->drain(receiver, budget);
  counters_.received += taken;
  if (next_ != nullptr && taken < budget) taken += next_->receive(receiver, budget - taken);
  return taken;
}

void InprocLink::advance(Nanos now) {
  if (next_ != nullptr) next_->advance(now);
}

}  // namespace verbs::soft::link
