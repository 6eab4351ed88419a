// Which paths are of RDMA devices. Pure functions: nothing here asks the kernel.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace verbs::soft::system {

// The folders that the kernel makes for RDMA devices.
inline constexpr std::string_view kClass = "/sys/class/infiniband";
inline constexpr std::string_view kVerbsClass = "/sys/class/infiniband_verbs";
inline constexpr std::string_view kMadClass = "/sys/class/infiniband_mad";
inline constexpr std::string_view kDevices = "/sys/devices/virtual/infiniband";
inline constexpr std::string_view kNodes = "/dev/infiniband";
// Of the devices of vendors, beside those of the machine.
inline constexpr std::string_view kBus = "/sys/bus/pci/devices";
inline constexpr std::string_view kFolders[] = {kClass, kVerbsClass, kMadClass, kDevices, kNodes, kBus};

// Whether an absolute path can be in one of the folders: cheap, for the paths of everything else that a program opens.
inline bool may_be_in_folder(const char* path) {
  if (path[0] != '/') return false;
  while (path[1] == '/') ++path;
  return (path[1] == 's' && path[2] == 'y' && path[3] == 's') || (path[1] == 'd' && path[2] == 'e' && path[3] == 'v');
}

// Without repeated slashes, "." and a slash at the end. ".." is resolved by its text.
std::string normalized(std::string_view path);

// The folder of kFolders that is `path` or contains it; empty if there is none. `path` is normalized.
std::string_view folder_of(std::string_view path);

// The first name of `path` below `folder`; empty for the folder itself.
std::string_view name_in(std::string_view folder, std::string_view path);

// What is left of `path` below `root`, with its slash ("" for the root itself); nullopt outside.
std::optional<std::string_view> below(std::string_view root, std::string_view path);

}  // namespace verbs::soft::system
