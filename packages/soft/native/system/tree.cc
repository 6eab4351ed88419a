#include "system/tree.h"

#include <sys/auxv.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "machine/counter_file.h"
#include "machine/live_files.h"
#include "system/libc.h"
#include "system/place.h"

using verbs::soft::machine::LiveFiles;

std::atomic<LiveFiles*> verbs_soft_live_files{nullptr};

namespace verbs::soft::system {

namespace {

constexpr std::string_view kTrees = "/trees/";
constexpr std::size_t kHashDigits = 16;

// Zero from the start: it is filled before this library's other static objects are made.
struct Kept {
  char path[machine::kRootRoom];
  std::size_t size;

  std::string_view view() const { return {path, size}; }
  void keep(const Text& text) {
    size = text.whole() ? text.size() : 0;
    std::memcpy(path, text.c_str(), size);
  }
};
Kept folder;
Kept configured;  // the tree of the configuration in the environment
bool kernels_own = false;

// Follows "configurations/HASH" to the tree.
bool find_configured(std::string_view hash) {
  TextOf<machine::kRootRoom> link;
  link.add(folder.view()).add("/configurations/").add(hash);
  TextOf<64> target;
  const long size = kernel::read_link(link.c_str(), target.letters(), 63);
  if (size < 0) return false;
  target.resize(static_cast<std::size_t>(size));
  std::string_view tree = target.view();
  if (!tree.starts_with("../trees/")) return false;
  tree.remove_prefix(2);
  TextOf<machine::kRootRoom> root;
  root.add(folder.view()).add(tree);
  configured.keep(root);
  return configured.size > 0;
}

// Before main(), and before the first thread: here there may be locks and memory.
[[gnu::constructor]] void find_tree() {
  const char* path = getauxval(AT_SECURE) == 0 ? std::getenv(machine::kVariable) : nullptr;
  if (!path || path[0] != '/') return;
  const KeepErrno keep;
  char* real = realpath(path, nullptr);  // as the kernel's links to descriptors tell it
  if (!real) return;
  TextOf<machine::kRootRoom - kTrees.size() - kHashDigits> whole;
  whole.add(real);
  std::free(real);
  folder.keep(whole);
  if (folder.size == 0) return;
  std::uint64_t hash = machine::hash("");
  for (const char* name : {"VERBS_SOFT", "VERBS_SOFT_MODELS"}) {
    const char* value = std::getenv(name);
    hash = machine::hash(value ? value : "", hash + 1);
  }
  std::array<char, kHashDigits> digits{};
  machine::write_hash(hash, digits.data());
  const std::string_view name(digits.data(), digits.size());
  if (!find_configured(name)) {
    make_tree_for(name);
    if (!find_configured(name)) return;
  }
  TextOf<machine::kRootRoom + 16> mark;
  mark.add(configured.view()).add("/kernel");
  kernels_own = syscall(SYS_faccessat, AT_FDCWD, mark.c_str(), F_OK) == 0;
}

}  // namespace

std::string_view machine_folder() { return folder.view(); }

void add_root(Text* text) {
  if (const LiveFiles* live = verbs_soft_live_files.load(std::memory_order_acquire)) {
    struct Root {
      char path[machine::kRootRoom] = "";
    };
    const Root root = live->read([](const LiveFiles::Copy& copy) {
      Root found;
      std::memcpy(found.path, copy.root, sizeof found.path - 1);
      return found;
    });
    if (root.path[0] != '\0') {
      text->add(root.path);
      return;
    }
  }
  text->add(configured.view());
}

std::string_view name_in_tree(std::string_view path) {
  if (folder.size == 0 || !path.starts_with(folder.view())) return {};
  path.remove_prefix(folder.size);
  if (!path.starts_with(kTrees) || path.size() < kTrees.size() + kHashDigits) return {};
  path.remove_prefix(kTrees.size() + kHashDigits);
  // What is above the folders of devices is the kernel's, and nobody comes to ours by the kernel's names: a program
  // that is there has the path of the tree itself, and whatever it removes there is not the kernel's.
  return folder_of(path).empty() ? std::string_view() : path;
}

bool has_kernels_own() { return kernels_own; }

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
