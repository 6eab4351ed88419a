// Frames that are to leave by a UDP socket. Those in a row to one peer of this machine go to the kernel as one datagram
// of many segments (UDP_SEGMENT): an answer and the acknowledgement before it take one way through the stack and wake
// the peer once.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace verbs::soft::link {

class TransmitBatch {
 public:
  struct Result {
    std::size_t sent = 0;     // frames
    std::size_t dropped = 0;  // the kernel would not take them
  };

  // `scope` is the interface of a link-local address.
  TransmitBatch(int fd, std::uint16_t port, std::uint32_t scope);
  ~TransmitBatch();
  TransmitBatch(const TransmitBatch&) = delete;
  TransmitBatch& operator=(const TransmitBatch&) = delete;

  bool full() const;
  std::uint8_t* reserve();        // not when full: wire::kMaxFrame bytes
  bool commit(std::size_t size);  // false: nothing that a socket could send
  Result flush();

 private:
  struct Batch;
  bool joins_last(std::size_t slot) const;
  void send_singly(std::size_t message, Result* outcome);

  int fd_;
  std::uint16_t port_;
  std::uint32_t scope_;
  // Until the kernel refuses it: one before 4.18, or one that imitates Linux.
  bool joining_ = true;
  std::unique_ptr<Batch> batch_;
};

}  // namespace verbs::soft::link
