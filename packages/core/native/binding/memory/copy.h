// The arguments of a copy between a Uint8Array and memory that JavaScript does not see.
#pragma once

#include <cstdint>

#include "binding/lifetime/handle.h"

namespace verbs::core {

// The part of the memory and the bytes that a copy is about: (memory, offset, bytes: Uint8Array).
template <typename Memory>
struct Copy {
  Held<Memory> memory;
  std::uint64_t offset = 0;
  void* data = nullptr;
  std::size_t size = 0;
  bool inside = false;
};

template <typename Memory>
Copy<Memory> read_copy(const Napi::CallbackInfo& info) {
  Copy<Memory> copy{.memory = unwrap<Memory>(info, 0),
                    .offset = static_cast<std::uint64_t>(info[1].As<Napi::Number>().Int64Value())};
  napi_typedarray_type type = napi_int8_array;
  if (napi_get_typedarray_info(info.Env(), info[2], &type, &copy.size, &copy.data, nullptr, nullptr) != napi_ok ||
      type != napi_uint8_array) {
    throw Napi::TypeError::New(info.Env(), "such memory is copied from and to a Uint8Array");
  }
  copy.inside = copy.offset <= copy.memory->length() && copy.size <= copy.memory->length() - copy.offset;
  return copy;
}

}  // namespace verbs::core
