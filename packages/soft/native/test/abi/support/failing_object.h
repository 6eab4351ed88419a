// Objects that are created without memory, and leave nothing behind. Also for the tests of the models.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <string>

#include "failing_call.h"

namespace verbs::soft::test {

// Creates and destroys an object. Its handle is the one that the first of its kind has when nothing was left behind.
template <typename Create, typename Destroy>
void check_object(const char* create_name, const Create& create, const char* destroy_name, const Destroy& destroy) {
  auto* first = create();
  REQUIRE(first);
  std::uint32_t handle = 0;
  if constexpr (requires { first->handle; }) handle = first->handle;
  REQUIRE(destroy(first) == 0);
  auto* object = until_it_succeeds(create_name, create, [&](auto* made) { CHECK(destroy(made) == 0); });
  if constexpr (requires { object->handle; }) CHECK(object->handle == handle);
  CHECK(destroy(object) == 0);
  until_it_ends(destroy_name, create, destroy);
}

// A function that the library exports without a declaration in its headers.
template <typename Function>
Function* exported(const std::string& name) {
  void* const found = dlsym(RTLD_DEFAULT, name.c_str());
  CAPTURE(name);
  REQUIRE(found);
  return reinterpret_cast<Function*>(found);
}

template <typename Type>
using Argument = std::conditional_t<std::is_null_pointer_v<Type>, void*, Type>;

// Calls such a function, which allocates nothing.
template <typename Result, typename... Arguments>
Result calls_without_allocating(const std::string& name, Arguments... arguments) {
  auto* const function = exported<Result(Argument<Arguments>...)>(name);
  return without_allocating(name, [&] { return function(arguments...); });
}

}  // namespace verbs::soft::test
