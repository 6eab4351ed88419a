// Frames that are to leave by a UDP socket. Consecutive frames to one peer go to the kernel as one datagram of several
// segments (UDP_SEGMENT): an acknowledgement and the request behind it pass the network stack once and wake the peer
// once.
//
// Between two sockets of a loopback address the datagram stays whole. On other ways the kernel or the adapter splits it
// and numbers the IPv4 identifications of the segments from 0 on, which the ICRC covers: such a frame is sealed for its
// number in the datagram.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace verbs::soft::link {

class TransmitBatch {
 public:
  static constexpr std::size_t kMostSegments = 16;  // of a datagram, which a receiver reads as a whole

  struct Result {
    std::size_t sent = 0;     // frames
    std::size_t dropped = 0;  // the kernel rejected them
  };

  // `scope` is the interface of a link-local address.
  TransmitBatch(int fd, std::uint16_t port, std::uint32_t scope);
  ~TransmitBatch();
  TransmitBatch(const TransmitBatch&) = delete;
  TransmitBatch& operator=(const TransmitBatch&) = delete;

  bool full() const;
  std::uint8_t* reserve();  // wire::kMaxFrame bytes; not when full
  // A sealed frame, and one without its ICRC, which it gets here. False if it is no IP packet.
  bool commit(std::size_t size);
  bool commit_unsealed(std::size_t size);
  Result flush();

 private:
  struct Batch;
  bool prepare(std::size_t size);
  void add(bool joins);
  bool joins_last(std::size_t slot) const;
  void send_singly(std::size_t message, Result* outcome);

  int fd_;
  std::uint16_t port_;
  std::uint32_t scope_;
  // Until the kernel rejects UDP_SEGMENT: before Linux 4.18, or a system that imitates Linux.
  bool joining_ = true;
  std::unique_ptr<Batch> batch_;
};

}  // namespace verbs::soft::link
