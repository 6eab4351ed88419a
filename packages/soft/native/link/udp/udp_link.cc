#include "link/udp/udp_link.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "link/udp/ip_socket.h"
#include "verbs_soft_cancel.h"

namespace verbs::soft::link {
namespace {

// Datagrams that one call reads; a datagram may hold several frames.
constexpr std::size_t kReads = 32;
constexpr std::size_t kReadBytes = 64 << 10;

// The size of each frame of a received datagram; 0 if the datagram is one frame.
std::size_t segment_size(msghdr& header) {
  for (cmsghdr* message = CMSG_FIRSTHDR(&header); message != nullptr; message = CMSG_NXTHDR(&header, message)) {
    if (message->cmsg_level != SOL_UDP || message->cmsg_type != UDP_GRO) continue;
    int size = 0;
    std::memcpy(&size, CMSG_DATA(message), sizeof size);
    return size > 0 ? static_cast<std::size_t>(size) : 0;
  }
  return 0;
}

}  // namespace

struct UdpLink::Receiving {
  // Room for the headers, which the kernel does not hand over. Only pages that are used become resident.
  static constexpr std::size_t kSlot = wire::kMaxNetworkSize + kReadBytes;
  std::unique_ptr<std::uint8_t[]> bytes{new std::uint8_t[kReads * kSlot]};
  std::array<mmsghdr, kReads> messages = {};
  std::array<iovec, kReads> pieces = {};
  std::array<sockaddr_storage, kReads> addresses = {};
  alignas(cmsghdr) std::array<std::array<char, kControl>, kReads> controls;

  Receiving() {
    for (std::size_t i = 0; i < kReads; ++i) {
      pieces[i] = {payload(i), kReadBytes};
      messages[i].msg_hdr.msg_iov = &pieces[i];
      messages[i].msg_hdr.msg_iovlen = 1;
      messages[i].msg_hdr.msg_name = &addresses[i];
      await(i);
    }
  }

  std::uint8_t* payload(std::size_t slot) { return bytes.get() + slot * kSlot + wire::kMaxNetworkSize; }

  // Readies a slot for the next datagram; the kernel has overwritten the lengths.
  void await(std::size_t slot) {
    msghdr& header = messages[slot].msg_hdr;
    header.msg_namelen = sizeof(sockaddr_storage);
    header.msg_control = controls[slot].data();
    header.msg_controllen = kControl;
  }
};

int UdpLink::open(const wire::Gid& address, const UdpOptions& options, std::unique_ptr<UdpLink>* link) {
  const bool ipv4 = address.is_ipv4();
  const int fd = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  sockaddr_storage storage;
  const std::uint32_t scope = scope_of(address);
  const socklen_t length = to_sockaddr(address, options.port, scope, &storage);
  int error = prepare_socket(fd, ipv4, options.buffer_bytes);
  if (error == 0) error = GroupSockets::prepare_sender(fd, address);
  const int on = 1;  // where the kernel cannot, each datagram is one frame
  if (error == 0) (void)setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof on);
  if (error == 0 && options.shared && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) error = errno;
  if (error == 0 && bind(fd, reinterpret_cast<sockaddr*>(&storage), length) != 0) error = errno;
  if (error != 0) {
    close(fd);
    return error;
  }
  try {
    link->reset(new UdpLink(fd, address, options, scope));
  } catch (...) {  // there is no memory: the address stays free
    close(fd);
    throw;
  }
  return 0;
}

UdpLink::UdpLink(int fd, const wire::Gid& address, const UdpOptions& options, std::uint32_t scope)
    : fd_(fd),
      address_(address),
      port_(options.port),
      filter_(options.port, options.foreign),
      groups_(address, options.port, filter_),
      sending_(fd, options.port, scope),
      receiving_(std::make_unique<Receiving>()) {}

UdpLink::~UdpLink() {
  if (fd_ >= 0) close(fd_);
}

