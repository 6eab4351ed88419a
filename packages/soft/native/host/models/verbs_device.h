// The structure behind the ibv_device pointer that programs and models hold.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>

namespace verbs::soft::host {

class RawPackets;

struct VerbsDevice {
  ibv_device ibv;
  // Debian's libmlx5 and libefa read past the end of an ibv_device to find out whether the device is theirs.
  std::array<unsigned char, 1024> zero;
  // A model reads these under the device's lock, where the registry's lock must not be taken.
  std::array<std::uint8_t, 6> mac;  // of the first port; the other ports count up
  int ports;
  RawPackets* raw;  // while the device is open, if it has raw packets
};

inline VerbsDevice& verbs_device(ibv_device* device) { return *reinterpret_cast<VerbsDevice*>(device); }
inline const VerbsDevice& verbs_device(const ibv_device* device) {
  return *reinterpret_cast<const VerbsDevice*>(device);
}

}  // namespace verbs::soft::host
