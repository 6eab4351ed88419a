// Memory for the objects that programs hold pointers to: tasks and buffers. It is never given back to the system, so
// that a stale pointer never dangles; a released block is used again.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <mutex>
#include <vector>

#include "verbs_soft_fork.h"

namespace verbs::doca_comm::model {

// T has a default state in which it is nobody's.
template <typename T>
class Slab {
 public:
  // At least `count` objects.
  static T* take(std::size_t count) {
    (void)kRegistered;
    std::vector<T*>& blocks = free_of(count);
    const std::lock_guard guard(mutex());
    blocks.reserve(blocks.size() + 1);  // give() needs no memory
    if (blocks.empty()) return new T[std::bit_ceil(count)];
    T* block = blocks.back();
    blocks.pop_back();
    return block;
  }
  static void give(T* block, std::size_t count) {
    std::vector<T*>& blocks = free_of(count);
    const std::lock_guard guard(mutex());
    blocks.push_back(block);
  }

 private:
  static std::mutex& mutex() {
    static constinit std::mutex mutex;
    return mutex;
  }
  static std::vector<T*>& free_of(std::size_t count) {
    static auto* free = new std::array<std::vector<T*>, 33>;  // outlives every thread
    return (*free)[static_cast<std::size_t>(std::bit_width(std::bit_ceil(count)))];
  }
  static const int kRegistered;  // when the library is loaded, as that of a HandlePool
};

template <typename T>
const int Slab<T>::kRegistered = soft::model::take_leaf_at_fork<Slab::mutex>();

}  // namespace verbs::doca_comm::model
