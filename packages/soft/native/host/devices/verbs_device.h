// The structure behind the pointer of a device that programs and models hold.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>

namespace verbs::soft::host {

class RawPackets;

struct Face {
  ibv_device device;
  // Debian's libmlx5 and libefa look past the end of an ibv_device to see whether it is theirs.
  std::array<unsigned char, 1024> zero;
  // What a model asks for under the device's lock, where the registry's cannot be had.
  std::array<std::uint8_t, 6> mac;  // of the first port; the others' follow
  int ports;
  RawPackets* raw;  // while the device is open, if it has raw packets
};

inline Face& face_of(ibv_device* device) { return *reinterpret_cast<Face*>(device); }
inline const Face& face_of(const ibv_device* device) { return *reinterpret_cast<const Face*>(device); }

}  // namespace verbs::soft::host
