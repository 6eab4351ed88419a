// The times of the protocol. The specification counts time as 4.096 us << exponent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cm/connection.h"

namespace verbs::soft::cm {

inline constexpr Nanos kMillisecond = 1'000'000;
// How often a message is sent that expects a response.
inline constexpr int kSends = 16;
inline constexpr int kDreqSends = 8;
inline constexpr Nanos kFirstInterval = 250 * kMillisecond;
inline constexpr Nanos kLongestInterval = 1000 * kMillisecond;
// After an MRA the peer's program works on it, and is asked less often. Each question has an MRA as its response.
inline constexpr Nanos kMraInterval = 4000 * kMillisecond;
inline constexpr int kMraSends = 3;

// What is announced to the peer, as the kernel's rdma_cm does.
inline constexpr std::uint8_t kResponseTimeout = 20;
inline constexpr std::uint8_t kMaxRetries = 15;
inline constexpr std::uint8_t kServiceTimeout = 24;
inline constexpr std::uint8_t kAckDelay = 15;

// How long a closed connection is remembered, by its acknowledgement timeout: half a second by default.
inline constexpr Nanos timewait(std::uint8_t ack_timeout) {
  constexpr std::uint8_t kLongest = 20;
  return Nanos{4096} << std::min(ack_timeout, kLongest);
}
// Asking about connections that stand: the first time, and from then on.
inline constexpr Nanos kFirstWatch = 50 * kMillisecond;
inline constexpr Nanos kWatchInterval = 2000 * kMillisecond;
inline constexpr Nanos kSilentInterval = 1000 * kMillisecond;
inline constexpr int kSilentLimit = 5;
// How long a request waits for somebody to listen, and how many do at once.
inline constexpr Nanos kHoldTime = 200 * kMillisecond;
inline constexpr std::size_t kMaxHeld = 256;
// … meanwhile, the other processes of the host are asked so often.
inline constexpr Nanos kLookInterval = 20 * kMillisecond;
// How long the reply to a lookup is kept for repeated requests.
inline constexpr Nanos kLookupMemory = 5000 * kMillisecond;

}  // namespace verbs::soft::cm
