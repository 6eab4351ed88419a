// Calls of which each allocation fails in turn. Also for the tests of the models.
#pragma once

#include <doctest/doctest.h>

#include <cerrno>
#include <cstddef>
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

// Whatever a call throws, allocations fail no longer.
struct MemoryAgain {
  MemoryAgain() = default;
  MemoryAgain(const MemoryAgain&) = delete;
  ~MemoryAgain() { fail_allocation(0); }
};

// Turn by turn: the nth allocation and all later ones fail, then the nth alone, for each n.
struct Turn {
  int nth = 1;
  bool alone = false;

  void begin() const {
    errno = 0;
    alone ? fail_allocation(nth) : fail_allocations_from(nth);
  }
  // Whether an allocation has failed in it.
  static bool end() {
    const bool failed = allocation_failed();
    fail_allocation(0);
    return failed;
  }
  void next() {
    if (alone) ++nth;
    alone = !alone;
    REQUIRE(nth < 10000);
  }
};

template <typename Result>
bool has_passed(Result result) {
  if constexpr (std::is_pointer_v<Result>) {
    return result != nullptr;
  } else {
    return result == 0;
  }
}

// Runs the call until no allocation of it fails: the nth one and all later ones, then the nth alone, for each n.
// Returns its result. A call may get along without some of its memory: then undo(result), and the next n.
template <typename Call, typename Undo = std::nullptr_t>
auto until_it_succeeds(const std::string& name, const Call& call, const Undo& undo = nullptr) {
  CAPTURE(name);
  failed_calls().insert(name);
  const MemoryAgain memory_again;
  for (Turn turn;; turn.next()) {
    CAPTURE(turn.nth);
    CAPTURE(turn.alone);
    turn.begin();
    auto result = call();
    const bool failed = Turn::end();
    if (has_passed(result)) {
      if constexpr (!std::is_null_pointer_v<Undo>) {
        if (failed) {
          undo(result);
          continue;
        }
      }
      return result;
    }
    if constexpr (std::is_same_v<decltype(result), int>) {
      CHECK((errno == ENOMEM || result == ENOMEM));
    } else {
      CHECK(errno == ENOMEM);
    }
    REQUIRE(failed);
  }
}

// The end of an object, which is made anew for each n. It needs no memory, or fails and passes when it is repeated.
template <typename Make, typename End>
void until_it_ends(const std::string& name, const Make& make, const End& end) {
  CAPTURE(name);
  failed_calls().insert(name);
  const MemoryAgain memory_again;
  for (Turn turn;; turn.next()) {
    CAPTURE(turn.nth);
    CAPTURE(turn.alone);
    auto* const object = make();
    REQUIRE(object);
    turn.begin();
    const int result = end(object);
    const bool failed = Turn::end();
    if (result != 0) {
      CHECK((errno == ENOMEM || result == ENOMEM));
      CHECK(end(object) == 0);
    }
    if (!failed) return;
  }
}

// The same for a call that cannot fail, or that fails for a reason of its own: it returns, whatever there is no memory
// for.
template <typename Call>
void until_it_has_memory(const std::string& name, const Call& call) {
  CAPTURE(name);
  failed_calls().insert(name);
  const MemoryAgain memory_again;
  for (Turn turn;; turn.next()) {
    turn.begin();
    call();
    if (!Turn::end()) return;
  }
}

// A call that allocates nothing. Returns its result.
template <typename Call>
auto without_allocating(const std::string& name, const Call& call) {
  CAPTURE(name);
  failed_calls().insert(name);
  const MemoryAgain memory_again;
  Turn().begin();
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    const bool allocated = Turn::end();  // a check needs memory
    CHECK_FALSE(allocated);
  } else {
    auto result = call();
    const bool allocated = Turn::end();
    CHECK_FALSE(allocated);
    return result;
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
