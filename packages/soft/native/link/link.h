// How frames leave and enter a port. Links stack: a fault plan or a capture is a Link in front of a Link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "wire/frame.h"

namespace verbs::soft::link {

using Nanos = std::int64_t;  // time since an epoch of the caller's choice

// Where a port's packets go. One thread at a time (the device's lock).
class Transmitter {
 public:
  virtual ~Transmitter() = default;
  // A buffer of wire::kMaxFrame bytes, valid until commit(), the next reserve() or flush(). Never null: a full batch is
  // flushed first. Reserving without committing sends nothing.
  virtual std::uint8_t* reserve() = 0;
  // The first `size` bytes of the reserved buffer are a frame: send it (at flush() at the latest).
  virtual void commit(std::size_t size) = 0;
  // reserve() and commit() in one, for a frame that is somewhere else: at most wire::kMaxFrame bytes.
  virtual void send(std::span<const std::uint8_t> frame) {
    std::memcpy(reserve(), frame.data(), frame.size());
    commit(frame.size());
  }
  // Hands everything committed to the network. What it cannot take is dropped and counted, as a wire would.
  virtual void flush() = 0;
  // The UDP source port that every frame leaves with, whatever its path says (a socket has one); 0 if frames may
  // choose.
  virtual std::uint16_t fixed_source_port() const { return 0; }
};

class Receiver {
 public:
  virtual void deliver(std::span<const std::uint8_t> frame) = 0;

 protected:
  ~Receiver() = default;
};

class Link : public Transmitter {
 public:
  // Takes about `budget` frames and hands them to `receiver`, without blocking; frames that came as one datagram are
  // taken together. Returns how many it took, those that a fault dropped included: less than `budget` means that the
  // link is empty for now. `receiver` may transmit.
  virtual std::size_t receive(Receiver& receiver, std::size_t budget) = 0;
  // Time passes: delayed frames that are due by `now` go out. Only the fault link cares.
  virtual void advance(Nanos now) { (void)now; }
  // When advance() has something to do next; INT64_MAX for never.
  virtual Nanos next_deadline() const { return INT64_MAX; }
  // A descriptor that is readable when receive() would return frames; -1 if there is none.
  virtual int wait_fd() const { return -1; }
};

}  // namespace verbs::soft::link
