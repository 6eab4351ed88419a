#include "system/paths.h"

#include <algorithm>

namespace verbs::soft::system {

std::string normalized(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      result.erase(std::min(result.rfind('/'), result.size()));
      continue;
    }
    result += '/';
    result += part;
  }
  return result.empty() ? "/" : result;
}

std::optional<std::string_view> below(std::string_view root, std::string_view path) {
  if (path.substr(0, root.size()) != root) return std::nullopt;
  path.remove_prefix(root.size());
  if (!path.empty() && path[0] != '/') return std::nullopt;
  return path;
}

std::string_view folder_of(std::string_view path) {
  for (const std::string_view folder : kFolders) {
    if (below(folder, path)) return folder;
  }
  return {};
}

std::string_view name_in(std::string_view folder, std::string_view path) {
  path.remove_prefix(folder.size());
  if (path.empty()) return path;
  path.remove_prefix(1);
  return path.substr(0, path.find('/'));
}

}  // namespace verbs::soft::system
