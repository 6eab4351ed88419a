// A call of the write interface, or of the ioctl that carries one: the command's own request and response, and those
// of the driver behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernel/context.h"

namespace verbs::uverbs {

struct Input {
  const unsigned char* data = nullptr;
  std::size_t size = 0;

  // What is missing reads as zero, as the kernel's copy of a shorter structure does.
  template <class T>
  T as() const {
    T value{};
    if (size != 0) std::memcpy(&value, data, size < sizeof(T) ? size : sizeof(T));
    return value;
  }
};

struct Output {
  unsigned char* data = nullptr;
  std::size_t size = 0;

  template <class T>
  void put(const T& value) {
    if (size != 0) std::memcpy(data, &value, size < sizeof(T) ? size : sizeof(T));
  }
};

struct Call {
  Context& context;
  Input request;
  Input driver_request;
  Output response;
  Output driver_response;
};

}  // namespace verbs::uverbs
