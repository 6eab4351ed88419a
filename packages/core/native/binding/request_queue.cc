#include "request_queue.h"

namespace verbs::core {

void RequestQueue::Hold(std::shared_ptr<MemoryRegion> region) {
  Entry& entry = entries_[last_];
  regions_[std::size_t{last_} * max_sge_ + entry.regions++] = std::move(region);
}

void RequestQueue::Hold(std::shared_ptr<AddressHandle> address) { entries_[last_].address = std::move(address); }

void RequestQueue::ReleaseReferences() {
  for (std::uint32_t index = 0; index < entries_.size(); index++) Forget(index);
}

void RequestQueue::Forget(std::uint32_t index) {
  Entry& entry = entries_[index];
  for (std::uint32_t i = 0; i < entry.regions; i++) regions_[std::size_t{index} * max_sge_ + i].reset();
  entry.regions = 0;
  entry.address.reset();
}

}  // namespace verbs::core
