#include "binding/posting/request_queue.h"

namespace verbs::core {

void RequestQueue::ReleaseReferences() {
  for (std::uint32_t index = 0; index < entries_.size(); index++) Forget(index);
}

}  // namespace verbs::core
