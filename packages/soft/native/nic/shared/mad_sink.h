// Where the NIC takes datagrams for queue pair 1, the general services interface: management datagrams.
#pragma once

#include <cstdint>
#include <span>

#include "nic/shared/time.h"
#include "wire/frame.h"

namespace verbs::soft::nic {

class MadSink {
 public:
  // From the sender of `path`, to this port. Any bytes are possible.
  virtual void mad(std::uint8_t port_num, const wire::Path& path, std::span<const std::uint8_t> bytes, Nanos now) = 0;

 protected:
  ~MadSink() = default;
};

}  // namespace verbs::soft::nic
