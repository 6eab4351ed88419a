#include "udp_link.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#ifndef UDP_NO_CHECK6_RX
#define UDP_NO_CHECK6_RX 102
#endif

namespace verbs::soft::link {
namespace {

constexpr std::size_t kBatch = 64;
constexpr std::size_t kControl = 64;  // room for two int ancillary messages
constexpr std::uint8_t kDefaultHopLimit = 64;

// Port in network byte order and address of a GID, as a socket address.
socklen_t to_sockaddr(const wire::Gid& gid, std::uint16_t port, sockaddr_storage* storage) {
  if (gid.is_ipv4()) {
    auto* address = reinterpret_cast<sockaddr_in*>(storage);
    *address = {};
    address->sin_family = AF_INET;
    address->sin_port = htons(port);
    std::memcpy(&address->sin_addr, gid.ipv4(), 4);
    return sizeof *address;
  }
  auto* address = reinterpret_cast<sockaddr_in6*>(storage);
  *address = {};
  address->sin6_family = AF_INET6;
  address->sin6_port = htons(port);
  std::memcpy(&address->sin6_addr, gid.bytes.data(), 16);
  return sizeof *address;
}

wire::Gid gid_of(const sockaddr_storage& storage) {
  if (storage.ss_family == AF_INET) {
    return wire::Gid::from_ipv4(
        reinterpret_cast<const std::uint8_t*>(&reinterpret_cast<const sockaddr_in&>(storage).sin_addr));
  }
  return wire::Gid::from_bytes(&reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr);
}

std::uint16_t port_of(const sockaddr_storage& storage) {
  return ntohs(storage.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(storage).sin_port
                                            : reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
}

int set(int fd, int level, int name, int value) { return setsockopt(fd, level, name, &value, sizeof value); }

void grow_buffer(int fd, int forced, int ordinary, int bytes) {
  if (set(fd, SOL_SOCKET, forced, bytes) != 0) set(fd, SOL_SOCKET, ordinary, bytes);
}

// An unconnected socket that never fragments sends IPv4 with DF and identification 0: the only form whose ICRC can be
// computed before the kernel has seen the packet.
int prepare(int fd, bool ipv4, int buffer_bytes) {
  const int failed =
      ipv4
          ? set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) | set(fd, IPPROTO_IP, IP_TTL, kDefaultHopLimit) |
                set(fd, IPPROTO_IP, IP_RECVTOS, 1) | set(fd, IPPROTO_IP, IP_RECVTTL, 1)
          : set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) | set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IP_PMTUDISC_DO) |
                set(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, kDefaultHopLimit) | set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1) |
                set(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1) | set(fd, SOL_UDP, UDP_NO_CHECK6_RX, 1);
  if (failed != 0) return errno;
  grow_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, buffer_bytes);
  grow_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, buffer_bytes);
  return 0;
}

// The kernel reports what an earlier datagram met (nobody listens, no route) on the next call: not this one's business.
bool is_stale_report(int error) {
  return error == EINTR || error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH || error == EPERM;
}

}  // namespace

struct UdpLink::Batch {
  alignas(64) std::array<std::array<std::uint8_t, wire::kMaxFrame>, kBatch> frames;
  std::array<mmsghdr, kBatch> messages = {};
  std::array<iovec, kBatch> pieces = {};
  std::array<sockaddr_storage, kBatch> addresses = {};
  alignas(cmsghdr) std::array<std::array<char, kControl>, kBatch> controls;
  std::size_t count = 0;

  Batch() {
    for (std::size_t i = 0; i < kBatch; ++i) {
      messages[i].msg_hdr.msg_iov = &pieces[i];
      messages[i].msg_hdr.msg_iovlen = 1;
      messages[i].msg_hdr.msg_name = &addresses[i];
    }
  }

  void add_control(msghdr& header, std::size_t slot, int level, int type, int value) {
    header.msg_control = controls[slot].data();
    auto* message = reinterpret_cast<cmsghdr*>(controls[slot].data() + header.msg_controllen);
    message->cmsg_level = level;
    message->cmsg_type = type;
    message->cmsg_len = CMSG_LEN(sizeof value);
    std::memcpy(CMSG_DATA(message), &value, sizeof value);
    header.msg_controllen += CMSG_SPACE(sizeof value);
  }
};

int UdpLink::open(const wire::Gid& address, const UdpOptions& options, std::unique_ptr<UdpLink>* link) {
  const bool ipv4 = address.is_ipv4();
  const int fd = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  sockaddr_storage storage;
  const socklen_t length = to_sockaddr(address, options.port, &storage);
  int error = prepare(fd, ipv4, options.buffer_bytes);
  if (error == 0 && bind(fd, reinterpret_cast<sockaddr*>(&storage), length) != 0) error = errno;
  if (error != 0) {
    close(fd);
    return error;
  }
  link->reset(new UdpLink(fd, address, options.port));
  return 0;
}

