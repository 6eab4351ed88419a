#include "system/served.h"

#include <sys/resource.h>

#include <atomic>
#include <cstdint>

#include "machine/folder.h"
#include "system/libc.h"
#include "system/place.h"
#include "system/text.h"
#include "system/tree.h"

namespace verbs::soft::system {

namespace {

// The kernel's name of such a file is "/memfd:" before the name that it has in the tree.
constexpr std::string_view kInMemory = "/memfd:";
constexpr std::string_view kDeleted = " (deleted)";
constexpr std::size_t kMemoryNameRoom = 250;  // of memfd_create()

using FileName = TextOf<machine::kRootRoom + machine::kNameRoom>;

std::atomic<bool> holds_some{false};

bool read_name(int fd, FileName* name) {
  TextOf<32> link;
  add_descriptor_path(&link, fd);
  const long size = kernel::read_link(link.c_str(), name->letters(), machine::kRootRoom + machine::kNameRoom - 1);
  if (size <= 0) return false;
  name->resize(static_cast<std::size_t>(size));
  return true;
}

// The file of a device in this name of the kernel's, or nothing.
std::string_view served_file(std::string_view name) {
  if (!name.starts_with(kInMemory)) return {};
  name.remove_prefix(kInMemory.size());
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return device_file(name);
}

// A write beyond the process's limit would end it by SIGXFSZ.
bool may_write(std::size_t size) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= size;
}

bool fill(int fd, std::string_view content) {
  return may_write(content.size()) &&
         kernel::write_at(fd, content.data(), content.size(), 0) == static_cast<long>(content.size()) &&
         syscall(SYS_ftruncate, fd, content.size()) == 0;
}

// The file in memory with that name, for reading only: opened anew. -1: there can be none.
int make_file(std::string_view name, std::string_view content, int flags) {
  TextOf<kMemoryNameRoom> memory_name;
  memory_name.add(name);
  if (!memory_name.whole()) return -1;
  const auto writable = static_cast<int>(syscall(SYS_memfd_create, memory_name.c_str(), MFD_CLOEXEC));
  if (writable < 0) return -1;
  TextOf<32> link;
  add_descriptor_path(&link, writable);
  int made = -1;
  if (fill(writable, content) && syscall(SYS_fchmod, writable, 0644) == 0) {
    made = kernel::open(link.c_str(), O_RDONLY | (flags & O_NONBLOCK));
  }
  kernel::close(writable);
  return made;
}

// Those that the program before this one has left open.
[[gnu::constructor]] void look_at_inherited() {
  const KeepErrno keep;
  const int folder = kernel::open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
  if (folder < 0) return;
  machine::for_each_entry(folder, [](const char* digits) {
    int fd = 0;
    for (const char* digit = digits; *digit >= '0' && *digit <= '9'; ++digit) fd = 10 * fd + (*digit - '0');
    FileName name;
    if (read_name(fd, &name) && !served_file(name.view()).empty()) holds_some = true;
  });
  kernel::close(folder);
}

}  // namespace

int serve(int fd, int flags) {
  const KeepErrno keep;
  struct stat status{};
  if (kernel::stat_of(fd, &status) != 0) return fd;
  if (S_ISDIR(status.st_mode)) {
    note_folder();
    return fd;
  }
  FileName path;
  if (!read_name(fd, &path)) return fd;
  const std::string_view name = name_in_tree(path.view());
  TextOf<machine::kContentRoom + 1> text;
  const Content content = content_of(device_file(name), &text);
  if (content == Content::kUnreadable || (content == Content::kFixed && status.st_size == 0)) {
    kernel::close(fd);
    return -1;
  }
  if (content == Content::kFixed) return fd;
  const int made = make_file(name, text.view(), flags);
  if (made < 0) return fd;
  holds_some.store(true, std::memory_order_relaxed);
  // The program gets the lowest number that was free.
  if (syscall(SYS_dup3, made, fd, flags & O_CLOEXEC) < 0) return made;
  kernel::close(made);
  return fd;
}

bool holds_served() { return holds_some.load(std::memory_order_relaxed); }

int refresh(int fd, off_t at) {
  const KeepErrno keep;
  if (at < 0) at = syscall(SYS_lseek, fd, 0, SEEK_CUR);
  struct stat status{};
  if (at != 0 || kernel::stat_of(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 0) return 0;
  FileName name;
  if (!read_name(fd, &name)) return 0;
  const std::string_view file = served_file(name.view());
  if (file.empty()) return 0;
  TextOf<machine::kContentRoom + 1> text;
  const Content content = content_of(file, &text);
  if (content == Content::kUnreadable) return EINVAL;
  if (content == Content::kFixed) return 0;
  TextOf<32> link;
  add_descriptor_path(&link, fd);
  const int writable = kernel::open(link.c_str(), O_WRONLY);
  if (writable < 0) return 0;
  fill(writable, text.view());
  kernel::close(writable);
  return 0;
}

}  // namespace verbs::soft::system
