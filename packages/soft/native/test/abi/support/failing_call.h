// Calls of which each allocation fails in turn. Also for the tests of the models.
#pragma once

#include <doctest/doctest.h>

#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <type_traits>

#include "exports.h"
#include "failing_new.h"

namespace verbs::soft::test {

// The calls that were made so, by their names.
inline std::set<std::string>& failed_calls() {
  static std::set<std::string> names;
  return names;
}

// Runs the call until no allocation of it fails. Returns its result.
template <typename Call>
auto until_it_succeeds(const std::string& name, const Call& call) {
  CAPTURE(name);
  failed_calls().insert(name);
  for (int nth = 1;; ++nth) {
    CAPTURE(nth);
    errno = 0;
    fail_allocation(nth);
    auto result = call();
    const bool failed = allocation_failed();
    fail_allocation(0);
    if constexpr (std::is_pointer_v<decltype(result)>) {
      if (result != nullptr) return result;
    } else {
      if (result == 0) return result;
    }
    CHECK(errno == ENOMEM);
    REQUIRE(failed);
    REQUIRE(nth < 10000);
  }
}

// The same for a call that cannot fail, or that fails for a reason of its own: it returns, whatever there is no memory
// for.
template <typename Call>
void until_it_has_memory(const std::string& name, const Call& call) {
  CAPTURE(name);
  failed_calls().insert(name);
  for (int nth = 1;; ++nth) {
    fail_allocation(nth);
    call();
    const bool failed = allocation_failed();
    fail_allocation(0);
    if (!failed) return;
    REQUIRE(nth < 10000);
  }
}

// Every function that the loaded library exports was called so, or is one of the others, of which each has its reason.
inline void check_no_call_is_missing(const char* library, const std::map<std::string, std::string>& others) {
  const std::set<std::string> names = exported_functions(library);
  REQUIRE(!names.empty());
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(failed_calls().contains(name) != others.contains(name));
  }
  for (const auto& [name, reason] : others) {
    CAPTURE(name);
    CHECK(names.contains(name));
  }
}

}  // namespace verbs::soft::test
