// One option of the configuration text: its key, its value and the allowed values.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/configuration/configuration.h"

namespace verbs::soft::host {

// Returns an empty string, or an error text with the key, the value and the allowed values.
std::string apply_option(const std::string& key, const std::string& value, DeviceConfig* config);

// "256" is IBV_MTU_256, …; nullopt if the text is no MTU.
std::optional<ibv_mtu> parse_mtu(const std::string& bytes);

// Reading the values of options. A function that sets a value returns an empty string, or an error text with the
// allowed values.

inline std::string reject(const std::string& key, const std::string& value, const std::string& allowed) {
  return key + "=" + value + " is not valid; " + key + " takes " + allowed;
}

inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <typename T>
std::optional<T> parse_number(const std::string& value) {
  T number{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) return std::nullopt;
  return number;
}

// Decimal, or hexadecimal after 0x.
inline std::optional<std::uint64_t> parse_natural(const std::string& value) {
  if (!value.starts_with("0x") && !value.starts_with("0X")) return parse_number<std::uint64_t>(value);
  std::uint64_t number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data() + 2, end, number, 16);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

template <typename T, typename U>
std::string set_number(const std::string& key, const std::string& value, T low, T high, U* target) {
  const auto number = parse_number<T>(value);
  if (!number || *number < low || *number > high) {
    return reject(key, value, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  *target = static_cast<U>(*number);
  return {};
}

}  // namespace verbs::soft::host
