#include "udp_link.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "ip_socket.h"
#include "socket_address.h"

namespace verbs::soft::link {
namespace {

constexpr std::size_t kBatch = 64;

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
  if (error == 0 && bind(fd, reinterpret_cast<sockaddr*>(&storage), length) != 0) error = errno;
  if (error != 0) {
    close(fd);
    return error;
  }
  link->reset(new UdpLink(fd, address, options.port, scope));
  return 0;
}

UdpLink::UdpLink(int fd, const wire::Gid& address, std::uint16_t port, std::uint32_t scope)
    : fd_(fd),
      address_(address),
      port_(port),
      scope_(scope),
      groups_(address, port),
      sending_(std::make_unique<Batch>()),
      receiving_(std::make_unique<Batch>()) {
  for (std::size_t i = 0; i < kBatch; ++i) {
    // Headroom for the headers that the kernel keeps to itself.
    receiving_->pieces[i] = {receiving_->frames[i].data() + wire::kMaxNetworkSize,
                             wire::kMaxFrame - wire::kMaxNetworkSize};
    receiving_->await(i);
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
  const std::size_t network = wire::network_size_of({frame, size});
  if (network == 0) {  // a fault or a model has left nothing that a socket could send
    ++counters_.send_dropped;
    return;
  }
  msghdr& header = batch.messages[slot].msg_hdr;
  header.msg_namelen = to_sockaddr(wire::destination_of({frame, size}), port_, scope_, &batch.addresses[slot]);
  write_controls(frame, header, batch.controls[slot].data());
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
    } else if (errno == EAGAIN || errno == ENOBUFS) {
      counters_.send_dropped += batch.count - done;  // the kernel is full: the rest would fare no better
      break;
    } else if (!is_stale_report(errno)) {
      ++counters_.send_dropped;  // this one has no route, or is too long for it
      ++done;
    }
  }
  batch.count = 0;
}

std::size_t UdpLink::receive(Receiver& receiver, std::size_t budget) {
  std::size_t taken = 0;
  while (taken < budget) {
    const std::size_t room = std::min(budget - taken, kBatch);
    const int got = recvmmsg(fd_, receiving_->messages.data(), static_cast<unsigned>(room), MSG_DONTWAIT, nullptr);
    if (got < 0 && is_stale_report(errno)) continue;
    if (got <= 0) break;
    const auto count = static_cast<std::size_t>(got);
    for (std::size_t slot = 0; slot < count; ++slot) hand_over(slot, receiver);
    taken += count;
    if (count < room) break;
  }
  if (!groups_.empty() && taken < budget) {
    const std::size_t from_groups = groups_.receive(receiver, budget - taken);
    counters_.received += from_groups;
    taken += from_groups;
  }
  return taken;
}

void UdpLink::hand_over(std::size_t slot, Receiver& receiver) {
  Batch& batch = *receiving_;
  msghdr& header = batch.messages[slot].msg_hdr;
  if ((header.msg_flags & MSG_TRUNC) != 0) {
    ++counters_.receive_dropped;
    return batch.await(slot);
  }
  wire::Path path;
  path.sgid = gid_of(batch.addresses[slot]);
  path.dgid = address_;
  path.source_port = port_of(batch.addresses[slot]);
  path.destination_port = wire::kRocePort;
  read_controls(header, &path);
  batch.await(slot);
  const std::size_t size = batch.messages[slot].msg_len;
  std::uint8_t* frame = batch.frames[slot].data() + wire::kMaxNetworkSize - wire::network_size(path);
  const std::size_t network = wire::write_network(frame, path, size);
  ++counters_.received;
  receiver.deliver({frame, network + size});
}

}  // namespace verbs::soft::link
