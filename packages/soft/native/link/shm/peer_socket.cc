#include "link/shm/peer_socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "link/doors/closer.h"
#include "link/doors/local_socket.h"
#include "verbs_soft_cancel.h"

namespace verbs::soft::link {
namespace {

// Changes with the layout of the ring and the hello, so that other versions do not find each other.
constexpr std::uint8_t kMagic[8] = {'v', 'e', 'r', 'b', 's', 'h', 'm', '7'};

int send_byte(int fd) {
  const char byte = 0;
  return send(fd, &byte, sizeof byte, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof byte ? 0 : errno;
}

}  // namespace

std::string name_of_peer(const wire::Gid& address) {
  std::string name = "verbs-soft/" + std::string(std::begin(kMagic), std::end(kMagic)) + "/";
  for (const std::uint8_t byte : address.bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    name += digits;
  }
  return name;
}

int connect_to_peer(const wire::Gid& address, int* fd) { return connect_to(name_of_peer(address), fd); }

int send_invitation(int fd) {
  take_descriptors(fd);
  return send_byte(fd);
}

int receive_invitation(int fd) {
  std::uint8_t byte = 0;
  std::size_t size = 0;
  const int error = receive(fd, {&byte, 1}, &size);
  return error == 0 && size == 0 ? EPROTO : error;
}

Hello make_hello(const wire::Gid& source, const wire::Gid& destination, const Proof& proof) {
  Hello hello{};
  hello.proof = proof;
  hello.proof_at = reinterpret_cast<std::uintptr_t>(&proof);
  std::memcpy(hello.magic, kMagic, sizeof kMagic);
  hello.source = source;
  hello.destination = destination;
  return hello;
}

int send_hello(int fd, const Hello& hello, int memory) {
  return send_with_descriptor(fd, {reinterpret_cast<const std::uint8_t*>(&hello), sizeof hello}, memory);
}

int receive_hello(int fd, Hello* hello, int* memory) {
  const int error = receive_with_descriptor(fd, {reinterpret_cast<std::uint8_t*>(hello), sizeof *hello}, memory);
  if (error != 0) return error;
  if (take_no_more_descriptors(fd) && std::memcmp(hello->magic, kMagic, sizeof kMagic) == 0) return 0;
  close_elsewhere(*memory);
  return EPROTO;
}

// A full socket is readable, and a peer that is gone needs no bell.
void ring_bell(int fd) {
  const Uncancelled call;
  (void)send_byte(fd);
}

bool take_bells(int fd) {
  std::uint8_t bells[64];  // others are there at the next look
  std::size_t size = 0;
  const int error = receive(fd, bells, &size);
  return error == EAGAIN || (error == 0 && size != 0);
}

}  // namespace verbs::soft::link
