#include "binding/posting/request_queue.h"

namespace verbs::core {

void RequestQueue::release_references() {
  for (std::uint32_t index = 0; index < entries_.size(); index++) forget(index);
}

}  // namespace verbs::core
