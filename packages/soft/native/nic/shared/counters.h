// Counters of a device, by the names of the kernel's soft-RoCE (`rdma statistic`) where it has one.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace verbs::soft::nic {

struct Counters {
  std::uint64_t sent_pkts = 0;
  std::uint64_t rcvd_pkts = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t rcvd_bytes = 0;
  std::uint64_t duplicate_request = 0;
  std::uint64_t out_of_seq_request = 0;
  std::uint64_t rcvd_rnr_err = 0;
  std::uint64_t send_rnr_err = 0;
  std::uint64_t rcvd_seq_err = 0;
  std::uint64_t retry_exceeded_err = 0;
  std::uint64_t retry_rnr_exceeded_err = 0;
  std::uint64_t completer_retry_err = 0;
  std::uint64_t ack_deferred = 0;  // acknowledgements that a later one replaced before they were sent
  std::uint64_t ack_timeout = 0;
  std::uint64_t retransmitted_pkts = 0;
  std::uint64_t icrc_err = 0;
  std::uint64_t dropped_pkts = 0;  // malformed, unknown QPN, wrong state, wrong address, wrong key
  std::uint64_t link_downed = 0;   // how often a port's link went down
  std::uint64_t link_dropped = 0;  // packets of a port that was down, or from a removed GID
  std::uint64_t rdma_sends = 0;
  std::uint64_t rdma_recvs = 0;
};

// Of raw packets, on devices that have them.
struct FrameCounters {
  std::uint64_t raw_sent_frames = 0;  // from the steering to a port
  std::uint64_t raw_sent_bytes = 0;
  std::uint64_t raw_rcvd_frames = 0;  // from a port to the steering
  std::uint64_t raw_rcvd_bytes = 0;
  std::uint64_t raw_delivered = 0;         // completed receive requests
  std::uint64_t out_of_buffer = 0;         // for a queue pair without a receive request
  std::uint64_t raw_not_receiving = 0;     // for a queue pair in a state that receives nothing
  std::uint64_t raw_loopback_blocked = 0;  // for a queue pair without self loopback
  std::uint64_t raw_malformed = 0;         // too short to be Ethernet, or too long for a port
};

// What a device counts. The host may lay it where others read it.
struct DeviceCounters {
  Counters packets;
  FrameCounters frames;
};

// What was counted between two times.
inline DeviceCounters difference(const DeviceCounters& now, const DeviceCounters& before) {
  using Words = std::array<std::uint64_t, sizeof(DeviceCounters) / sizeof(std::uint64_t)>;
  auto words = std::bit_cast<Words>(now);
  const auto base = std::bit_cast<Words>(before);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] -= base[i];
  return std::bit_cast<DeviceCounters>(words);
}

}  // namespace verbs::soft::nic
