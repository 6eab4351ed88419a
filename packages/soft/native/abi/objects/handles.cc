#include "abi/objects/handles.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "abi/objects/process_lock.h"

namespace verbs::soft::abi {

namespace {

// The object of an address that a program has.
struct Known {
  Handles* owner = nullptr;  // nullptr for a context
  std::uint32_t handle = 0;
  std::uint64_t born = 0;
  Handles::Free free = nullptr;
  bool imported = false;
};

using Addresses = std::unordered_map<const void*, Known>;

// Guarded by process_lock(); never destroyed.
Addresses& addresses() {
  static Addresses* all = new Addresses;
  return *all;
}

std::uint64_t births = 0;

}  // namespace

Handles::~Handles() {
  const std::lock_guard lock(process_lock());
  std::erase_if(addresses(), [this](const auto& known) { return known.second.owner == this; });
}

bool Handles::is_current(std::uint32_t handle, std::uint64_t born) const {
  return handle < entries_.size() && entries_[handle].born == born;
}

std::uint32_t Handles::add(void* object, Destroy destroy, Users* users) {
  return add_importable(object, destroy, Kind::kOther, nullptr, users);
}

std::uint32_t Handles::add_importable(void* object, Destroy destroy, Kind kind, Free free, Users* users) {
  const std::lock_guard lock(process_lock());
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(entries_.size()));
    entries_.emplace_back();
  }
  const std::uint32_t handle = free_.back();
  free_.pop_back();
  entries_[handle] = {object, destroy, free, kind, users, ++births};
  if (users) ++*users;
  addresses()[object] = {this, handle, births, free, false};
  return handle;
}

void Handles::remove(std::uint32_t handle) {
  const std::lock_guard lock(process_lock());
  if (handle >= entries_.size()) return;
  addresses().erase(entries_[handle].object);
  erase(handle);
}

bool Handles::retire(std::uint32_t handle, const void* ibv) {
  const std::lock_guard lock(process_lock());
  const auto found = addresses().find(ibv);
  if (found == addresses().end() || found->second.owner != this || found->second.handle != handle) return false;
  if (!is_current(handle, found->second.born)) return false;
  addresses().erase(found);
  return true;
}

void Handles::restore(std::uint32_t handle) {
  const std::lock_guard lock(process_lock());
  const Entry& entry = entries_[handle];
  addresses()[entry.object] = {this, handle, entry.born, entry.free, false};
}

void Handles::erase_retired(std::uint32_t handle) {
  const std::lock_guard lock(process_lock());
  erase(handle);
}

void Handles::erase(std::uint32_t handle) {
  if (entries_[handle].users) --*entries_[handle].users;
  entries_[handle] = {};
  free_.push_back(handle);
}

void Handles::set_users(std::uint32_t handle, Users* users) {
  const std::lock_guard lock(process_lock());
  if (users) ++*users;
  if (Users* before = std::exchange(entries_[handle].users, users)) --*before;
}

void* Handles::find(std::uint32_t handle, Kind kind) const {
  const std::lock_guard lock(process_lock());
  return handle < entries_.size() && entries_[handle].born != 0 && entries_[handle].kind == kind
             ? entries_[handle].object
             : nullptr;
}

bool Handles::add_import(std::uint32_t handle, void* ibv, Free free) {
  const std::lock_guard lock(process_lock());
  if (handle >= entries_.size() || entries_[handle].born == 0) return false;
  addresses()[ibv] = {this, handle, entries_[handle].born, free, true};
  return true;
}

void Handles::remove(std::uint32_t handle, const void* ibv) {
  const std::lock_guard lock(process_lock());
  addresses().erase(ibv);
  if (handle < entries_.size()) erase(handle);
}

void Handles::unimport(void* ibv) {
  Known dropped;
  {
    const std::lock_guard lock(process_lock());
    const auto found = addresses().find(ibv);
    if (found == addresses().end() || !found->second.owner) return;
    dropped = found->second;
    if (!dropped.imported && dropped.owner->is_current(dropped.handle, dropped.born)) return;
    addresses().erase(found);
  }
  if (dropped.free) dropped.free(ibv);
}

std::size_t Handles::destroy_newest_first() {
  std::vector<Entry> left;
  {
    const std::lock_guard lock(process_lock());
    left = entries_;
  }
  std::erase_if(left, [](const Entry& entry) { return entry.born == 0; });
  std::sort(left.begin(), left.end(), [](const Entry& a, const Entry& b) { return a.born > b.born; });
  for (const Entry& entry : left) entry.destroy(entry.object);
  const std::lock_guard lock(process_lock());
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.born != 0; }));
}

void Handles::destroy_all() {
  // In the first round a domain is busy if an older region was moved to it.
  std::size_t before = SIZE_MAX, left = destroy_newest_first();
  while (left != 0 && left < before) {
    before = left;
    left = destroy_newest_first();
  }
  std::vector<std::pair<void*, Free>> abandoned;
  {
    const std::lock_guard lock(process_lock());
    std::erase_if(addresses(), [&](const auto& known) {
      if (known.second.owner != this) return false;
      if (known.second.free) abandoned.emplace_back(const_cast<void*>(known.first), known.second.free);
      return true;
    });
    entries_.clear();
    free_.clear();
  }
  for (const auto& [ibv, free] : abandoned) free(ibv);
}

bool is_live(const void* ibv) {
  const std::lock_guard lock(process_lock());
  const auto found = addresses().find(ibv);
  if (found == addresses().end()) return false;
  const Known& known = found->second;
  return !known.owner || known.owner->is_current(known.handle, known.born);
}

void add_context(const void* context) {
  const std::lock_guard lock(process_lock());
  addresses()[context] = {};
}

void remove_context(const void* context) {
  const std::lock_guard lock(process_lock());
  addresses().erase(context);
}

}  // namespace verbs::soft::abi
