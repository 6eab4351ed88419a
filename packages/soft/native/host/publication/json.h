// Writes JSON: the report of a process.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace verbs::soft::host {

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
    for (const char character : text) append(character);
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
  void append(char character) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte < 0x7f && character != '"' && character != '\\') {
      text_ += character;
      return;
    }
    // Bytes beyond ASCII are escaped one by one: a name need not be valid UTF-8.
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
    text_ += escaped;
  }

  std::string text_;
  bool first_ = true;
};

}  // namespace verbs::soft::host
