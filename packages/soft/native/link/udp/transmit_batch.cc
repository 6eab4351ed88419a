#include "link/udp/transmit_batch.h"

#include <netinet/in.h>
#include <netinet/udp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "link/frame_range.h"
#include "link/udp/ip_socket.h"
#include "verbs_soft_cancel.h"
#include "wire/bytes.h"
#include "wire/icrc.h"
#include "wire/identification.h"

namespace verbs::soft::link {
namespace {

constexpr std::size_t kFrames = 64;
constexpr std::size_t kMostBytes = 60'000;  // of a datagram; larger ones gain little

std::uint32_t ipv4_of(const sockaddr_storage& address) {
  return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr);
}

// Whether the segments of a datagram to it get identifications of their own.
bool numbers_segments(const sockaddr_storage& address) {
  return address.ss_family == AF_INET && ipv4_of(address) >> 24 != 127;
}

bool is_group(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) return IN_MULTICAST(ipv4_of(address));
  return IN6_IS_ADDR_MULTICAST(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

std::uint16_t identification_of(const std::uint8_t* ipv4) { return wire::load_be<std::uint16_t>(ipv4 + 4); }

// False if it has none. The kernel rejects labels that their sender has not leased while any program of the machine has
// an exclusive one.
bool drop_flow_label(sockaddr_storage& address) {
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(address);
  if (address.ss_family != AF_INET6 || ipv6.sin6_flowinfo == 0) return false;
  ipv6.sin6_flowinfo = 0;
  return true;
}

}  // namespace

struct TransmitBatch::Batch {
  alignas(64) std::array<std::array<std::uint8_t, wire::kMaxFrame>, kFrames> frames;
  std::array<iovec, kFrames> pieces = {};  // the part of each frame that the kernel gets
  std::size_t count = 0;
  // Datagrams: each has a row of pieces.
  std::array<mmsghdr, kFrames> messages = {};
  std::array<sockaddr_storage, kFrames> addresses = {};
  alignas(cmsghdr) std::array<std::array<char, kControl>, kFrames> controls = {};
  std::array<std::size_t, kFrames> bytes = {};
  std::array<Range, kFrames> ranges = {};  // of all frames of a datagram: they are for one process
  std::size_t datagrams = 0;

