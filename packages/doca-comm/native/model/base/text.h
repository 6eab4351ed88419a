// Reading of lists and numbers in configurations and registry files.
#pragma once

#include <charconv>
#include <string>
#include <vector>

namespace verbs::doca_comm::model {

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return parts;
}

// Converts the whole text. False if a part of it is no digit, or the number does not fit.
template <typename Number>
bool parse_number(const std::string& text, Number* number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number, base);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace verbs::doca_comm::model
