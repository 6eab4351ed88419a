// Removing an object when there is no memory.
#pragma once

#include <cstdint>
#include <new>

#include "nic/shared/table.h"

namespace verbs::soft::nic {

// As table.erase(). The list of free indexes may lack the memory for one more: then the index is not used again.
template <typename T>
void erase(Table<T>& table, std::uint32_t index) {
  try {
    table.erase(index);
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace verbs::soft::nic
