#include "host/machine/counter_slot.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "host/machine/machine.h"
#include "machine/counter_file.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::host {

namespace {

using machine::CounterFile;
using Name = std::array<char, CounterFile::kNameRoom>;

constexpr int kLockAttempts = 100;
constexpr timespec kLockPause = {.tv_sec = 0, .tv_nsec = 1'000'000};

bool lock(int fd, short type, std::size_t start, std::size_t size) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(start);
  range.l_len = static_cast<off_t>(size);
  return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

// The names are written by one process at a time. Another one may have been stopped while it does.
bool lock_names(int fd) {
  for (int i = 0; i < kLockAttempts; ++i) {
    if (lock(fd, F_WRLCK, 0, CounterFile::kFirstSlot)) return true;
    nanosleep(&kLockPause, nullptr);
  }
  return false;
}

// Room that is there: writing to memory of a full disk would be SIGBUS.
bool make_room(int fd, std::size_t end) {
  struct stat status{};
  if (fstat(fd, &status) != 0) return false;
  if (status.st_size >= static_cast<off_t>(end)) return true;
  return may_be_long(end) && posix_fallocate(fd, 0, static_cast<off_t>(end)) == 0;
}

Name name_of(const char* text) {
  Name name{};
  std::strncpy(name.data(), text, name.size() - 1);
  return name;
}

}  // namespace

std::unique_ptr<CounterSlot> CounterSlot::claim(const std::string& device, const std::vector<const char*>& own,
                                                Report others) {
  if (machine_folder().empty()) return nullptr;
  std::unique_ptr<CounterSlot> slot(new CounterSlot);
  slot->others_ = std::move(others);
  return slot->open(device, own) ? std::move(slot) : nullptr;
}

CounterSlot::~CounterSlot() {
  if (words_) publish();
  if (mapping_) munmap(mapping_, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  if (fd_ >= 0) close(fd_);
}

bool CounterSlot::open(const std::string& device, const std::vector<const char*>& own) {
  const std::string folder = machine_folder() + "/counters";
  mkdir(folder.c_str(), 0755);
  const std::string path = folder + "/" + device;
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  return fd_ >= 0 && enter_names(own) && take_slot();
}

bool CounterSlot::enter_names(const std::vector<const char*>& own) {
  if (!lock_names(fd_)) return false;
  const auto end = [&](bool result) {
    lock(fd_, F_UNLCK, 0, CounterFile::kFirstSlot);
    return result;
  };
  if (!make_room(fd_, CounterFile::kFirstSlot)) return end(false);
  std::vector<Name> names(CounterFile::kCounters);
  const std::size_t size = names.size() * sizeof(Name);
  if (pread(fd_, names.data(), size, 0) != static_cast<ssize_t>(size)) return end(false);
  const std::vector<Name> before = names;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i]) names[i] = name_of(own[i]);
  }
  bool complete = true;
  others_([&](const char* text, std::uint64_t value) {
    const Name name = name_of(text);
    std::size_t place = own.size();
    while (place < names.size() && names[place][0] != '\0' && names[place] != name) ++place;
    complete = complete && place < names.size();
    if (!complete) return;
    names[place] = name;
    copied_.push_back({place, 0 - value});
  });
  if (!complete || names == before) return end(complete);
  return end(may_be_long(size) && pwrite(fd_, names.data(), size, 0) == static_cast<ssize_t>(size));
}

bool CounterSlot::take_slot() {
  for (std::size_t index = 0; index < CounterFile::kMostSlots; ++index) {
    const std::size_t start = CounterFile::slot(index);
    if (!lock(fd_, F_WRLCK, start, CounterFile::kSlotSize)) {
      if (errno == EAGAIN || errno == EACCES) continue;
      return false;
    }
    if (!make_room(fd_, start + CounterFile::kSlotSize)) return false;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t first = start / page * page;
    mapping_ = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(first));
    if (mapping_ == MAP_FAILED) {
      mapping_ = nullptr;
      return false;
    }
    words_ = reinterpret_cast<std::uint64_t*>(static_cast<char*>(mapping_) + (start - first));
    for (Copied& copied : copied_) copied.before += words_[copied.place];
    return true;
  }
  return false;
}

void CounterSlot::publish() {
  std::size_t next = 0;
  others_([&](const char*, std::uint64_t value) {
    const Copied& copied = copied_[next++];
    std::atomic_ref(words_[copied.place]).store(copied.before + value, std::memory_order_relaxed);
  });
}

}  // namespace verbs::soft::host
