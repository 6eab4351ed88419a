#include <doctest/doctest.h>

#include <string_view>

#include "host/publication/publisher.h"

using verbs::soft::host::Json;

TEST_CASE("texts of others in JSON: UTF-8 as it is, what is none replaced, control characters escaped") {
  const auto written = [](std::string_view text) { return Json().value(text).take(); };
  CHECK(written("größe 日本語 👩‍💻") == "\"größe 日本語 👩‍💻\"");
  CHECK(written("a\"b\\c\n\x1b[31m\x7f") == R"("a\u0022b\u005cc\u000a\u001b[31m\u007f")");
  CHECK(written(std::string_view("\0", 1)) == R"("\u0000")");
  // A byte alone, a character cut off at the end or in the middle, one that is longer than needed, half of a surrogate
  // pair, and one behind the last.
  CHECK(written("\x9b"
                "31m") == R"("\ufffd31m")");
  CHECK(written("gr\xc3") == R"("gr\ufffd")");
  CHECK(written("\xe2\x82z") == R"("\ufffd\ufffdz")");
  CHECK(written("\xc0\xaf") == R"("\ufffd\ufffd")");
  CHECK(written("\xe0\x80\xaf") == R"("\ufffd\ufffd\ufffd")");
  CHECK(written("\xed\xa0\x80") == R"("\ufffd\ufffd\ufffd")");
  CHECK(written("\xf4\x90\x80\x80") == R"("\ufffd\ufffd\ufffd\ufffd")");
  CHECK(written("\xf4\x8f\xbf\xbf") == "\"\xf4\x8f\xbf\xbf\"");
}