UdpLink::UdpLink(int fd, const wire::Gid& address, std::uint16_t port)
    : fd_(fd),
      address_(address),
      port_(port),
      sending_(std::make_unique<Batch>()),
      receiving_(std::make_unique<Batch>()) {
  for (std::size_t i = 0; i < kBatch; ++i) {
    // Headroom for the headers that the kernel keeps to itself.
    receiving_->pieces[i] = {receiving_->frames[i].data() + wire::kMaxNetworkSize,
                             wire::kMaxFrame - wire::kMaxNetworkSize};
  }
}

UdpLink::~UdpLink() { close(fd_); }

std::uint8_t* UdpLink::reserve() {
  if (sending_->count == kBatch) flush();
  return sending_->frames[sending_->count].data();
}

void UdpLink::commit(std::size_t size) {
  Batch& batch = *sending_;
  const std::size_t slot = batch.count;
  std::uint8_t* frame = batch.frames[slot].data();
  const bool ipv4 = frame[0] >> 4 == 4;
  const std::size_t network = (ipv4 ? wire::kIpv4Size : wire::kIpv6Size) + wire::kUdpSize;
  const wire::Gid to = ipv4 ? wire::Gid::from_ipv4(frame + 16) : wire::Gid::from_bytes(frame + 24);
  const int traffic_class = ipv4 ? frame[1] : (frame[0] & 0x0f) << 4 | frame[1] >> 4;
  const int hop_limit = ipv4 ? frame[8] : frame[7];

  msghdr& header = batch.messages[slot].msg_hdr;
  header.msg_namelen = to_sockaddr(to, port_, &batch.addresses[slot]);
  header.msg_control = nullptr;
  header.msg_controllen = 0;
  if (traffic_class != 0) {
    batch.add_control(header, slot, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_TOS : IPV6_TCLASS, traffic_class);
  }
  if (hop_limit != kDefaultHopLimit) {
    batch.add_control(header, slot, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_TTL : IPV6_HOPLIMIT, hop_limit);
  }
  batch.pieces[slot] = {frame + network, size - network};
  ++batch.count;
}

void UdpLink::flush() {
  Batch& batch = *sending_;
  std::size_t done = 0;
  while (done < batch.count) {
    const int sent =
        sendmmsg(fd_, &batch.messages[done], static_cast<unsigned>(batch.count - done), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      done += static_cast<std::size_t>(sent);
      counters_.sent += static_cast<std::uint64_t>(sent);
    } else if (errno == ECONNREFUSED || errno == EINTR) {
      continue;  // reading the report has cleared it
    } else {
      ++counters_.send_dropped;
      ++done;
    }
  }
  batch.count = 0;
}

std::size_t UdpLink::receive(Receiver& receiver, std::size_t budget) {
  Batch& batch = *receiving_;
  const std::size_t room = std::min(budget, kBatch);
  for (std::size_t i = 0; i < room; ++i) {
    msghdr& header = batch.messages[i].msg_hdr;
    header.msg_namelen = sizeof(sockaddr_storage);
    header.msg_control = batch.controls[i].data();
    header.msg_controllen = kControl;
  }
  int got = recvmmsg(fd_, batch.messages.data(), static_cast<unsigned>(room), MSG_DONTWAIT, nullptr);
  if (got < 0 && is_stale_report(errno)) {
    got = recvmmsg(fd_, batch.messages.data(), static_cast<unsigned>(room), MSG_DONTWAIT, nullptr);
  }
  if (got <= 0) return 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
    msghdr& header = batch.messages[i].msg_hdr;
    if ((header.msg_flags & MSG_TRUNC) != 0) {
      ++counters_.receive_dropped;
      continue;
    }
    wire::Path path;
    path.sgid = gid_of(batch.addresses[i]);
    path.dgid = address_;
    path.source_port = port_of(batch.addresses[i]);
    path.destination_port = wire::kRocePort;
    for (cmsghdr* message = CMSG_FIRSTHDR(&header); message != nullptr; message = CMSG_NXTHDR(&header, message)) {
      const int type = message->cmsg_type;
      const bool v4 = message->cmsg_level == IPPROTO_IP;
      if (v4 && type == IP_TOS) path.traffic_class = *CMSG_DATA(message);
      int value = 0;
      if (message->cmsg_len < CMSG_LEN(sizeof value)) continue;
      std::memcpy(&value, CMSG_DATA(message), sizeof value);
      if (!v4 && type == IPV6_TCLASS) path.traffic_class = static_cast<std::uint8_t>(value);
      if (v4 ? type == IP_TTL : type == IPV6_HOPLIMIT) path.hop_limit = static_cast<std::uint8_t>(value);
    }
    const std::size_t size = batch.messages[i].msg_len;
    std::uint8_t* frame = batch.frames[i].data() + wire::kMaxNetworkSize - wire::network_size(path);
    const std::size_t network = wire::write_network(frame, path, size);
    ++counters_.received;
    receiver.deliver({frame, network + size});
  }
  return static_cast<std::size_t>(got);
}

}  // namespace verbs::soft::link
