// What every part of the NIC computes with: time, PSNs, the limits and rules of its device, its events and its
// counters.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <span>

#include "link/link.h"
#include "nic/base/reasons.h"
#include "wire/frame.h"

namespace verbs::soft::nic {

// The limits that the device advertises and enforces (ibv_device_attr). Defaults follow the kernel's soft-RoCE where it
// has a figure.
struct Limits {
  int max_qp = 1 << 20;
  int max_qp_wr = 1 << 15;
  int max_sge = 32;
  int max_sge_rd = 32;
  int max_inline_data = 512;
  int max_cq = 1 << 20;
  int max_cqe = 1 << 20;
  int max_mr = (1 << 19) - 1;
  int max_mw = (1 << 19) - 1;
  int max_pd = 1 << 20;
  int max_ah = 1 << 20;
  int max_mcast_grp = 8192;
  int max_mcast_qp_attach = 56;  // per group
  int max_dm_size = 256 << 10;   // bytes in total
  int max_srq = 1 << 20;
  int max_srq_wr = 1 << 15;
  int max_srq_sge = 32;
  int max_qp_rd_atom = 128;
  int max_qp_init_rd_atom = 128;
  std::uint32_t max_msg_size = 1u << 31;
};

// Where devices differ and programs see it: the rules of adapters under libmlx5, or those of the kernel's soft-RoCE.
// docs/devices.md says where each is from.

struct Rules {
  static constexpr Rules mlx5() { return {}; }
  static constexpr Rules rxe() {
    return {.slots_until_polled = false,
            .short_datagrams_fail = false,
            .alignment_before_key = false,
            .posts_need_alignment = true,
            .any_domains_handle = false,
            .bound_region_error = EINVAL,
            .failed_invalidate = IBV_WC_LOC_QP_OP_ERR};
  }

  bool slots_until_polled = true;     // else until a request was executed
  bool short_datagrams_fail = true;   // a receive request too short for a datagram; else the datagram is dropped
  bool alignment_before_key = true;   // the responder of an atomic looks at the address first
  bool posts_need_alignment = false;  // an atomic without alignment is refused at the post
  bool any_domains_handle = true;     // a datagram may use an address handle of another protection domain
  int bound_region_error = EBUSY;     // of deregistering a region with bound windows
  ibv_wc_status failed_invalidate = IBV_WC_MW_BIND_ERR;
  bool strict = false;  // the specification before the device: what would go wrong unseen fails
};

// Time as the NIC sees it: nanoseconds since an epoch of the caller's choice.

using link::Nanos;
inline constexpr Nanos kNever = INT64_MAX;

// Packet sequence numbers: 24 bits, compared by their signed difference (IBTA 9.7.1).

inline constexpr std::uint32_t kPsnMask = 0xffffff;

inline std::uint32_t psn_add(std::uint32_t psn, std::uint32_t count) { return (psn + count) & kPsnMask; }

// Positive when `a` is after `b`; right while they are less than 2^23 apart.
inline std::int32_t psn_diff(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>((a - b) << 8) >> 8; }

inline bool psn_before(std::uint32_t a, std::uint32_t b) { return psn_diff(a, b) < 0; }

// The events that the NIC reports to its host.

class Cq;
class Qp;
class Srq;

struct AsyncEvent {
  ibv_event_type type;
  Qp* qp = nullptr;  // set for QP events
  Cq* cq = nullptr;  // set for CQ events
  std::uint8_t port_num = 0;
  Srq* srq = nullptr;  // set for SRQ events
};

// Called from inside the calls of the NIC, under the host's lock. An implementation notes the event down and calls no
// function of the NIC.
class EventSink {
 public:
  virtual void completion(Cq* cq) = 0;  // an armed CQ got its entry, and is disarmed
  virtual void async(const AsyncEvent& event) = 0;
  // Something was refused or failed. The host may correct the time.
  virtual void explained(ReasonEvent&) {}

 protected:
  ~EventSink() = default;
};

// Where the NIC takes datagrams for queue pair 1, the general services interface: management datagrams.

class MadSink {
 public:
  // From the sender of `path`, to this port. Any bytes are possible.
  virtual void mad(std::uint8_t port_num, const wire::Path& path, std::span<const std::uint8_t> bytes, Nanos now) = 0;

 protected:
  ~MadSink() = default;
};

// Counters of a device, by the names of the kernel's soft-RoCE (`rdma statistic`) where it has one.

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
  std::uint64_t handed_over_pkts = 0;  // of sent_pkts: those of messages within the process, which made no packets
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
  std::array<std::uint64_t, kReasons> reasons{};  // how often, by Reason
};

// What was counted between two times.
inline DeviceCounters difference(const DeviceCounters& now, const DeviceCounters& before) {
  using Words = std::array<std::uint64_t, sizeof(DeviceCounters) / sizeof(std::uint64_t)>;
  auto words = std::bit_cast<Words>(now);
  const auto base = std::bit_cast<Words>(before);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] -= base[i];
  return std::bit_cast<DeviceCounters>(words);
}

// Where a NIC that shares its addresses with others has its queue pair numbers from.
class NumberSource {
 public:
  // The numbers that queue pairs get, in their order, begin behind this one.
  virtual std::uint32_t base() const = 0;
  // Whether that number is the NIC's, or is now: they are claimed in their order.
  virtual bool extend_to(std::uint32_t number) = 0;
  // A number that a program chooses. 0 or errno: EADDRINUSE if another NIC has it, or its neighbours.
  virtual int choose(std::uint32_t number) = 0;

 protected:
  ~NumberSource() = default;
};

}  // namespace verbs::soft::nic
