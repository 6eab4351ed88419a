#include "link/link.h"

#include "wire/icrc.h"

namespace verbs::soft::link {

void Transmitter::commit_unsealed(std::span<std::uint8_t> frame) {
  wire::seal_icrc(frame);
  commit(frame.size());
}

// The frame may come from a hostile peer: what is no packet is handed on as it is, and the receiver drops it.
void Receiver::deliver_unsealed(std::span<const std::uint8_t> frame) {
  std::uint8_t sealed[wire::kMaxFrame];
  if (frame.size() > sizeof sealed || !wire::parse_frame(frame)) return deliver(frame);
  std::memcpy(sealed, frame.data(), frame.size());
  wire::seal_icrc({sealed, frame.size()});
  deliver({sealed, frame.size()});
}

bool Receiver::deliver_message(const Message& message, std::span<const std::uint8_t> payload, const MessageEnds& ends) {
  std::uint8_t frame[wire::kMaxFrame];
  const std::size_t size = write_packet(message, payload, ends, frame);
  if (size != 0) deliver_unsealed({frame, size});
  return size != 0;
}

SenderMemory& unreadable_memory() {
  struct Unreadable final : SenderMemory {
    bool read(std::span<const iovec> /*to*/, std::span<const Reference> /*from*/) override { return false; }
  };
  static Unreadable memory;
  return memory;
}

}  // namespace verbs::soft::link
