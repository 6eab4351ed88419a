// Frames that refer to their payload: in its place they have a list of where it lies in the sender's memory, and the
// receiver, on the same host, copies it from there. One copy instead of two, and one frame instead of many.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace verbs::soft::link {

// One piece of the sender's memory; a referring frame has an array of them, in the host's byte order.
struct Reference {
  std::uint64_t address;
  std::uint64_t size;
};

inline constexpr std::size_t kMostReferences = 32;       // of a frame
inline constexpr std::size_t kMostReferred = 256 << 10;  // bytes of a frame, so that none keeps its receiver for long

// The memory of the sender of a frame.
class SenderMemory {
 public:
  // Copies `from` to `to`, which have the same number of bytes. False: `to` has anything, and the sender has to send
  // the bytes themselves: they cannot be read, either side's memory is not mapped, or the sender has taken its
  // references back meanwhile (Transmitter::revoke_references()).
  virtual bool read(std::span<const iovec> to, std::span<const Reference> from) = 0;
  // Where this process has that memory mapped, or nullptr. An access may fault.
  virtual const std::uint8_t* find_mapped(const Reference& reference) {
    (void)reference;
    return nullptr;
  }
  // After the bytes were copied from there, or were not: what read() returns.
  virtual bool confirm_mapped(bool copied) {
    (void)copied;
    return false;
  }

 protected:
  ~SenderMemory() = default;
};

// Memory that cannot be read.
SenderMemory& unreadable_memory();

}  // namespace verbs::soft::link
