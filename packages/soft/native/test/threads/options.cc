#include "test/threads/options.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace verbs::soft::test::threads {
namespace {

constexpr const char* kUsage =
    "threads [--seconds N] [--threads 2-8] [--seed N] [--illegal]\n"
    "\n"
    "Threads that call libibverbs at random, on objects of their own and on objects that they share: as the rules for\n"
    "threads allow, or with --illegal as they forbid: objects are destroyed, also twice, while other threads use "
    "them.\n"
    "Prints the seed and how often each call succeeded and failed. The exit status is 1 for a wrong result.\n";

double number(const char* name, const char* text, double least, double most) {
  char* end = nullptr;
  const double value = text != nullptr ? std::strtod(text, &end) : 0;
  if (text != nullptr && *text != 0 && *end == 0 && value >= least && value <= most) return value;
  std::fprintf(stderr, "threads: %s: give a number from %g to %g\n\n%s", name, least, most, kUsage);
  std::exit(2);
}

}  // namespace

Options read_options(int count, char** arguments) {
  Options options;
  options.seed = std::random_device()();
  for (int i = 1; i < count; ++i) {
    const char* name = arguments[i];
    if (std::strcmp(name, "--help") == 0) {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    if (std::strcmp(name, "--illegal") == 0) {
      options.illegal = true;
      continue;
    }
    const char* value = i + 1 < count ? arguments[++i] : nullptr;
    if (std::strcmp(name, "--seconds") == 0) {
      options.seconds = number(name, value, 0.1, 86400);
    } else if (std::strcmp(name, "--threads") == 0) {
      options.threads = static_cast<int>(number(name, value, 2, 8));
    } else if (std::strcmp(name, "--seed") == 0) {
      options.seed = static_cast<std::uint64_t>(number(name, value, 0, UINT32_MAX));
    } else {
      std::fprintf(stderr, "threads: %s: there is no such option\n\n%s", name, kUsage);
      std::exit(2);
    }
  }
  return options;
}

}  // namespace verbs::soft::test::threads
