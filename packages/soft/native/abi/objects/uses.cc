#include "abi/objects/uses.h"

#include <mutex>

#include "abi/objects/addresses.h"
#include "abi/objects/process_lock.h"

namespace verbs::soft::abi {

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
