// Memory for the objects that programs hold pointers to: tasks and buffers. It is never given back to the system, so
// that a stale pointer never dangles; a released block is used again.
#pragma once

#include <algorithm>
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
    Blocks& blocks = blocks_of(count);
    const std::lock_guard guard(mutex());
    // give() needs no memory, also if all that are out come back.
    const std::size_t all = blocks.free.size() + blocks.out + 1;
    if (blocks.free.capacity() < all) blocks.free.reserve(std::max(all, 2 * blocks.free.capacity()));
    T* block = blocks.free.empty() ? new T[std::bit_ceil(count)] : blocks.free.back();
    if (!blocks.free.empty()) blocks.free.pop_back();
    ++blocks.out;
    return block;
  }
  static void give(T* block, std::size_t count) noexcept {
    Blocks& blocks = blocks_of(count);
    const std::lock_guard guard(mutex());
    blocks.free.push_back(block);
    --blocks.out;
  }

 private:
  struct Blocks {
    std::vector<T*> free;
    std::size_t out = 0;
  };

  static std::mutex& mutex() {
    static constinit std::mutex mutex;
    return mutex;
  }
  static Blocks& blocks_of(std::size_t count) {
    static auto* blocks = new std::array<Blocks, 33>{};  // outlives every thread
    return (*blocks)[static_cast<std::size_t>(std::bit_width(std::bit_ceil(count)))];
  }
  static const int kRegistered;  // when the library is loaded, as that of a HandlePool
};

template <typename T>
const int Slab<T>::kRegistered = soft::model::take_leaf_at_fork<Slab::mutex>();

}  // namespace verbs::doca_comm::model
