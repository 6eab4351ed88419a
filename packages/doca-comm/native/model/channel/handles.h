// The opaque structures that the user holds. Their memory is never freed, so that a stale pointer is recognised and not
// followed. A released structure is used again only after many others were released.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "verbs_soft_fork.h"

namespace verbs::doca_comm::model {

// Counts the forks between this process and the first one: a forked child cannot use a handle of its parent.
std::uint32_t process_generation();

template <typename Object>
struct Handle {
  static constexpr std::uint64_t kAlive = 0x646f63612d63632dull;
  std::uint64_t magic = 0;
  std::uint32_t generation = 0;
  std::shared_ptr<Object> object;

  Object* get() const { return magic == kAlive && generation == process_generation() ? object.get() : nullptr; }
};

// `Structure` derives from Handle<Object>.
template <typename Structure, typename Object>
class HandlePool {
 public:
  static HandlePool& get() {
    static auto* pool = new HandlePool;  // outlives every thread
    [[maybe_unused]] static const int kOnce = soft::model::take_leaf_at_fork<lock>();
    return *pool;
  }

  Structure* add(std::shared_ptr<Object> object) {
    const std::lock_guard guard(mutex_);
    Structure* handle = nullptr;
    if (free_.size() > kMinFree) {
      handle = free_.front();
      free_.pop_front();
    } else {
      handle = &all_.emplace_back();
    }
    handle->object = std::move(object);
    handle->generation = process_generation();
    handle->magic = Structure::kAlive;
    return handle;
  }

  void remove(Structure* handle) {
    std::shared_ptr<Object> object;  // destroyed after the lock is released
    const std::lock_guard guard(mutex_);
    handle->magic = 0;
    object.swap(handle->object);
    free_.push_back(handle);
  }

 private:
  static std::mutex& lock() { return get().mutex_; }

  static constexpr std::size_t kMinFree = 1024;
  std::mutex mutex_;
  std::deque<Structure> all_;
  std::deque<Structure*> free_;
};

}  // namespace verbs::doca_comm::model
