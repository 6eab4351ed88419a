// Handles of native objects in JavaScript: a type-tagged External around a shared_ptr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding/lifetime/object.h"
#include "provider/boundary.h"
#include "provider/environment.h"
#include "provider/value.h"

namespace verbs::core {

using namespace verbs::provider;  // NOLINT(google-build-using-namespace): the forms of every addon

class Library;

// A new handle. When it is collected, its share of the object is dropped.
Napi::Value wrap_object(Napi::Env env, std::shared_ptr<Object> object);
Napi::Value wrap_library(Napi::Env env, std::shared_ptr<const Library> library);

// The object behind a handle, open or closed. Throws TypeError for anything that is no handle of ours.
std::shared_ptr<Object> unwrap_object(napi_env env, napi_value value);
std::shared_ptr<const Library> unwrap_library(napi_env env, napi_value value);

// The same for one kind of object, and it must be open: throws otherwise (code ERR_VERBS_CLOSED). JavaScript that runs
// afterwards may close it: where arguments are still to be read, take() it.
std::shared_ptr<Object> unwrap_open(napi_env env, napi_value value, verbs_core_kind kind);

// True the first time that it is asked for a handle: each is for one object of JavaScript. `destroyer` is the name of
// its destroy function.
bool claim(napi_env env, napi_value value, std::string destroyer);

// An object for the time of a call, which keeps it open. What outlives the call keeps the shared_ptr.
template <typename T>
class Taken : public std::shared_ptr<T> {
 public:
  Taken(std::nullptr_t = nullptr) {}
  explicit Taken(std::shared_ptr<T> object) : std::shared_ptr<T>(std::move(object)), held_(*this) {
    held_->begin_call();
  }
  ~Taken() {
    if (held_) held_->end_call();
  }
  Taken(Taken&&) = default;
  Taken& operator=(Taken&& other) {
    this->swap(other);
    held_.swap(other.held_);
    return *this;
  }

 private:
  std::shared_ptr<T> held_;  // the base may be moved from
};

// The open object behind a handle, for the time of the call. Throws as unwrap_open() does.
template <typename T>
Taken<T> take(napi_env env, napi_value value) {
  return Taken<T>(std::static_pointer_cast<T>(unwrap_open(env, value, T::kKind)));
}
template <typename T>
Taken<T> take(const Napi::CallbackInfo& info, std::size_t index) {
  return take<T>(info.Env(), info[index]);
}

const char* kind_name(verbs_core_kind kind);

// Some providers give NULL without setting errno.
int creation_error();

// Small unforgeable names for objects: an index with a generation, so that a stale id finds nothing. A batch keeps the
// ids of its requests for as long as the program likes, so an index rests before it is used again: an id comes back
// after 16 million others.

template <typename T>
class IdTable {
 public:
  // Never 0.
  std::uint32_t insert(T* object) {
    std::uint32_t index;
    if (resting_ > kRest || (resting_ != 0 && slots_.size() > kMaxIndex)) {
      index = oldest_;
      oldest_ = slots_[index].next;
      resting_--;
    } else {
      index = static_cast<std::uint32_t>(slots_.size());
      if (index > kMaxIndex) return 0;
      slots_.push_back({});
    }
    Slot& slot = slots_[index];
    slot.object = object;
    return slot.generation << kIndexBits | index;
  }

  T* find(std::uint32_t id) const {
    const std::uint32_t index = id & kMaxIndex;
    if (index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    return slot.generation == id >> kIndexBits ? slot.object : nullptr;
  }

  void erase(std::uint32_t id) {
    if (find(id) == nullptr) return;
    const std::uint32_t index = id & kMaxIndex;
    Slot& slot = slots_[index];
    slot.object = nullptr;
    slot.generation = slot.generation == kMaxGeneration ? 1 : slot.generation + 1;
    (resting_ == 0 ? oldest_ : slots_[newest_].next) = index;
    newest_ = index;
    resting_++;
  }

 private:
  static constexpr unsigned kIndexBits = 22;  // four million live objects, a thousand generations
  static constexpr std::uint32_t kMaxIndex = (1u << kIndexBits) - 1;
  static constexpr std::uint32_t kMaxGeneration = (1u << (32 - kIndexBits)) - 1;
  static constexpr std::uint32_t kRest = 1u << 14;
  struct Slot {
    T* object = nullptr;
    std::uint32_t generation = 1;
    std::uint32_t next = 0;  // of one that rests: the one that was given back after it
  };
  std::vector<Slot> slots_;
  // Those that rest, from the oldest.
  std::uint32_t oldest_ = 0;
  std::uint32_t newest_ = 0;
  std::uint32_t resting_ = 0;
};

// The state of the addon for one JavaScript environment (the main thread or a worker). Environments share nothing.

class AddressHandle;
class Library;
class MemoryBlock;
class MemoryRegion;
class MemoryWindow;
class RequestQueue;

struct Environment final : provider::Environment {
  static std::shared_ptr<Environment> create(napi_env env);
  static const std::shared_ptr<Environment>& of(napi_env env);
  // For calls of a provider's addon, which has a napi_env of its own.
  static std::shared_ptr<Environment> of_thread();

  // The number by which events name a completion queue or queue pair.
  std::uintptr_t next_id = 1;
  // Work requests name memory regions, address handles and memory windows by these ids, so that no pointer ever comes
  // from JavaScript.
  IdTable<MemoryRegion> memory_regions;
  IdTable<AddressHandle> address_handles;
  IdTable<MemoryWindow> memory_windows;
  // The queue of a C wr_id, by the id in its upper half.
  IdTable<RequestQueue> request_queues;
  // The memory of allocMr, by its first address.
  std::map<std::uintptr_t, std::weak_ptr<MemoryBlock>> blocks;
  // Libraries by the name they were asked for.
  // By name and prefix.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Library>> libraries;
};

}  // namespace verbs::core
