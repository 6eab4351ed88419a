#include "link/shm/incoming.h"

#include <unistd.h>

#include <utility>

#include "link/doors/local_socket.h"

namespace verbs::soft::link {

Incoming::Incoming(Arrival arrival, const wire::Gid& own, std::uint32_t bell)
    : fd_(arrival.fd),
      own_(own),
      peer_(arrival.source),
      memory_(std::move(arrival.memory)),
      reader_(memory_.data()),
      process_(std::move(arrival.process)) {
  if (process_) reader_.pull();
  reader_.want(bell);
}

Incoming::~Incoming() {
  if (fd_ < 0) {  // a forked child does not have the ring
    mappings_.forget();
    return;
  }
  reader_.release();
  reader_.close();
  process_.reset();
  hang_up(fd_);
}

void Incoming::abandon() {
  process_.reset();
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void Incoming::handle_socket(std::uint32_t bell, bool hung_up) {
  if (!take_bells(fd_) || hung_up) hung_up_ = true;  // frames may wait in the ring
  reader_.want(bell);
}

bool Incoming::is_from_peer(std::span<const std::uint8_t> frame) const {
  return wire::network_size_of(frame) != 0 && wire::source_of(frame) == peer_ && wire::destination_of(frame) == own_;
}

bool Incoming::read(std::span<const iovec> to, std::span<const Reference> from) {
  const bool done = process_ && process_->read(to, from) && reader_.epoch() == epoch_;
  ++(done ? pulled_ : unpulled_);
  return done;
}

const std::uint8_t* Incoming::find_mapped(const Reference& reference) {
  return process_ ? mappings_.find(reader_, *process_, reference) : nullptr;
}

bool Incoming::confirm_mapped(bool copied) {
  const bool done = copied && reader_.epoch() == epoch_;
  mapped_ += done;
  ++(done ? pulled_ : unpulled_);
  return done;
}

std::size_t Incoming::receive(Receiver& receiver, std::size_t budget, std::uint8_t* room) {
  mappings_.look(reader_);
  std::size_t taken = 0;
  RingReader::Next next = RingReader::Next::kFrame;
  // All frames that are visible, or as many as the budget allows: the caller may sleep after fewer.
  for (; taken < budget && (taken == 0 || reader_.has_frame()); ++taken) {
    RingRecord record;
    next = reader_.read(room, &record);
    if (next != RingReader::Next::kFrame) break;
    const std::span<const std::uint8_t> frame{room, record.size};
    if (!is_from_peer(frame)) {
      ++rejected_;
    } else if (record.form == FrameForm::kReferring) {
      epoch_ = record.epoch;
      mappings_.look(reader_);  // once for the frame: what one piece finds stays mapped while the others are found
      receiver.deliver_referring(frame, *this);
    } else {
      receiver.deliver_as(record.form, frame);
    }
  }
  if (next == RingReader::Next::kBroken) {
    broken_ = over_ = true;
    return taken;
  }
  // Not behind each frame, for which the program waits. A writer that waits for room has filled the ring, so that
  // enough is left to read for a release that rings.
  if ((taken == 0 || reader_.has_much_to_release()) && reader_.release()) ring_bell(fd_);
  if (hung_up_ && next == RingReader::Next::kNone) over_ = true;
  return taken;
}

}  // namespace verbs::soft::link
