// A parser of capture files for tests, written from the pcapng specification and not from the writer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "test/link/support/memory_link.h"

namespace verbs::soft::link::test {

struct CapturedPacket {
  std::uint32_t interface = 0;
  std::uint64_t time = 0;
  std::uint32_t direction = 0;
  std::uint32_t original_size = 0;
  Frame bytes;
};

struct Capture {
  bool whole = false;  // the file ends with a whole block
  std::string comment;
  std::string interface_name;
  unsigned link_type = 0;
  unsigned time_resolution = 0;
  unsigned snap_length = 0;
  std::vector<std::pair<std::string, unsigned>>
      interfaces;  // names and link types; the fields above are the last one's
  std::vector<CapturedPacket> packets;
};

Capture parse_capture(const Frame& bytes);
Capture read_capture(const std::string& path);

}  // namespace verbs::soft::link::test
