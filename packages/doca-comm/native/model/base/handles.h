// The opaque structures that the user holds. Their memory is never freed, so that a stale pointer is recognised and not
// followed. A released structure is used again only after many others were released. A pointer that is none of them is
// recognised by its address, and not read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
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
  Handle* next_free = nullptr;

  Object* get() const { return magic == kAlive && generation == process_generation() ? object.get() : nullptr; }
};

// `Structure` derives from Handle<Object>.
template <typename Structure, typename Object>
class HandlePool {
 public:
  static HandlePool& get() {
    static constinit HandlePool pool;  // without a destructor: it outlives every thread
    (void)kRegistered;
    return pool;
  }

  // The object of a structure of this pool; nullptr for any other pointer, a stale one and one of the parent process.
  // Takes no lock: messages pass here.
  Object* find(const Structure* handle) const {
    for (const Chunk* chunk = chunks_.load(std::memory_order_acquire); chunk; chunk = chunk->next) {
      const auto offset =
          reinterpret_cast<std::uintptr_t>(handle) - reinterpret_cast<std::uintptr_t>(&chunk->structures);
      if (offset >= sizeof chunk->structures) continue;
      return offset % sizeof(Structure) == 0 ? handle->get() : nullptr;
    }
    return nullptr;
  }

  Structure* add(std::shared_ptr<Object> object) {
    const std::lock_guard guard(mutex_);
    Structure* handle = nullptr;
    if (free_count_ > kMinFree) {
      handle = static_cast<Structure*>(first_free_);
      first_free_ = handle->next_free;
      --free_count_;
    } else {
      if (next_ == kChunk) {
        chunks_.store(new Chunk{.structures = {}, .next = chunks_.load(std::memory_order_relaxed)},
                      std::memory_order_release);
        next_ = 0;
      }
      handle = &chunks_.load(std::memory_order_relaxed)->structures[next_++];
    }
    handle->object = std::move(object);
    handle->generation = process_generation();
    handle->magic = Structure::kAlive;
    return handle;
  }

  // False if another thread was first. Needs no memory.
  bool remove(Structure* handle) {
    std::shared_ptr<Object> object;  // destroyed after the lock is released
    const std::lock_guard guard(mutex_);
    if (!handle->get()) return false;
    handle->magic = 0;
    object.swap(handle->object);
    handle->next_free = nullptr;
    (free_count_ == 0 ? first_free_ : last_free_->next_free) = handle;
    last_free_ = handle;
    ++free_count_;
    return true;
  }

 private:
  static std::mutex& lock() { return get().mutex_; }
  static const int kRegistered;  // when the library is loaded: a fork that has begun does not know a later lock

  static constexpr std::size_t kMinFree = 1024;
  static constexpr std::size_t kChunk = 1024;
  struct Chunk {
    std::array<Structure, kChunk> structures;
    Chunk* next;
  };
  std::mutex mutex_;
  std::atomic<Chunk*> chunks_{nullptr};  // the newest; the list only grows
  std::size_t next_ = kChunk;            // the first unused structure of the newest chunk
  // The released structures, the oldest first.
  Handle<Object>* first_free_ = nullptr;
  Handle<Object>* last_free_ = nullptr;
  std::size_t free_count_ = 0;
};

template <typename Structure, typename Object>
const int HandlePool<Structure, Object>::kRegistered = soft::model::take_leaf_at_fork<HandlePool::lock>();

}  // namespace verbs::doca_comm::model
