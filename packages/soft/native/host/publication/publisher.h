// Reports to other processes of the same user what this process does with the software NIC, for `verbs top`.
//
// A process that wants to know connects to an abstract socket, gets one report, and is hung up on (link/doors). Nobody
// asks, nothing runs: the data path knows nothing of it. The name tells a process ID and a user ID, which /proc tells
// everybody.
//
// VERBS_SOFT_PUBLISH=0 switches it off.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "link/doors/door.h"

namespace verbs::soft::host {

// The abstract names of a user's publishers begin so, behind the zero byte.
std::string publisher_prefix(uid_t user);

class Publisher {
 public:
  using Report = std::function<std::string()>;

  // nullptr if it is switched off, or if this process may not have such a socket or a thread: no error of the program.
  static std::unique_ptr<Publisher> start(Report report);
  // Waits for a report in progress, and for no reader: not under a lock that the report takes.
  ~Publisher() = default;
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // In a forked child, whose parent has the thread: gives the descriptors back. The object must not be destroyed.
  void abandon() { door_->abandon(); }

 private:
  explicit Publisher(Report report) : report_(std::move(report)) {}

  Report report_;
  std::unique_ptr<link::Door> door_;
};

// Writes JSON: the report of a process.

class Json {
 public:
  Json& open(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
    return *this;
  }
  Json& close(char bracket) {
    text_ += bracket;
    first_ = false;
    return *this;
  }
  Json& key(std::string_view name) {
    value(name);
    text_ += ':';
    first_ = true;
    return *this;
  }
  Json& value(std::string_view text) {
    separate();
    text_ += '"';
    while (!text.empty()) {
      const std::size_t size = character_at(text);
      append(text.substr(0, size));
      text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    text_ += '"';
    return *this;
  }
  Json& value(bool flag) {
    separate();
    text_ += flag ? "true" : "false";
    return *this;
  }
  Json& value(std::uint32_t number) {
    separate();
    text_ += std::to_string(number);
    return *this;
  }
  // As text: a reader's numbers may have fewer bits.
  Json& value(std::uint64_t number) { return value(std::string_view(std::to_string(number))); }
  Json& value(const char* text) { return value(std::string_view(text)); }

  std::string take() { return std::move(text_); }

 private:
  void separate() {
    if (!first_) text_ += ',';
    first_ = false;
  }
  // The bytes of the UTF-8 character at the beginning, 0 if there is none: a name need not be text.
  static std::size_t character_at(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
    for (std::size_t at = 1; at < size; ++at) {
      if ((byte(at) & 0xc0) != 0x80) return 0;
    }
    // Neither longer than needed, nor half of a surrogate pair, nor behind the last character.
    const unsigned second = byte(1);
    const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                       (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return wrong ? 0 : size;
  }

  void append(std::string_view character) {
    if (character.empty()) {
      text_ += "\\ufffd";
    } else if (const auto byte = static_cast<unsigned char>(character[0]);
               byte < 0x20 || byte == 0x7f || byte == '"' || byte == '\\') {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      text_ += escaped;
    } else {
      text_ += character;
    }
  }

  std::string text_;
  bool first_ = true;
};

}  // namespace verbs::soft::host
