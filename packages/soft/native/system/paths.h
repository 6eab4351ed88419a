// Which paths are of RDMA devices. Pure functions: nothing here asks the kernel.
#pragma once

#include <cstring>
#include <string_view>

#include "machine/folder.h"

namespace verbs::soft::system {

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
