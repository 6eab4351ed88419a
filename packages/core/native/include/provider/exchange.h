// Structures that go to a library and come back from it. A library may know longer ones than any that is known here,
// whatever header is at hand: what it reads behind ours is zero, and what it writes there is room of ours, and is
// noticed.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace verbs::provider {

inline constexpr std::size_t kExchangeRoom = 256;

// A structure that the library reads.
template <typename Structure>
struct Given {
  Structure structure{};
  std::array<std::uint8_t, kExchangeRoom> room{};

  Structure* operator->() { return &structure; }
  // Of the whole: the library may go on behind the structure.
  Structure* get() { return reinterpret_cast<Structure*>(this); }
};

// A structure that the library fills; zero where it does not. A program may set fields first that the library reads.
template <typename Structure>
class Filled {
 public:
  Filled() { room_.fill(kPoison); }

  Structure* operator->() { return &structure_; }
  const Structure* operator->() const { return &structure_; }
  const Structure& operator*() const { return structure_; }
  // `As`: what the library's function calls it, where there are several of it.
  template <typename As = Structure>
  As* get() {
    return reinterpret_cast<As*>(this);
  }

  // A field of later releases than the header at hand, at its offset in their structure; zero unless the library has
  // written it.
  template <typename Field>
  Field later(std::size_t offset) const {
    std::array<std::uint8_t, sizeof(Field)> bytes{};
    std::memcpy(bytes.data(), reinterpret_cast<const std::uint8_t*>(this) + offset, bytes.size());
    Field field{};
    const bool in_room = offset >= sizeof(Structure);
    const bool written = !in_room || std::any_of(bytes.begin(), bytes.end(), [](auto byte) { return byte != kPoison; });
    if (written) std::memcpy(&field, bytes.data(), bytes.size());
    return field;
  }

  // Bytes that the library has written behind the structure.
  std::size_t beyond() const {
    std::size_t count = kExchangeRoom;
    while (count > 0 && room_[count - 1] == kPoison) --count;
    return count;
  }
  // The errno after a call with that result. EPROTO: the library's structure is longer than the room, too, and what
  // lies behind it may be damaged.
  int after(int error) const { return error == 0 && beyond() == kExchangeRoom ? EPROTO : error; }
  // As after(), for a structure whose members have other meanings in other lengths: EPROTO for each but this one.
  int after_exactly(int error) const { return error == 0 && beyond() != 0 ? EPROTO : error; }

 private:
  static constexpr std::uint8_t kPoison = 0xa5;
  Structure structure_{};
  std::array<std::uint8_t, kExchangeRoom> room_;
};

}  // namespace verbs::provider
