// For models in C++: how a model gets to the NIC's function table, once in a process.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstring>

#include "verbs_soft_extension.h"

namespace verbs::soft_model {

class Attachment {
 public:
  // Null before load().
  const verbs_soft_extension_table* table() const { return table_.load(std::memory_order_acquire); }

  // Whether the device is one of the kind.
  bool owns(const ibv_device* device, const char* kind) const {
    const char* its_kind = table() && device ? table()->device_kind(device) : nullptr;
    return its_kind && std::strcmp(its_kind, kind) == 0;
  }

  // verbs_soft_model_load: 0 or an errno; 0 if it is loaded already. No lock is held here: the NIC has its own, around
  // its calls of the model and in register_model, and the table is there before the NIC knows the model.
  int load(verbs_soft_extension_function extension, const verbs_soft_model& model) {
    const verbs_soft_extension_table* found = table();
    if (!found) {
      found = extension ? extension(VERBS_SOFT_EXTENSION_VERSION) : nullptr;
      if (!found) return ENOSYS;
      const verbs_soft_extension_table* first = nullptr;
      if (!table_.compare_exchange_strong(first, found)) found = first;
    }
    return found->register_model(&model);
  }

 private:
  std::atomic<const verbs_soft_extension_table*> table_ = nullptr;
};

}  // namespace verbs::soft_model
