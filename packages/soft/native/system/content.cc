#include "system/content.h"

#include <optional>

#include "machine/counter_file.h"
#include "machine/live_files.h"
#include "system/kernel.h"
#include "system/paths.h"
#include "system/tree.h"

namespace verbs::soft::system {

namespace {

std::string_view first_part(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash != std::string_view::npos) path.remove_suffix(path.size() - slash);
  return path;
}

bool count(std::string_view device, const machine::PortCounter& counter, Text* text) {
  if (counter.ours.empty()) return false;
  TextOf<machine::kRootRoom + 128> path;
  path.add(machine_folder()).add("/counters/").add(device);
  const int fd = path.whole() ? kernel::open(path.c_str(), O_RDONLY) : -1;
  if (fd < 0) return false;  // no process has had the device open
  const std::optional<std::size_t> place = machine::find_counter(fd, counter.ours);
  if (place) text->add_number(machine::sum_counter(fd, *place) / counter.unit).add('\n');
  kernel::close(fd);
  return place.has_value();
}

struct Found {
  bool is_there = false;
  std::size_t size = 0;
  char text[machine::kContentRoom];
};

Found find_live(std::string_view file) {
  const machine::LiveFiles* live = verbs_soft_live_files.load(std::memory_order_acquire);
  if (!live) return {};
  return live->read([&](const machine::LiveFiles::Copy& copy) {
    Found found;
    found.is_there = machine::LiveFiles::find(copy, file, found.text, &found.size);
    return found;
  });
}

}  // namespace

std::string_view device_file(std::string_view name) {
  std::string_view rest;
  if (is_below(machine::kVirtualDevices, name, &rest)) {
    if (!rest.empty()) rest.remove_prefix(1);
    return rest;
  }
  if (!is_below(machine::kBusDevices, name, &rest) || rest.empty()) return {};
  rest.remove_prefix(1);
  rest.remove_prefix(first_part(rest).size());  // the place on the bus
  constexpr std::string_view kFolder = "/infiniband/";
  if (!rest.starts_with(kFolder)) return {};
  rest.remove_prefix(kFolder.size());
  return rest;
}

Content content_of(std::string_view file, Text* text) {
  const std::string_view device = first_part(file);
  if (device.size() == file.size()) return Content::kFixed;
  std::string_view in_device = file;
  in_device.remove_prefix(device.size() + 1);
  if (const auto counter = machine::counter_of(in_device)) {
    return count(device, *counter, text) ? Content::kPresent : Content::kFixed;
  }
  const Found found = find_live(file);
  if (!found.is_there) return Content::kFixed;
  if (found.size == 0) return Content::kUnreadable;
  text->add({found.text, found.size});
  return Content::kPresent;
}

}  // namespace verbs::soft::system
