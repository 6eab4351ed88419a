// The commands of the write interface. Newer libraries send the same through an ioctl.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/call.h"
#include "kernel/journal.h"

namespace verbs::uverbs {

struct WriteCommand {
  std::uint32_t number;  // with IB_USER_VERBS_CMD_FLAG_EXTENDED
  const char* name;
  std::size_t request;   // size of the command's own request, without the header
  std::size_t response;  // and response
  int (*run)(Call&);
  Type makes = Type::kNone;
  Addresses addresses = {};  // in the request
};

// nullptr: the kernel has no such command.
const WriteCommand* find_write_command(std::uint32_t number);

}  // namespace verbs::uverbs
