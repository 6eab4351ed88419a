#include "system/place.h"

#include <atomic>
#include <cstring>

#include "system/kernel.h"
#include "system/paths.h"
#include "system/tree.h"

namespace verbs::soft::system {

namespace {

std::atomic<bool> has_folders{false};

// With a slash, "." or ".." at the end a link is followed.
bool ends_in_folder(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return path.empty() || path == "." || path == "..";
}

// The program that executed this one may have changed to a folder of the tree.
[[gnu::constructor]] void look_where_we_are() {
  const KeepErrno keep;
  TextOf<machine::kRootRoom + machine::kNameRoom> here;
  const long size = kernel::read_link("/proc/self/cwd", here.letters(), machine::kRootRoom + machine::kNameRoom - 1);
  if (size <= 0) return;
  here.resize(static_cast<std::size_t>(size));
  // The folder of the machine is not known yet if this constructor is the first: a path in a tree tells by itself.
  if (here.view().find("/trees/") != std::string_view::npos) note_folder();
}

}  // namespace

void note_folder() { has_folders.store(true, std::memory_order_relaxed); }
bool knows_folders() { return has_folders.load(std::memory_order_relaxed); }

Place::Place(int directory, const char* path) : directory_(directory), original_(path) {
  if (!path || path[0] == '\0') return;
  if (path[0] == '/' ? !may_be_in_folder(path) : !knows_folders() && !may_lead_into_folder(path)) return;
  const KeepErrno keep;
  kind_ = find();
}

std::string_view Place::name() const { return name_so_far(); }

std::string_view Place::name_so_far() const {
  std::string_view name = path_.view();
  name.remove_prefix(root_size_);
  return name;
}

Place::Kind Place::find() {
  add_root(&path_);
  root_size_ = path_.size();
  if (root_size_ == 0) return Kind::kKernels;
  bool inside = false;
  if (original_[0] != '/' && !start_from_directory(&inside)) return Kind::kKernels;
  if (!append(original_)) return Kind::kKernels;
  const std::string_view folder = folder_of(name_so_far());
  if (!folder.empty() && !is_kernels_own(folder)) {
    if (ends_in_folder(original_)) path_.add('/');
    return path_.whole() ? Kind::kOurs : Kind::kKernels;
  }
  if (!inside && !left_ours_) return Kind::kKernels;
  leave();
  return Kind::kLeftOurs;
}

// The name of the folder that a relative path counts from. `inside`: it is in a tree.
bool Place::start_from_directory(bool* inside) {
  TextOf<32> link;
  if (directory_ == AT_FDCWD) {
    link.add("/proc/self/cwd");
  } else {
    add_descriptor_path(&link, directory_);
  }
  TextOf<machine::kRootRoom + machine::kNameRoom> target;
  const long size = kernel::read_link(link.c_str(), target.letters(), machine::kRootRoom + machine::kNameRoom - 1);
  if (size <= 0) return false;
  target.resize(static_cast<std::size_t>(size));
  std::string_view name = target.view();
  if (name[0] != '/') return false;  // of no folder
  if (const std::string_view in_tree = name_in_tree(name); !in_tree.empty()) {
    name = in_tree;
    *inside = true;
  } else if (!may_lead_into_folder(original_)) {
    return false;
  }
  if (name != "/") path_.add(name);
  return path_.whole();
}

// Without repeated slashes, "." and a slash at the end. ".." is what it is for the kernel: the parent of what a link
// leads to. Where there is nothing, it is resolved by its text.
bool Place::append(const char* path) {
  while (*path != '\0') {
    const char* end = std::strchr(path, '/');
    const std::string_view part = end ? std::string_view(path, static_cast<std::size_t>(end - path)) : path;
    path = end ? end + 1 : path + part.size();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!folder_of(name_so_far()).empty()) {
        left_ours_ = true;
        follow_links();
      }
      const std::string_view name = name_so_far();
      const std::size_t slash = name.rfind('/');
      path_.resize(root_size_ + (slash == std::string_view::npos ? 0 : slash));
      continue;
    }
    path_.add('/').add(part);
  }
  return path_.whole();
}

// The path of a folder becomes the one without links.
void Place::follow_links() {
  const int fd = kernel::open(path_.c_str(), O_PATH | O_DIRECTORY);
  if (fd < 0) return;
  TextOf<32> link;
  add_descriptor_path(&link, fd);
  TextOf<machine::kRootRoom + machine::kNameRoom> target;
  const long size = kernel::read_link(link.c_str(), target.letters(), machine::kRootRoom + machine::kNameRoom - 1);
  kernel::close(fd);
  if (size <= 0) return;
  target.resize(static_cast<std::size_t>(size));
  std::string_view name = target.view();
  if (const std::string_view in_tree = name_in_tree(name); !in_tree.empty()) name = in_tree;
  path_.resize(root_size_);
  if (name != "/") path_.add(name);
}

// A device of the kernel itself, to which the tree has a link.
bool Place::is_kernels_own(std::string_view folder) const {
  const std::string_view first = name_in(folder, name_so_far());
  if (first.empty()) return false;
  if (folder == kBus) return !first.starts_with(machine::kBusDomain);
  if (!has_kernels_own()) return false;
  TextOf<machine::kRootRoom + machine::kNameRoom> entry, target;
  entry.add(path_.view());
  entry.resize(root_size_ + folder.size() + 1 + first.size());
  const long size = kernel::read_link(entry.c_str(), target.letters(), machine::kNameRoom);
  if (size <= 0) return false;
  target.resize(static_cast<std::size_t>(size));
  std::string_view name = entry.view();
  name.remove_prefix(root_size_);
  return target.view() == name;
}

// The path becomes that of the kernel's file.
void Place::leave() {
  const std::size_t size = path_.size() - root_size_;
  char* letters = path_.letters();
  std::memmove(letters, letters + root_size_, size);
  path_.resize(size);
  if (size == 0) path_.add('/');
  root_size_ = 0;
}

}  // namespace verbs::soft::system
