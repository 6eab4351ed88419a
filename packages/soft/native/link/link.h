// How frames leave and enter a port. Links are stacked: a fault plan or a capture is a Link in front of another Link.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "link/message.h"
#include "wire/frame.h"
#include "wire/gid.h"

namespace verbs::soft::link {

// Frames that refer to their payload: in its place they have a list of where it lies in the sender's memory, and the
// receiver, on the same host, copies it from there. One copy instead of two, and one frame instead of many.

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
  // Copies `from` to `to`, which have the same number of bytes. False: `to` has anything: the bytes cannot be read, or
  // either side's memory is not mapped.
  virtual bool read(std::span<const iovec> to, std::span<const Reference> from) = 0;
  // Where this process has that memory mapped, or nullptr. An access may fault.
  virtual const std::uint8_t* find_mapped(const Reference& reference) {
    (void)reference;
    return nullptr;
  }
  // After all that a frame refers to was copied, or was not. False: the sender has to send the bytes themselves, for it
  // has taken its references back meanwhile (Transmitter::revoke_references()), or there is no copy.
  virtual bool confirm(bool copied) { return copied; }

 protected:
  ~SenderMemory() = default;
};

// Memory that cannot be read.
SenderMemory& unreadable_memory();

using Nanos = std::int64_t;  // nanoseconds since an epoch that the caller chooses

// What a frame lacks on a link that keeps frames whole, in memory.
enum class FrameForm : std::uint8_t {
  kSealed,     // nothing
  kUnsealed,   // its ICRC: the last four bytes are any
  kReferring,  // its ICRC and its payload: it has a list of References instead
  kMessage,    // its headers: it is a Message with its payload behind it
};

class Neighbour;

// Takes the packets that a port sends. Used by one thread at a time (under the device's lock).
class Transmitter {
 public:
  virtual ~Transmitter() = default;
  // Returns a buffer of wire::kMaxFrame bytes, valid until commit(), the next reserve() or flush(). Never nullptr: a
  // full batch is flushed first. A buffer that is not committed is not sent.
  virtual std::uint8_t* reserve() = 0;
  // Sends the first `size` bytes of the reserved buffer as a frame, at flush() at the latest.
  virtual void commit(std::size_t size) = 0;
  // As commit(), for a plain RoCE v2 frame without its ICRC: a link that keeps frames whole leaves the ICRC out, every
  // other fills it in. `frame` begins at the reserved buffer.
  virtual void commit_unsealed(std::span<std::uint8_t> frame);
  // Whether frames between these addresses, to that queue pair, may refer to their payload: the receiver is able to
  // read this process' memory.
  virtual bool takes_references(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) {
    (void)source, (void)destination, (void)qp_num;
    return false;
  }
  // As commit_unsealed(), with a list of References for a payload. Where the receiver cannot be reached in this way any
  // more, the frame is dropped.
  virtual void commit_referring(std::span<std::uint8_t> frame) { (void)frame; }
  // When this returns, what earlier frames refer to is the application's again: a receiver that reads it later, or just
  // now, does not use it.
  virtual void revoke_references() {}
  // The NIC of this process at `destination` that takes whole messages, as far as nobody looks at packets on their way
  // out (neighbour.h); nullptr where packets are needed.
  virtual std::shared_ptr<Neighbour> neighbour(const wire::Gid& source, const wire::Gid& destination) {
    (void)source, (void)destination;
    return nullptr;
  }
  // The way on which the packets of a connection between these addresses, to that queue pair, may be messages, as far
  // as nobody looks at packets on their way out; nullptr where they are packets.
  virtual MessageWay* message_way(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) {
    (void)source, (void)destination, (void)qp_num;
    return nullptr;
  }
  // reserve() and commit() in one call, for a frame in the caller's memory: at most wire::kMaxFrame bytes.
  virtual void send(std::span<const std::uint8_t> frame) {
    std::memcpy(reserve(), frame.data(), frame.size());
    commit(frame.size());
  }
  // Packets from and to that address will pass, of a connection, an address handle or a listener. 0 or errno:
  // EADDRINUSE if another user has it.
  virtual int use(const wire::Gid& source) {
    (void)source;
    return 0;
  }
  // Whether the network leads from one address to the other: 0, or ENETUNREACH. `mtu` becomes the length of the IP
  // packets that it carries there, if somebody knows. It may ask the kernel: for the set-up of a connection, not for
  // each packet.
  virtual int route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu) {
    (void)source, (void)destination, (void)mtu;
    return 0;
  }
  // Hands the committed frames to the network. Frames that the network does not accept are dropped and counted.
  virtual void flush() = 0;
  // Whether committed frames to that queue pair's process wait because the receiver has no room. The caller should
  // commit no more for it until they are gone: the link that promises no loss keeps them, but has no endless room. It
  // is woken when there is room.
  virtual bool congested(const wire::Gid& destination, std::uint32_t qp_num) {
    (void)destination, (void)qp_num;
    return false;
  }
  // Hands over the frames that wait, as far as there is room now. The result changes when an address is no longer
  // congested.
  virtual std::uint64_t relieve() { return 0; }
  // The UDP source port of every frame that leaves (a socket has one port), whatever its path says; 0 if each frame has
  // the port of its path.
  virtual std::uint16_t fixed_source_port() const { return 0; }
};

class Receiver {
 public:
  virtual void deliver(std::span<const std::uint8_t> frame) = 0;
  // A frame that came whole, without its ICRC. Unless the receiver does without, it gets a copy with the ICRC.
  virtual void deliver_unsealed(std::span<const std::uint8_t> frame);
  // A frame with a list of References for a payload. A receiver that looks at payloads passes it on with
  // unreadable_memory(): then the sender sends the payload.
  virtual void deliver_referring(std::span<const std::uint8_t> frame, SenderMemory& memory) {
    (void)frame, (void)memory;
  }
  // A message, with its payload in memory that the sender may change meanwhile. Unless the receiver takes it, it gets
  // the packet. False: no packet is like this.
  virtual bool deliver_message(const Message& message, std::span<const std::uint8_t> payload, const MessageEnds& ends);
  // A datagram on this path was refused for its source port, which its sender does not have (link/udp/foreign_peers.h).
  virtual void refuse(const wire::Path& path) { (void)path; }
  void deliver_as(FrameForm form, std::span<const std::uint8_t> frame) {
    form == FrameForm::kSealed ? deliver(frame) : deliver_unsealed(frame);
  }

 protected:
  ~Receiver() = default;
};

class Link : public Transmitter {
 public:
  // Receives about `budget` frames without blocking and hands them to `receiver`; the frames of one datagram are
  // received together. Returns the number of received frames, including frames that a fault drops. Fewer than `budget`
  // means that the link is empty for now. `receiver` may transmit.
  virtual std::size_t receive(Receiver& receiver, std::size_t budget) = 0;
  // Sends the delayed frames that are due by `now`. Only the fault link delays frames.
  virtual void advance(Nanos now) { (void)now; }
  // When advance() has something to do next; INT64_MAX for never.
  virtual Nanos next_deadline() const { return INT64_MAX; }
  // A descriptor that is readable when receive() would return frames; -1 if there is none.
  virtual int wait_fd() const { return -1; }
};

}  // namespace verbs::soft::link
