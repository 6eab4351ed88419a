#include "system/netlink/facts.h"

#include "system/content.h"
#include "system/tree.h"

namespace verbs::soft::system {

Facts::Facts() {
  TextOf<machine::kRootRoom + 16> path;
  add_root(&path);
  if (path.size() == 0) return;
  path.add("/devices");
  const int fd = kernel::open(path.c_str(), O_RDONLY);
  if (fd < 0) return;
  whole_ = names_.add_file(fd);
  kernel::close(fd);
}

bool add_path(std::string_view device, std::string_view file, Text* path) {
  add_root(path);
  path->add("/sys/class/infiniband/").add(device).add('/').add(file);
  return path->whole();
}

bool read_fact(std::string_view device, std::string_view file, Text* text) {
  TextOf<machine::kNameRoom> whole;
  whole.add(device).add('/').add(file);
  const Content content = content_of(whole.view(), text);
  if (content == Content::kUnreadable) return false;
  if (content == Content::kFixed) {
    TextOf<machine::kRootRoom + machine::kNameRoom> path;
    const int fd = add_path(device, file, &path) ? kernel::open(path.c_str(), O_RDONLY) : -1;
    if (fd < 0) return false;
    char bytes[machine::kContentRoom];
    const long size = kernel::read_at(fd, bytes, sizeof bytes, 0);
    kernel::close(fd);
    if (size <= 0) return false;
    text->add({bytes, static_cast<std::size_t>(size)});
  }
  const std::size_t end = text->view().find('\n');
  if (end != std::string_view::npos) text->resize(end);
  return text->size() > 0;
}

std::uint64_t number_in(std::string_view device, std::string_view file) {
  FileText text;
  std::uint64_t number = 0;
  if (!read_fact(device, file, &text)) return 0;
  for (const char digit : text.view()) {
    if (digit < '0' || digit > '9') break;
    number = 10 * number + static_cast<std::uint64_t>(digit - '0');
  }
  return number;
}

std::uint64_t guid_in(std::string_view device, std::string_view file) {
  FileText text;
  std::uint64_t guid = 0;
  if (!read_fact(device, file, &text)) return 0;
  for (const char digit : text.view()) {
    if (digit == ':') continue;
    guid = guid << 4 | static_cast<std::uint64_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  }
  return guid;
}

std::uint32_t ports_of(std::string_view device) {
  std::uint32_t count = 0;
  entries_of(device, "ports", [&](std::string_view) { ++count; });
  return count;
}

}  // namespace verbs::soft::system
