#include "abi/objects/handles.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "abi/objects/process_lock.h"

namespace verbs::soft::abi {

namespace {

struct Face {
  Handles* owner = nullptr;  // nullptr for a context
  std::uint32_t handle = 0;
  std::uint64_t born = 0;
  Handles::Free free = nullptr;
  bool imported = false;
};

using Faces = std::unordered_map<const void*, Face>;

// Guarded by process_lock(); never destroyed.
Faces& faces() {
  static Faces* all = new Faces;
  return *all;
}

std::uint64_t births = 0;

}  // namespace

Handles::~Handles() {
  const std::lock_guard lock(process_lock());
  std::erase_if(faces(), [this](const auto& known) { return known.second.owner == this; });
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
  faces()[object] = {this, handle, births, free, false};
  return handle;
}

void Handles::remove(std::uint32_t handle) {
  const std::lock_guard lock(process_lock());
  if (handle >= entries_.size()) return;
  faces().erase(entries_[handle].object);
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

bool Handles::add_face(std::uint32_t handle, void* face, Free free) {
  const std::lock_guard lock(process_lock());
  if (handle >= entries_.size() || entries_[handle].born == 0) return false;
  faces()[face] = {this, handle, entries_[handle].born, free, true};
  return true;
}

void Handles::remove(std::uint32_t handle, const void* face) {
  const std::lock_guard lock(process_lock());
  faces().erase(face);
  if (handle < entries_.size()) erase(handle);
}

void Handles::drop_face(void* face) {
  Face dropped;
  {
    const std::lock_guard lock(process_lock());
    const auto found = faces().find(face);
    if (found == faces().end() || !found->second.owner) return;
    dropped = found->second;
    if (!dropped.imported && dropped.owner->is_current(dropped.handle, dropped.born)) return;
    faces().erase(found);
  }
  if (dropped.free) dropped.free(face);
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
  // A region that was moved to a newer domain keeps that busy in the first round.
  std::size_t before = SIZE_MAX, left = destroy_newest_first();
  while (left != 0 && left < before) {
    before = left;
    left = destroy_newest_first();
  }
  std::vector<std::pair<void*, Free>> abandoned;
  {
    const std::lock_guard lock(process_lock());
    std::erase_if(faces(), [&](const auto& known) {
      if (known.second.owner != this) return false;
      if (known.second.free) abandoned.emplace_back(const_cast<void*>(known.first), known.second.free);
      return true;
    });
    entries_.clear();
    free_.clear();
  }
  for (const auto& [face, free] : abandoned) free(face);
}

bool is_live(const void* face) {
  const std::lock_guard lock(process_lock());
  const auto found = faces().find(face);
  if (found == faces().end()) return false;
  const Face& known = found->second;
  return !known.owner || known.owner->is_current(known.handle, known.born);
}

void add_context(const void* context) {
  const std::lock_guard lock(process_lock());
  faces()[context] = {};
}

void remove_context(const void* context) {
  const std::lock_guard lock(process_lock());
  faces().erase(context);
}

}  // namespace verbs::soft::abi