  std::size_t frames_of(std::size_t message) const { return messages[message].msg_hdr.msg_iovlen; }
};

TransmitBatch::TransmitBatch(int fd, std::uint16_t port, std::uint32_t scope)
    : fd_(fd), port_(port), scope_(scope), batch_(std::make_unique<Batch>()) {}

TransmitBatch::~TransmitBatch() = default;

bool TransmitBatch::full() const { return batch_->count == kFrames; }

std::uint8_t* TransmitBatch::reserve() { return batch_->frames[batch_->count].data(); }

bool TransmitBatch::commit(std::size_t size) {
  if (!prepare(size)) return false;
  const Batch& batch = *batch_;
  const std::size_t slot = batch.datagrams;
  bool joins = joins_last(slot);
  if (joins && numbers_segments(batch.addresses[slot])) {
    joins = identification_of(batch.frames[batch.count].data()) == batch.frames_of(slot - 1);
  }
  add(joins);
  return true;
}

bool TransmitBatch::commit_unsealed(std::size_t size) {
  if (!prepare(size)) return false;
  Batch& batch = *batch_;
  const std::size_t slot = batch.datagrams;
  const std::span<std::uint8_t> frame(batch.frames[batch.count].data(), size);
  const bool joins = joins_last(slot);
  if (joins && numbers_segments(batch.addresses[slot])) {
    wire::set_identification(frame, static_cast<std::uint16_t>(batch.frames_of(slot - 1)));
  }
  wire::seal_icrc(frame);
  add(joins);
  return true;
}

// Describes the frame in the reserved buffer as a datagram of its own.
bool TransmitBatch::prepare(std::size_t size) {
  Batch& batch = *batch_;
  std::uint8_t* frame = batch.frames[batch.count].data();
  const std::size_t network = wire::network_size_of({frame, size});
  if (network == 0) return false;  // a fault or a model has truncated it
  const std::size_t slot = batch.datagrams;
  msghdr& header = batch.messages[slot].msg_hdr;
  header.msg_name = &batch.addresses[slot];
  header.msg_namelen = to_sockaddr(wire::destination_of({frame, size}), port_, scope_, &batch.addresses[slot]);
  write_controls(frame, header, batch.controls[slot].data());
  batch.ranges[slot] = range_of({frame, size});
  header.msg_iov = &batch.pieces[batch.count];
  header.msg_iovlen = 1;
  batch.pieces[batch.count] = {frame + network, size - network};
  return true;
}

void TransmitBatch::add(bool joins) {
  Batch& batch = *batch_;
  const std::size_t slot = batch.datagrams;
  const std::size_t size = batch.pieces[batch.count].iov_len;
  if (joins) {
    ++batch.messages[slot - 1].msg_hdr.msg_iovlen;
    batch.bytes[slot - 1] += size;
  } else {
    batch.bytes[slot] = size;
    ++batch.datagrams;
  }
  ++batch.count;
}

// All segments have one size; only the last may be shorter.
bool TransmitBatch::joins_last(std::size_t slot) const {
  if (slot == 0 || !joining_) return false;
  const Batch& batch = *batch_;
  if (batch.ranges[slot] != batch.ranges[slot - 1] || batch.ranges[slot] == kAnyRange) return false;
  const msghdr& last = batch.messages[slot - 1].msg_hdr;
  const msghdr& next = batch.messages[slot].msg_hdr;
  const std::size_t segment = last.msg_iov[0].iov_len, size = next.msg_iov[0].iov_len;
  return last.msg_iov[last.msg_iovlen - 1].iov_len == segment && size <= segment && last.msg_iovlen < kMostSegments &&
         batch.bytes[slot - 1] + size <= kMostBytes && last.msg_namelen == next.msg_namelen &&
         std::memcmp(last.msg_name, next.msg_name, last.msg_namelen) == 0 &&
         last.msg_controllen == next.msg_controllen &&
         std::memcmp(last.msg_control, next.msg_control, last.msg_controllen) == 0 && !is_group(batch.addresses[slot]);
}

TransmitBatch::Result TransmitBatch::flush() {
  Batch& batch = *batch_;
  if (batch.datagrams == 0) return {};
  const Uncancelled calls;
  for (std::size_t i = 0; i < batch.datagrams; ++i) {
    msghdr& header = batch.messages[i].msg_hdr;
    if (header.msg_iovlen == 1) continue;
    const auto segment = static_cast<std::uint16_t>(header.msg_iov[0].iov_len);
    add_control(header, SOL_UDP, UDP_SEGMENT, &segment, sizeof segment);
  }
  Result outcome;
  std::size_t done = 0;
  while (done < batch.datagrams) {
    const int sent = sendmmsg(fd_, &batch.messages[done], static_cast<unsigned>(batch.datagrams - done),
                              MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      for (int i = 0; i < sent; ++i) outcome.sent += batch.frames_of(done++);
    } else if (errno == EAGAIN || errno == ENOBUFS) {
      break;  // the kernel's buffer is full: more calls would fail, too
    } else if (errno == EINVAL && drop_flow_label(batch.addresses[done])) {
      continue;
    } else if (!is_stale_report(errno)) {
      send_singly(done++, &outcome);
    }
  }
  for (; done < batch.datagrams; ++done) outcome.dropped += batch.frames_of(done);
  batch.count = batch.datagrams = 0;
  return outcome;
}

// The kernel rejected the datagram. A single frame has no route or is too long and is dropped; several frames are sent
// one by one.
void TransmitBatch::send_singly(std::size_t message, Result* outcome) {
  msghdr header = batch_->messages[message].msg_hdr;
  if (header.msg_iovlen == 1) {
    ++outcome->dropped;
    return;
  }
  header.msg_controllen -= CMSG_SPACE(sizeof(std::uint16_t));  // without the segment size
  const std::size_t count = header.msg_iovlen;
  header.msg_iovlen = 1;
  const bool numbered = numbers_segments(batch_->addresses[message]);
  for (std::size_t i = 0; i < count; ++i, ++header.msg_iov) {
    if (numbered && i > 0) {  // each is the first of its datagram now
      constexpr std::size_t kNetwork = wire::kIpv4Size + wire::kUdpSize;
      const std::span<std::uint8_t> frame(static_cast<std::uint8_t*>(header.msg_iov->iov_base) - kNetwork,
                                          header.msg_iov->iov_len + kNetwork);
      wire::set_identification(frame, 0);
      wire::seal_icrc(frame);
    }
    const bool sent = sendmsg(fd_, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
    ++(sent ? outcome->sent : outcome->dropped);
    if (sent) joining_ = false;
  }
}

}  // namespace verbs::soft::link
