#include "kernel/journal.h"

#include <endian.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "kernel/libc.h"

namespace verbs::uverbs {
namespace {

// Empty: no region holds the address.
std::string region_text(const Context& context, std::uint64_t value) {
  for (const auto& [handle, object] : context.objects()) {
    if (object.type != Type::kMr || value < object.address || value - object.address >= object.length) continue;
    return "<mr" + std::to_string(handle) + "+" + std::to_string(value - object.address) + ">";
  }
  return {};
}

bool holds(const Addresses& addresses, std::size_t offset) {
  return std::find(addresses.begin(), addresses.end(), offset) != addresses.end();
}

std::string word_text(const Context& context, std::uint64_t word, bool is_address) {
  const std::string region = region_text(context, word);
  if (!region.empty()) return region;
  if (is_address) return word == 0 ? "<0>" : "<@>";
  return region_text(context, be64toh(word));  // in a work queue element of mlx5
}

}  // namespace

void Journal::open(const char* path) { file_ = libc().open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600); }

void Journal::line(const std::string& text) {
  if (file_ < 0) return;
  const std::string whole = text + "\n";
  // One call for a line: lines of several threads do not mix.
  if (libc().write(file_, whole.data(), whole.size()) < 0) _exit(125);
}

std::string bytes_text(const Context& context, const void* data, std::size_t size, const Addresses& addresses) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::string text;
  for (std::size_t i = 0; i < size;) {
    if (i % 8 == 0 && i + 8 <= size) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i, sizeof(word));
      const std::string address = word_text(context, word, holds(addresses, i));
      if (!address.empty()) {
        text += address;
        i += 8;
        continue;
      }
    }
    char hex[3];
    std::snprintf(hex, sizeof(hex), "%02x", bytes[i++]);
    text += hex;
  }
  return text;
}

}  // namespace verbs::uverbs
