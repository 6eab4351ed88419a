#include "test/faults/options.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace verbs::soft::test::faults {

namespace {

template <typename T>
bool read_number(std::string_view text, T low, T* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc{} && end == text.data() + text.size() && *number >= low;
}

std::optional<Options> refuse(const char* what, std::string_view word) {
  std::fprintf(stderr, "fault_matrix: %s: %.*s\n%s", what, static_cast<int>(word.size()), word.data(), kUsage);
  return std::nullopt;
}

}  // namespace

std::optional<Options> read_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--json" || word == "--list") {
      (word == "--json" ? options.json : options.list) = true;
      continue;
    }
    if (word != "--seed" && word != "--cells" && word != "--only") return refuse("unknown option", word);
    if (++i == count) return refuse("it needs a value", word);
    const std::string_view value = words[i];
    if (word == "--only") {
      options.only = value;
    } else if (word == "--seed" ? !read_number<std::uint64_t>(value, 0, &options.seed)
                                : !read_number<std::size_t>(value, 1, &options.cells)) {
      return refuse("not a number for it", value);
    }
  }
  return options;
}

}  // namespace verbs::soft::test::faults
