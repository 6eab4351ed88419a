#include "abi/objects/handles.h"

#include <sched.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "abi/objects/addresses.h"
#include "abi/objects/locks.h"

namespace verbs::soft::abi {

Handles::~Handles() {
  const std::lock_guard lock(process_lock());
  std::erase_if(addresses(), [this](const auto& known) { return known.second.file == this; });
}

bool Handles::is_current(std::uint32_t handle, std::uint64_t born) const {
  return born != 0 && handle < entries_.size() && entries_[handle].born == born;
}

bool Handles::is_being_destroyed() const {
  const std::lock_guard lock(process_lock());
  return closer_ != std::thread::id();
}

bool Handles::is_closed_to_caller() const {
  return closer_ != std::thread::id() && closer_ != std::this_thread::get_id();
}

Handles::Place::Place(Handles& handles, void* object, Kind kind, Destroy destroy, Free free)
    : handles_(handles), object_(object) {
  const std::lock_guard lock(process_lock());
  std::vector<Entry>& entries = handles_.entries_;
  std::vector<std::uint32_t>& unused = handles_.free_;
  if (unused.empty()) {
    // erase() must not need memory.
    if (unused.capacity() <= entries.size()) unused.reserve(2 * entries.size() + 16);
    entries.emplace_back();
    unused.push_back(static_cast<std::uint32_t>(entries.size() - 1));
  }
  handle_ = unused.back();
  addresses()[object] = {.file = &handles_, .handle = handle_, .kind = kind, .free = free};
  unused.pop_back();
  Entry& entry = entries[handle_];
  entry.object = object;
  entry.destroy = destroy;
  entry.free = free;
  entry.kind = kind;
}

Handles::Place::~Place() {
  if (published_) return;
  const std::lock_guard lock(process_lock());
  addresses().erase(object_);
  handles_.erase(handle_);
}

void Handles::Place::publish(Users* users) {
  const std::lock_guard lock(process_lock());
  static std::uint64_t births = 0;
  Entry& entry = handles_.entries_[handle_];
  entry.born = ++births;
  entry.older = std::exchange(handles_.newest_, handle_);
  if (entry.older != kNone) handles_.entries_[entry.older].newer = handle_;
  entry.users = users;
  if (users) ++*users;
  Known& known = addresses().find(object_)->second;
  known.born = entry.born;
  known.given = fields_of(known.kind, object_);
  published_ = true;
}

void Handles::remove(const void* ibv) {
  const std::lock_guard lock(process_lock());
  const auto found = addresses().find(ibv);
  if (found == addresses().end()) return;
  const Known known = found->second;
  addresses().erase(found);
  if (!is_current(known.handle, known.born)) return;
  erase(known.handle);
}

void Handles::erase(std::uint32_t handle) {
  Entry& entry = entries_[handle];
  if (entry.users) --*entry.users;
  if (entry.born != 0) {
    (entry.newer == kNone ? newest_ : entries_[entry.newer].older) = entry.older;
    if (entry.older != kNone) entries_[entry.older].newer = entry.newer;
  }
  entry = {};
  free_.push_back(handle);
}

void Handles::set_users(const void* ibv, Users* users) {
  const std::lock_guard lock(process_lock());
  const auto found = addresses().find(ibv);
  if (found == addresses().end() || !is_current(found->second.handle, found->second.born)) return;
  if (users) ++*users;
  if (Users* before = std::exchange(entries_[found->second.handle].users, users)) --*before;
}

void Handles::add_import(std::uint32_t handle, void* ibv, Free free) {
  const std::lock_guard lock(process_lock());
  const Entry& entry = entries_[handle];
  Known known{.file = this, .handle = handle, .kind = entry.kind, .free = free, .imported = true, .born = entry.born};
  known.given = fields_of(entry.kind, ibv);
  addresses()[ibv] = known;
}

void Handles::unimport(void* ibv) {
  Free free = nullptr;
  {
    const std::lock_guard lock(process_lock());
    const auto found = addresses().find(ibv);
    if (found == addresses().end() || found->second.kind == Kind::kContext) return;
    const Known& known = found->second;
    if (!known.imported && (known.born == 0 || known.file->is_current(known.handle, known.born))) return;
    free = known.free;
    addresses().erase(found);
  }
  if (free) free(ibv);
}

// Needs no memory: a context can be closed when there is none.
bool Handles::destroy_newest_first() {
  bool any = false;
  std::unique_lock lock(process_lock());
  for (std::uint32_t handle = newest_; handle != kNone;) {
    const Entry entry = entries_[handle];
    lock.unlock();
    entry.destroy(entry.object);
    lock.lock();
    any |= !is_current(handle, entry.born);
    handle = entry.older;
  }
  return any;
}

void Handles::wait_for_calls() {
  for (;;) {
    {
      const std::lock_guard lock(process_lock());
      if (calls_ == 0) return;
    }
    sched_yield();
  }
}

void Handles::destroy_all() {
  {
    const std::lock_guard lock(process_lock());
    closer_ = std::this_thread::get_id();
  }
  wait_for_calls();
  // In the first round a domain is busy if an older region was moved to it.
  while (destroy_newest_first()) continue;
  for (;;) {
    std::pair<const void*, Free> abandoned;
    {
      const std::lock_guard lock(process_lock());
      const auto found = std::find_if(addresses().begin(), addresses().end(),
                                      [this](const auto& known) { return known.second.file == this; });
      if (found == addresses().end()) return;
      abandoned = {found->first, found->second.free};
      addresses().erase(found);
    }
    if (abandoned.second) abandoned.second(const_cast<void*>(abandoned.first));
  }
}

Uses::~Uses() {
  if (count_ == 0) return;
  const std::lock_guard lock(process_lock());
  for (std::size_t i = 0; i < count_; ++i) {
    const Use& use = uses_[i];
    --use.file->calls_;
    if (use.handle != Handles::kNone) --use.file->entries_[use.handle].calls;
  }
}

void Uses::note(Handles* file, std::uint32_t handle) {
  uses_.at(count_++) = {file, handle};
  ++file->calls_;
  if (handle != Handles::kNone) ++file->entries_[handle].calls;
}

namespace {

// Under process_lock(): whether another thread closes the context.
bool is_closing(const Known& context) {
  return context.closer != std::thread::id() && context.closer != std::this_thread::get_id();
}
bool is_closing(const ibv_context* context) {
  const auto found = addresses().find(context);
  return found != addresses().end() && is_closing(found->second);
}

}  // namespace

// Under process_lock(): finds the entry of a live object. 0 or errno.
int Handles::find(const void* ibv, Kind kind, int missing, Known* known) {
  const auto found = addresses().find(ibv);
  if (found == addresses().end()) return missing;
  *known = found->second;
  const Handles& file = *known->file;
  if (known->kind != kind) return EINVAL;
  if (kind == Kind::kContext) return is_closing(*known) ? missing : 0;
  if (!file.is_current(known->handle, known->born) || file.is_closed_to_caller()) return missing;
  if (is_closing(known->given.context)) return missing;
  if (file.entries_[known->handle].retiring) return EBUSY;
  const Fields fields = fields_of(kind, ibv);
  if (fields.context != known->given.context) return missing;
  if (fields.handle == known->given.handle) return 0;
  const bool exists = fields.handle < file.entries_.size() && file.entries_[fields.handle].born != 0;
  return exists ? EINVAL : missing;
}

int Uses::add(const void* ibv, Kind kind, const Handles* file, int missing) {
  const std::lock_guard lock(process_lock());
  Known known;
  if (const int error = Handles::find(ibv, kind, missing, &known)) return error;
  if (file && known.file != file) return EINVAL;
  note(known.file, known.handle);
  return 0;
}

void* Uses::add(Handles& file, std::uint32_t handle, Kind kind) {
  const std::lock_guard lock(process_lock());
  if (handle >= file.entries_.size() || file.is_closed_to_caller()) return nullptr;
  const Handles::Entry& entry = file.entries_[handle];
  if (entry.born == 0 || entry.retiring || entry.kind != kind || !entry.free) return nullptr;
  note(&file, handle);
  return entry.object;
}

int Retirement::begin(const void* ibv, Kind kind) {
  const std::lock_guard lock(process_lock());
  Known known;
  if (const int error = Handles::find(ibv, kind, ENOENT, &known)) return error;
  Handles::Entry& entry = known.file->entries_[known.handle];
  if (entry.calls > 0) return EBUSY;
  entry.retiring = true;
  file_ = known.file;
  handle_ = known.handle;
  born_ = known.born;
  return 0;
}

Retirement::~Retirement() {
  if (!file_) return;
  const std::lock_guard lock(process_lock());
  if (file_->is_current(handle_, born_)) file_->entries_[handle_].retiring = false;
}

bool is_known(const void* ibv, Kind kind) {
  const std::lock_guard lock(process_lock());
  const auto found = addresses().find(ibv);
  if (found == addresses().end() || found->second.kind != kind) return false;
  const Known& known = found->second;
  return kind == Kind::kContext || known.file->is_current(known.handle, known.born);
}

void add_context(ibv_context* context, Handles& handles) {
  const std::lock_guard lock(process_lock());
  addresses()[context] = {.file = &handles};
}

bool begin_close(const ibv_context* context) {
  const std::lock_guard lock(process_lock());
  const auto found = addresses().find(context);
  if (found == addresses().end() || found->second.kind != Kind::kContext) return false;
  if (found->second.closer != std::thread::id()) return false;
  found->second.closer = std::this_thread::get_id();
  return true;
}

void remove_context(const ibv_context* context) {
  const std::lock_guard lock(process_lock());
  addresses().erase(context);
}

}  // namespace verbs::soft::abi
