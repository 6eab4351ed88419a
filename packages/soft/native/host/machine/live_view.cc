#include "host/machine/live_view.h"

#include <algorithm>
#include <cstring>

#include "host/machine/machine.h"
#include "machine/live_files.h"

namespace verbs::soft::host {

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
