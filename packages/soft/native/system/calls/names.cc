#include "system/calls/names.h"

#include <cstring>
#include <string_view>

#include "system/tree.h"

namespace verbs::soft::system {

ssize_t rename_in_tree(char* text, ssize_t length) {
  const std::string_view name = name_in_tree({text, static_cast<std::size_t>(length)});
  if (name.empty()) return length;
  std::memmove(text, name.data(), name.size());
  return static_cast<ssize_t>(name.size());
}

char* rename_in_tree(char* path) {
  if (path) path[rename_in_tree(path, static_cast<ssize_t>(std::strlen(path)))] = '\0';
  return path;
}

}  // namespace verbs::soft::system
