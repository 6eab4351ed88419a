// The journal: one line for each call that reaches the kernel, so that two programs can be compared. What differs
// between two runs of the same program is written as what it stands for: an address inside a region as that region and
// the offset, another address of the process as @, a descriptor as its kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/context.h"

namespace verbs::uverbs {

class Journal {
 public:
  void open(const char* path);
  void line(const std::string& text);

 private:
  int file_ = -1;
};

// Where addresses stand in a structure: offsets in bytes.
using Addresses = std::vector<std::size_t>;

// Bytes in hexadecimal, with the addresses in them replaced: those at the given offsets, and those of regions anywhere.
std::string bytes_text(const Context& context, const void* data, std::size_t size, const Addresses& addresses = {});

}  // namespace verbs::uverbs
