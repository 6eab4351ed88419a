// The table of @verbs/core, and its objects for the time of a call.
#pragma once

#include <memory>

#include "value.h"
#include "verbs_core.h"

namespace verbs::hbl {

// Null before setUp(). The same in every environment: it is the table of one addon.
const verbs_core_api* core();

struct Release {
  void operator()(verbs_core_object* taken) const { core()->release(taken); }
};
using Taken = std::unique_ptr<verbs_core_object, Release>;

// Null with a JavaScript exception pending if the argument is no open object of that kind.
inline Taken take(const Arguments& arguments, std::size_t index, verbs_core_kind kind) {
  return Taken(core()->take(arguments.env, arguments[index], kind));
}
template <typename T>
T* pointer(const Taken& taken) {
  return static_cast<T*>(core()->pointer(taken.get()));
}

}  // namespace verbs::hbl
