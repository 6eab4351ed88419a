#include "link/shm/outgoing.h"

#include <unistd.h>

#include <new>
#include <utility>

#include "link/doors/local_socket.h"
#include "link/shm/peer_process.h"
#include "link/shm/peer_socket.h"

namespace verbs::soft::link {

int Outgoing::open(int fd, const wire::Gid& source, const wire::Gid& destination, std::unique_ptr<Outgoing>* outgoing) {
  SharedMemory memory;
  int memory_fd = -1;
  if (const int error = SharedMemory::create(kRingMemory, &memory, &memory_fd)) return error;
  const int error = send_hello(fd, make_hello(source, destination, PeerProcess::own_proof()), memory_fd);
  close(memory_fd);
  if (error != 0) return error;
  outgoing->reset(new Outgoing(-1, std::move(memory)));
  (*outgoing)->fd_ = fd;  // this object's from now on
  return 0;
}

Outgoing::Outgoing(int fd, SharedMemory memory) : fd_(fd), memory_(std::move(memory)), writer_(memory_.data()) {}

Outgoing::~Outgoing() {
  if (fd_ < 0) return;  // a forked child has neither the connection nor the ring
  revoke_references();
  hang_up(fd_);
}

void Outgoing::abandon() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

bool Outgoing::write(std::span<const std::uint8_t> frame, FrameForm form, std::uint32_t epoch) {
  if (writer_.write(frame, form, epoch)) return true;
  if (is_over()) return false;
  flush();  // the peer must see all that is to be read
  writer_.ask_for_room();
  if (!writer_.write(frame, form, epoch)) return false;
  writer_.need_no_room();
  return true;
}

std::size_t Outgoing::send(std::span<const std::uint8_t> frame, FrameForm form, Clock clock) {
  const std::size_t dropped = has_waiting() ? send_waiting(clock()) : 0;
  if (!has_waiting() && write(frame, form, epoch_)) {
    silent_ = false;
    if (writer_.unpublished() >= kPart) flush();
    return dropped;
  }
  if (silent_ || is_over() || waiting_.size() >= kMostWaiting) return dropped + 1;
  if (!has_waiting()) waiting_since_ = clock();
  try {
    waiting_.push_back({form, epoch_, {frame.begin(), frame.end()}});
  } catch (const std::bad_alloc&) {
    return dropped + 1;
  }
  return dropped;
}

std::size_t Outgoing::send_waiting(Nanos now) {
  while (has_waiting()) {
    const Waiting& first = waiting_.front();
    if (!write(first.frame, first.form, first.epoch)) break;
    waiting_.pop_front();
    waiting_since_ = now;
    silent_ = false;
  }
  if (!has_waiting()) {
    flush();
    return 0;
  }
  if (!is_over() && now - waiting_since_ < kPatience) return 0;
  silent_ = true;
  return std::exchange(waiting_, {}).size();
}

void Outgoing::offer(const OfferedMemory& memory) {
  if (offered_ == memory.version()) return;
  offered_ = memory.version();
  writer_.set_offers(memory.list());
  if (writer_.wake()) ring_bell(fd_);  // a peer that sleeps keeps memory that is no longer offered
}

void Outgoing::flush() {
  if (writer_.publish()) ring_bell(fd_);
}

void Outgoing::handle_socket(bool hung_up) {
  if (!take_bells(fd_) || hung_up) hung_up_ = true;
}

}  // namespace verbs::soft::link
