#include "system/tree.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include "system/paths.h"

namespace verbs::soft::system {

namespace fs = std::filesystem;

namespace {

std::string target_of(const std::string& link) {
  char text[PATH_MAX];
  const ssize_t length = readlink(link.c_str(), text, sizeof text);
  return length < 0 ? std::string() : std::string(text, static_cast<std::size_t>(length));
}

}  // namespace

namespace {
std::atomic<Tree*> created{nullptr};
}  // namespace

Tree& Tree::get() {
  static Tree* tree = created = new Tree;  // never destroyed: threads may outlive the static objects
  return *tree;
}

void Tree::remove_existing() {
  const Own own;
  if (Tree* tree = created) tree->remove();
}

Tree::Tree() {
  const char* base = std::getenv("VERBS_SOFT_SYSTEM");
  if (!base || base[0] != '/') return;
  base_ = normalized(base);
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  in_use_ = below(base_, target_of("/proc/self/cwd")).has_value();  // the parent changed to a folder of its tree
}

// Another thread of the parent may have held the lock, and nobody here would release it.
void Tree::after_fork_in_child() { new (&get().mutex_) std::mutex; }

std::optional<std::string> Tree::name_of(std::string_view path) const {
  const auto inside = below(base_, path);
  if (!inside || inside->empty()) return std::nullopt;
  const std::size_t process_end = inside->find('/', 1);
  return process_end == std::string_view::npos ? "/" : std::string(inside->substr(process_end));
}

std::optional<std::string> Tree::name_of(int directory, const char* path) const {
  if (path[0] == '/') return may_be_in_folder(path) ? std::optional(normalized(path)) : std::nullopt;
  if (!in_use_ || path[0] == '\0') return std::nullopt;
  const std::string link = directory == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/" + std::to_string(directory);
  const auto folder = name_of(target_of(link));
  return folder ? std::optional(normalized(*folder + "/" + path)) : std::nullopt;
}

std::optional<Tree::Place> Tree::find(int directory, const char* path) {
  if (base_.empty() || !path) return std::nullopt;
  const auto name = name_of(directory, path);
  if (!name) return std::nullopt;
  const std::string_view folder = folder_of(*name);
  if (folder.empty()) return std::nullopt;
  const std::lock_guard guard(mutex_);
  if (!update()) return std::nullopt;
  if (const std::string_view first = name_in(folder, *name); !first.empty()) {
    if (kernels_own_.count(std::string(folder) + "/" + std::string(first)) != 0) return std::nullopt;
  }
  // With a slash at the end a link is followed.
  return Place{root_ + *name + (path[std::strlen(path) - 1] == '/' ? "/" : ""), *name};
}

// Makes the tree, if this process has none or has other devices by now.
bool Tree::update() {
  if (!nic_) nic_ = NicLibrary::get();
  if (!nic_) return false;
  std::vector<std::string> devices = nic_->device_names();
  if (process_ == getpid() && devices == devices_) return true;
  remove();
  process_ = getpid();
  devices_ = std::move(devices);
  root_ = base_ + "/" + std::to_string(process_) + "-XXXXXX";
  if (!mkdtemp(root_.data())) {
    process_ = 0;
    return false;
  }
  in_use_ = true;
  populate();
  return true;
}

void Tree::populate() {
  contents_.clear();
  kernels_own_.clear();
  for (const std::string_view folder : kFolders) fs::create_directories(root_ + std::string(folder));
  add_kernels_own();
  write(std::string(kVerbsClass) + "/abi_version", "6\n");
  write(std::string(kMadClass) + "/abi_version", "5\n");
  write(std::string(kNodes) + "/rdma_cm", "");
  for (const std::string& device : devices_) populate_device(device);
}

void Tree::populate_device(const std::string& device) {
  const std::string folder = std::string(kDevices) + "/" + device;
  const std::string verbs = "device/infiniband_verbs/";
  link(std::string(kClass) + "/" + device, "../../devices/virtual/infiniband/" + device);
  nic_->visit(device, [&](const std::string& path, const std::string& content) {
    write(folder + "/" + path, content);
    constexpr std::string_view kSlot = "PCI_SLOT_NAME=";
    if (path == "device/uevent" && content.starts_with(kSlot)) {
      const std::string slot = content.substr(kSlot.size(), content.find('\n') - kSlot.size());
      link(std::string(kBus) + "/" + slot, "../../../devices/virtual/infiniband/" + device + "/device");
      fs::create_directories(root_ + folder + "/device/infiniband");
      link(folder + "/device/infiniband/" + device, "../../../" + device);
    }
    if (path.compare(0, verbs.size(), verbs) != 0) return;
    const std::string node = path.substr(verbs.size(), path.find('/', verbs.size()) - verbs.size());
    write(std::string(kNodes) + "/" + node, "");
    link(std::string(kVerbsClass) + "/" + node, "../../devices/virtual/infiniband/" + device + "/" + verbs + node);
  });
}

void Tree::write(const std::string& name, const std::string& content) {
  const auto found = contents_.find(name);
  if (found != contents_.end() && found->second == content) return;
  const fs::path path = root_ + name;
  fs::create_directories(path.parent_path());
  // Another thread may read the old file now: it is replaced as a whole.
  const std::string fresh = root_ + "/new";
  const bool node = below(kNodes, name).has_value();
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, node ? 0666 : 0444);
  if (fd < 0) return;
  fchmod(fd, node ? 0666 : 0444);
  [[maybe_unused]] const ssize_t written = ::write(fd, content.data(), content.size());
  close(fd);
  if (rename(fresh.c_str(), path.c_str()) == 0) contents_[name] = content;
}

void Tree::link(const std::string& name, const std::string& target) {
  [[maybe_unused]] const int result = symlink(target.c_str(), (root_ + name).c_str());  // it may be there
}

// Devices of the kernel stay visible beside ours.
void Tree::add_kernels_own() {
  for (const std::string_view folder : kFolders) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      kernels_own_.insert(entry.path());
      link(entry.path(), entry.path());
    }
  }
}

// The device of a file, by whichever of its paths; `file` is the path in its folder.
std::string Tree::device_of(std::string_view name, std::string_view* file) const {
  for (const std::string_view folder : {kClass, kDevices}) {
    if (const auto inside = below(folder, name); inside && !inside->empty()) {
      const std::string_view device = name_in(folder, name);
      *file = inside->substr(std::min(inside->size(), device.size() + 2));
      return std::string(device);
    }
  }
  return {};
}

int Tree::refresh(const Place& place) {
  const Own own;
  const std::lock_guard guard(mutex_);
  std::string_view file;
  const std::string device = device_of(place.name, &file);
  if (device.empty() || file.empty()) return 0;
  std::optional<std::string> now;
  nic_->visit(device, [&](const std::string& path, const std::string& content) {
    if (path == file) now = content;
  });
  if (!now) return 0;
  write(std::string(kDevices) + "/" + device + "/" + std::string(file), *now);
  return now->empty() ? EINVAL : 0;
}

void Tree::remove() {
  if (process_ == 0 || process_ != getpid()) return;
  std::error_code ignored;
  fs::remove_all(root_, ignored);
  process_ = 0;
}

namespace {

[[gnu::destructor]] void remove_at_exit() { Tree::remove_existing(); }

}  // namespace

}  // namespace verbs::soft::system
