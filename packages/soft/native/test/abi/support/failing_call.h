// Calls of which each allocation fails in turn. Also for the tests of the models.
#pragma once

#include <doctest/doctest.h>

#include <cerrno>
#include <string>
#include <type_traits>

#include "failing_new.h"

namespace verbs::soft::test {

// Runs the call until no allocation of it fails. Returns its result.
template <typename Call>
auto until_it_succeeds(const std::string& name, const Call& call) {
  CAPTURE(name);
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

}  // namespace verbs::soft::test