void UdpLink::abandon() {
  groups_.abandon();
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

std::uint8_t* UdpLink::reserve() {
  if (sending_.full()) flush();
  return sending_.reserve();
}

void UdpLink::commit(std::size_t size) {
  if (!sending_.commit(size)) ++counters_.send_dropped;
}

void UdpLink::commit_unsealed(std::span<std::uint8_t> frame) {
  if (!sending_.commit_unsealed(frame.size())) ++counters_.send_dropped;
}

void UdpLink::flush() {
  const TransmitBatch::Result outcome = sending_.flush();
  counters_.sent += outcome.sent;
  counters_.send_dropped += outcome.dropped;
}

std::size_t UdpLink::receive(Receiver& receiver, std::size_t budget) {
  const Uncancelled calls;
  std::size_t taken = 0;
  while (taken < budget) {
    const std::size_t room = std::min(budget - taken, kReads);
    const int got = recvmmsg(fd_, receiving_->messages.data(), static_cast<unsigned>(room), MSG_DONTWAIT, nullptr);
    if (got < 0 && is_stale_report(errno)) continue;
    if (got <= 0) break;
    const auto count = static_cast<std::size_t>(got);
    for (std::size_t slot = 0; slot < count; ++slot) taken += hand_over(slot, receiver);
    if (count < room) break;
  }
  if (!groups_.empty() && taken < budget) {
    const std::size_t from_groups = groups_.receive(receiver, budget - taken);
    counters_.received += from_groups;
    taken += from_groups;
  }
  return taken;
}

// connect() of a datagram socket looks a route up and sends nothing. The socket of the link cannot be asked: connected,
// it would receive from one peer only.
int find_route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu) {
  const Uncancelled calls;
  sockaddr_storage from, to;
  const socklen_t from_size = to_sockaddr(source, 0, scope_of(source), &from);
  const socklen_t to_size = to_sockaddr(destination, wire::kRocePort, scope_of(source), &to);
  const int fd = socket(from.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  bool refused = false;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&from), from_size) == 0) {
    if (connect(fd, reinterpret_cast<const sockaddr*>(&to), to_size) != 0) {
      // From a loopback address to a host it is EINVAL.
      refused = errno == ENETUNREACH || errno == EHOSTUNREACH || errno == EINVAL;
    } else {
      // That of the interface, or what ICMP has told of the way.
      const bool ipv4 = from.ss_family == AF_INET;
      int known = 0;
      socklen_t size = sizeof known;
      const int asked = getsockopt(fd, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_MTU : IPV6_MTU, &known, &size);
      if (asked == 0 && known > 0) *mtu = static_cast<std::uint32_t>(known);
    }
  }
  close(fd);
  return refused ? ENETUNREACH : 0;
}

std::size_t UdpLink::hand_over(std::size_t slot, Receiver& receiver) {
  Receiving& batch = *receiving_;
  msghdr& header = batch.messages[slot].msg_hdr;
  if ((header.msg_flags & MSG_TRUNC) != 0) {
    ++counters_.receive_dropped;
    batch.await(slot);
    return 1;
  }
  wire::Path path;
  path.sgid = gid_of(batch.addresses[slot]);
  path.dgid = address_;
  path.source_port = port_of(batch.addresses[slot]);
  path.destination_port = wire::kRocePort;
  read_controls(header, &path);
  const std::size_t segment = segment_size(header);
  batch.await(slot);
  if (!filter_.admits(path)) {
    receiver.refuse(path);
    return 1;
  }
  const std::size_t whole = batch.messages[slot].msg_len;
  std::size_t count = 0, done = 0;
  do {
    const std::size_t size = segment == 0 ? whole : std::min(segment, whole - done);
    if (size > wire::kMaxFrame - wire::kMaxNetworkSize) {
      ++counters_.receive_dropped;
    } else {
      // The headers of each frame but the first overwrite the end of the frame before, which was delivered.
      std::uint8_t* frame = batch.payload(slot) + done - wire::network_size(path);
      const std::size_t network = wire::write_network(frame, path, size);
      const std::span<std::uint8_t> whole_frame(frame, network + size);
      ++counters_.received;
      receiver.deliver_as(filter_.complete(whole_frame, path), whole_frame);
    }
    done += size;
    ++count;
  } while (done < whole);
  return count;
}

}  // namespace verbs::soft::link
