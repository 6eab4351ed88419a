// The objects of the model: a pointer from a program is checked against the living objects, and an object in use cannot
// be destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "verbs_soft_fair_lock.h"

namespace verbs::mlx5::model {

// The one object of a type in the process, never destroyed: threads may still run when the program exits. It takes no
// memory, without which a context could not look through the objects that end with it.
template <typename T>
T& lasting() {
  alignas(T) static std::byte room[sizeof(T)];
  static T& object = *new (room) T;
  return object;
}

// Guards all objects of all contexts. The device's lock guards the tables that frames pass; it is taken after this one.
// Verbs of the NIC may be called under this lock, never the reverse.
inline soft::FairLock& model_mutex() { return lasting<soft::FairLock>(); }

using ModelLock = std::lock_guard<soft::FairLock>;

// An object that others use, and that outlives its users.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  bool in_use() const { return uses_ != 0; }

 private:
  friend class Use;
  std::uint32_t uses_ = 0;
};

// Keeps an object in use while it exists.
class Use {
 public:
  explicit Use(Counted& object) : object_(&object) { ++object.uses_; }
  Use(Use&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Use& operator=(Use&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Use() {
    if (object_) --object_->uses_;
  }

 private:
  Counted* object_;
};

using Uses = std::vector<Use>;

// The living objects of a type, by the pointer that programs have.
template <typename T, typename Handle = T>
class Live {
 public:
  T* add(std::unique_ptr<T> object) {
    T* added = object.get();
    objects_.emplace(static_cast<const Handle*>(added), std::move(object));
    return added;
  }
  // nullptr for an unknown or stale pointer.
  T* find(const Handle* handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second.get();
  }
  void remove(T* object) { objects_.erase(static_cast<const Handle*>(object)); }
  template <typename Condition>
  void remove_if(Condition&& condition) {
    std::erase_if(objects_, [&](const auto& entry) { return condition(*entry.second); });
  }
  template <typename Visit>
  void each(Visit&& visit) const {
    for (const auto& [handle, object] : objects_) visit(*object);
  }

 private:
  std::unordered_map<const Handle*, std::unique_ptr<T>> objects_;
};

// A living object while it is being made: removed again unless kept. So nothing that the object refers to, such as a
// rule of a table, is without it when memory is short.
template <typename T, typename Handle = T>
class Making {
 public:
  Making(Live<T, Handle>& table, std::unique_ptr<T> object) : table_(table), object_(table.add(std::move(object))) {}
  ~Making() {
    if (object_) table_.remove(object_);
  }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  T* keep() { return std::exchange(object_, nullptr); }

 private:
  Live<T, Handle>& table_;
  T* object_;
};

// The one table of a type.
template <typename T, typename Handle = T>
Live<T, Handle>& live() {
  return lasting<Live<T, Handle>>();
}

}  // namespace verbs::mlx5::model
