#include "host/machine/machine.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "machine/folder.h"
#include "machine/live_files.h"

namespace verbs::soft::host {
namespace {

// A program with the rights of another user (setuid) does not write where its environment says.
std::string find_folder() {
  const char* path = getauxval(AT_SECURE) == 0 ? std::getenv(machine::kVariable) : nullptr;
  if (!path || path[0] != '/') return {};
  struct stat status{};
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? path : "";
}

}  // namespace

const std::string& machine_folder() {
  static const auto* folder = new std::string(find_folder());  // outlives every thread
  return *folder;
}

void note_use() {
  static const bool kNoted = [] {
    // Its time tells: a program that gave up its rights, or may write no file, can set that.
    return !machine_folder().empty() && utimensat(AT_FDCWD, (machine_folder() + "/loaded").c_str(), nullptr, 0) == 0;
  }();
  static_cast<void>(kNoted);
}

bool may_be_long(std::size_t size) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= size;
}

namespace fs = std::filesystem;

namespace {

// The entries of a folder of the kernel's. The preloaded library, which would show ours, is not asked.
std::vector<std::string> kernels_entries(const char* folder) {
  std::vector<std::string> names;
  const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd < 0) return names;
  machine::for_each_entry(fd, [&](const char* name) { names.emplace_back(name); });
  close(fd);
  return names;
}

void add_kernels_own(std::vector<TreeFile>* files, bool* any) {
  *any = false;
  for (const char* folder : {"/sys/class/infiniband", "/sys/class/infiniband_verbs", "/sys/class/infiniband_mad",
                             "/sys/devices/virtual/infiniband", "/dev/infiniband", "/sys/bus/pci/devices"}) {
    for (const std::string& name : kernels_entries(folder)) {
      const std::string path = std::string(folder) + "/" + name;
      const auto same = [&](const TreeFile& file) { return file.name == path; };
      if (std::any_of(files->begin(), files->end(), same)) continue;  // abi_version
      files->push_back({path, path, TreeFile::Kind::kLink});
      *any = *any || std::strstr(folder, "infiniband") != nullptr;
    }
  }
}

class Writer {
 public:
  explicit Writer(const std::string& root) : root_(root) {}

  bool write(const TreeFile& file) {
    const std::string path = root_ + file.name;
    make_folder(path.substr(0, path.rfind('/')));
    if (file.kind == TreeFile::Kind::kLink) return symlink(file.content.c_str(), path.c_str()) == 0;
    if (!may_be_long(file.content.size())) return false;
    const mode_t mode = file.kind == TreeFile::Kind::kNode ? 0666 : 0444;
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) return false;
    const auto size = static_cast<ssize_t>(file.content.size());
    const bool written = fchmod(fd, mode) == 0 && ::write(fd, file.content.data(), file.content.size()) == size;
    close(fd);
    return written;
  }

 private:
  void make_folder(const std::string& path) {
    if (path == last_) return;
    std::error_code error;
    fs::create_directories(path, error);
    last_ = path;
  }

  const std::string& root_;
  std::string last_;
};

// Other users see the files too: of programs that give up their rights.
bool make_open_folder(const std::string& path) { return mkdir(path.c_str(), 0755) == 0 || errno == EEXIST; }

}  // namespace

std::string make_tree(std::vector<TreeFile> files, const std::vector<std::string>& devices) {
  std::string names;
  for (const std::string& device : devices) names += device + "\n";
  files.push_back({"/devices", names});
  bool kernels = false;
  add_kernels_own(&files, &kernels);
  if (kernels) files.push_back({"/kernel", ""});

  std::uint64_t hash = machine::hash("1");  // of this form of the tree
  for (const TreeFile& file : files) {
    hash = machine::hash(file.content, machine::hash(file.name, hash) + static_cast<std::uint64_t>(file.kind) + 1);
  }
  std::array<char, 16> digits{};
  machine::write_hash(hash, digits.data());
  const std::string trees = machine_folder() + "/trees";
  std::string root = trees + "/" + std::string(digits.data(), digits.size());
  if (root.size() >= machine::kRootRoom) return {};
  if (access(root.c_str(), F_OK) == 0) return root;

  if (!make_open_folder(trees)) return {};
  std::string fresh = trees + "/new-XXXXXX";
  if (!mkdtemp(fresh.data())) return {};
  Writer writer(fresh);
  bool complete = chmod(fresh.c_str(), 0755) == 0;
  for (const TreeFile& file : files) complete = complete && writer.write(file);
  // Another process may have been faster.
  complete = complete && (rename(fresh.c_str(), root.c_str()) == 0 || errno == ENOTEMPTY || errno == EEXIST);
  std::error_code ignored;
  fs::remove_all(fresh, ignored);
  return complete ? root : "";
}

namespace {

using machine::LiveFiles;

// With twice the room, so that copies that must stay behind add up to little.
LiveFiles::Copy* make_copy(std::size_t room) {
  auto* copy = new LiveFiles::Copy{};
  copy->room = 2 * room;
  copy->text = new char[copy->room];
  return copy;
}

}  // namespace

bool has_live_view() { return &verbs_soft_live_files != nullptr && !machine_folder().empty(); }

void show_live_files(const std::string& root, const std::vector<std::pair<std::string, std::string>>& files) {
  if (root.size() >= sizeof LiveFiles::Copy::root) return;
  static auto* live = new LiveFiles;  // outlives every thread
  std::string text;
  for (const auto& [path, content] : files) text.append(path).append(1, '\0').append(content).append(1, '\0');
  LiveFiles::Copy* copy = live->next();
  if (!copy || copy->room < text.size()) live->next() = copy = make_copy(text.size());
  std::memset(copy->root, 0, sizeof copy->root);
  root.copy(copy->root, sizeof copy->root - 1);
  copy->size = text.size();
  text.copy(copy->text, text.size());
  live->publish();
  verbs_soft_live_files = live;
}

}  // namespace verbs::soft::host
