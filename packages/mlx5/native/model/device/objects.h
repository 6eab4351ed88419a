// Handles: which of the pointers that a program hands in are objects of the model, and which objects are in use.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace verbs::mlx5 {

// Guards all objects of all contexts; the device's lock guards what frames meet, and is taken after this one. Verbs of
// the NIC may be called under it, never the reverse.
inline std::recursive_mutex& model_mutex() {
  static auto& mutex = *new std::recursive_mutex;  // outlives the threads that a program leaves running at its end
  return mutex;
}

using ModelLock = std::lock_guard<std::recursive_mutex>;

// An object that others may use, which cannot go before they do.
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

// Keeps an object in use.
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

// The living objects of a type, by what programs know them as.
template <typename T, typename Face = T>
class Live {
 public:
  T* add(std::unique_ptr<T> object) {
    T* added = object.get();
    objects_.emplace(static_cast<const Face*>(added), std::move(object));
    return added;
  }
  // nullptr: no pointer of ours, or not any more.
  T* find(const Face* face) const {
    const auto found = objects_.find(face);
    return found == objects_.end() ? nullptr : found->second.get();
  }
  void remove(T* object) { objects_.erase(static_cast<const Face*>(object)); }
  template <typename Condition>
  void remove_if(Condition&& condition) {
    std::erase_if(objects_, [&](const auto& entry) { return condition(*entry.second); });
  }
  template <typename Visit>
  void each(Visit&& visit) const {
    for (const auto& [face, object] : objects_) visit(*object);
  }

 private:
  std::unordered_map<const Face*, std::unique_ptr<T>> objects_;
};

// The one table of a type.
template <typename T, typename Face = T>
Live<T, Face>& live() {
  static auto& table = *new Live<T, Face>;
  return table;
}

}  // namespace verbs::mlx5
