#include "system/place.h"

#include <dlfcn.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "machine/folder.h"
#include "system/libc.h"
#include "system/text.h"
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

namespace {

constexpr std::size_t kPathRoom = 4096;

// The models whose names VERBS_SOFT_MODELS has: so that their devices are there also for programs that do not load a
// vendor's library.
void load_models(void* extension) {
  const char* names = std::getenv("VERBS_SOFT_MODELS");
  while (names && *names != '\0') {
    const char* end = std::strchr(names, ':');
    TextOf<256> name;
    name.add(end ? std::string_view(names, static_cast<std::size_t>(end - names)) : std::string_view(names));
    void* model = name.whole() && name.size() > 0 ? dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    using Load = int(void*);
    auto* load = model ? reinterpret_cast<Load*>(dlsym(model, "verbs_soft_model_load")) : nullptr;
    if (load) load(extension);
    names = end ? end + 1 : nullptr;
  }
}

// A text without a kind needs no model; a file may.
bool needs_models() {
  const char* configuration = std::getenv("VERBS_SOFT");
  return configuration && (configuration[0] == '/' || std::strstr(configuration, "kind="));
}

// The NIC makes the tree when the devices are listed.
void list_devices() {
  void* verbs = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  if (void* extension = verbs ? dlsym(verbs, "verbs_soft_extension") : nullptr) {
    if (needs_models()) load_models(extension);
    using List = void*(int*);
    if (auto* list = reinterpret_cast<List*>(dlsym(verbs, "ibv_get_device_list"))) list(nullptr);
    return;
  }
  // Not our libibverbs: the NIC beside this library has the devices without a vendor's model.
  static const int kHere = 0;
  Dl_info self{};
  if (dladdr(&kHere, &self) == 0) return;
  TextOf<kPathRoom> path;
  const char* slash = std::strrchr(self.dli_fname, '/');
  if (slash) path.add(std::string_view(self.dli_fname, static_cast<std::size_t>(slash + 1 - self.dli_fname)));
  path.add("libverbs-soft-nic.so.1");
  using Name = const char*(unsigned);
  void* nic = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (auto* name = nic ? reinterpret_cast<Name*>(dlsym(nic, "verbs_soft_device_name")) : nullptr) name(0);
}

void enter(std::string_view name) {
  TextOf<machine::kRootRoom> root, path, target;
  add_root(&root);
  if (root.size() == 0) return;
  path.add(machine_folder()).add("/configurations");
  syscall(SYS_mkdirat, AT_FDCWD, path.c_str(), 0755);
  path.add('/').add(name);
  target.add("..").add(std::string_view(root.c_str() + machine_folder().size(), root.size() - machine_folder().size()));
  if (path.whole() && target.whole()) syscall(SYS_symlinkat, target.c_str(), AT_FDCWD, path.c_str());
}

}  // namespace

// In a process of its own: the program does not get the NIC's library, which it may not use.
void make_tree_for(std::string_view name) {
  sigset_t only_child, before;
  sigemptyset(&only_child);
  sigaddset(&only_child, SIGCHLD);
  // Blocked, the signal of this child can be taken away, so that the program does not see it.
  if (sigprocmask(SIG_BLOCK, &only_child, &before) != 0) return;
  sigset_t pending;
  const bool pends = sigpending(&pending) == 0 && sigismember(&pending, SIGCHLD) == 1;
  const pid_t child = fork();
  if (child == 0) {
    list_devices();
    enter(name);
    _exit(0);
  }
  if (child > 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
    constexpr timespec kNoTime{};
    if (!pends) sigtimedwait(&only_child, nullptr, &kNoTime);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace verbs::soft::system
