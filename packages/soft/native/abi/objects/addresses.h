// Every verbs structure that programs have, by its address. For the files beside this one.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <thread>
#include <unordered_map>

#include "abi/objects/handles.h"

namespace verbs::soft::abi {

// The fields of a verbs structure by which the kernel finds the object.
struct Fields {
  const ibv_context* context = nullptr;
  std::uint32_t handle = 0;  // 0 for a structure without one
};

struct Known {
  Handles* file = nullptr;
  std::uint32_t handle = UINT32_MAX;  // contexts have none
  Kind kind = Kind::kContext;
  Handles::Free free = nullptr;
  bool imported = false;
  std::uint64_t born = 0;    // of the object; 0 while it is being created
  Fields given{};            // the fields as the program got them
  std::thread::id closer{};  // of a context that is being closed
};

using Addresses = std::unordered_map<const void*, Known>;

// Guarded by process_lock(); never destroyed.
Addresses& addresses();

// Reads the structure of an object, not of a context.
Fields fields_of(Kind kind, const void* ibv);

}  // namespace verbs::soft::abi
