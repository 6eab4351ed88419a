// Where a path of a program leads. For signal handlers too: no lock, and no memory but the stack.
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "machine/folder.h"
#include "system/text.h"

namespace verbs::soft::system {

class Place {
 public:
  // A relative path counts from `directory`, a descriptor or AT_FDCWD.
  Place(int directory, const char* path);
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  // The path leads to our devices: path() is the file's in the file system.
  bool is_ours() const { return kind_ == Kind::kOurs; }
  // The file as the program means it: /dev/infiniband/uverbs0.
  std::string_view name() const;

  // What to hand to libc's function in place of the program's `directory` and `path`. A path that leads from our
  // folders to a file of the kernel is another one, too: the kernel does not have those folders.
  int directory() const { return kind_ == Kind::kKernels ? directory_ : AT_FDCWD; }
  const char* path() const { return kind_ == Kind::kKernels ? original_ : path_.c_str(); }

 private:
  enum class Kind : std::uint8_t { kKernels, kOurs, kLeftOurs };

  Kind find();
  bool start_from_directory(bool* inside);
  bool append(const char* path);
  void follow_links();
  bool is_kernels_own(std::string_view folder) const;
  std::string_view name_so_far() const;
  void leave();

  int directory_;
  const char* original_;
  Kind kind_ = Kind::kKernels;
  bool left_ours_ = false;  // ".." led out of our folders
  std::size_t root_size_ = 0;
  TextOf<machine::kRootRoom + machine::kNameRoom> path_;
};

// From now on descriptors and the working directory may lead into a tree, so that relative paths count.
void note_folder();
bool knows_folders();

// Makes the tree of the configuration in the environment, where no launcher has.

// As `name` in the machine's folder "configurations". Only when the process begins.
void make_tree_for(std::string_view name);

// Which paths are of RDMA devices. Pure functions: nothing here asks the kernel.

// The folders that the kernel makes for RDMA devices.
inline constexpr std::string_view kClass = "/sys/class/infiniband";
inline constexpr std::string_view kNodes = "/dev/infiniband";
// The buses' devices: of vendors, beside those of the machine.
inline constexpr std::string_view kBus = "/sys/bus/pci/devices";
inline constexpr std::string_view kFolders[] = {kClass,
                                                "/sys/class/infiniband_verbs",
                                                "/sys/class/infiniband_mad",
                                                machine::kVirtualDevices,
                                                machine::kBusDevices,
                                                kNodes,
                                                kBus};

// Whether an absolute path can be in one of the folders: cheap, for the paths of everything else that a program opens.
inline bool may_be_in_folder(const char* path) {
  if (path[0] != '/') return false;
  while (path[1] == '/') ++path;
  return (path[1] == 's' && path[2] == 'y' && path[3] == 's') || (path[1] == 'd' && path[2] == 'e' && path[3] == 'v');
}

// Whether a relative path can lead into one of the folders from outside.
inline bool may_lead_into_folder(const char* path) {
  return std::strstr(path, "infiniband") || std::strstr(path, "5f5f:") || std::strstr(path, "pci");
}

// What is left of `path` below `root`, with its slash ("" for the root itself), is `rest`.
inline bool is_below(std::string_view root, std::string_view path, std::string_view* rest) {
  if (!path.starts_with(root)) return false;
  path.remove_prefix(root.size());
  *rest = path;
  return path.empty() || path[0] == '/';
}

// The folder of kFolders that is `path` or contains it; empty if there is none. `path` has no dots and double slashes.
inline std::string_view folder_of(std::string_view path) {
  std::string_view rest;
  for (const std::string_view folder : kFolders) {
    if (is_below(folder, path, &rest)) return folder;
  }
  return {};
}

// The first name of `path` below `folder`; empty for the folder itself.
inline std::string_view name_in(std::string_view folder, std::string_view path) {
  path.remove_prefix(folder.size());
  if (path.empty()) return path;
  path.remove_prefix(1);
  const std::size_t slash = path.find('/');
  if (slash != std::string_view::npos) path.remove_suffix(path.size() - slash);
  return path;
}

}  // namespace verbs::soft::system
