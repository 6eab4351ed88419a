#include "link/shm/incoming.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

#include "link/doors/door.h"
#include "link/doors/local_socket.h"
#include "link/shm/ring.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::link {

Incoming::Incoming(Arrival arrival, const wire::Gid& own, std::uint32_t bell)
    : fd_(arrival.fd),
      ends_{arrival.source, own},
      memory_(std::move(arrival.memory)),
      reader_(memory_.data()),
      process_(std::move(arrival.process)) {
  if (process_) reader_.pull();
  if (!forwards()) reader_.take_messages();
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
  return wire::network_size_of(frame) != 0 && (forwards() || wire::source_of(frame) == ends_.source) &&
         wire::destination_of(frame) == ends_.destination;
}

bool Incoming::read(std::span<const iovec> to, std::span<const Reference> from) {
  return process_ && process_->read(to, from);
}

const std::uint8_t* Incoming::find_mapped(const Reference& reference) {
  const std::uint8_t* at = process_ ? mappings_.find(reader_, *process_, reference) : nullptr;
  found_mapped_ |= at != nullptr;
  return at;
}

bool Incoming::confirm(bool copied) {
  const bool done = copied && reader_.epoch() == epoch_;
  mapped_ += done && found_mapped_;
  ++(done ? pulled_ : unpulled_);
  return done;
}

// In the ring, where the peer may change it: the message is copied, and nothing but the copy is looked at.
[[gnu::always_inline]] inline bool Incoming::hand_over_message(Receiver& receiver,
                                                               std::span<const std::uint8_t> record) const {
  Message message;
  if (record.size() < sizeof message || forwards()) return false;
  std::memcpy(&message, record.data(), sizeof message);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return receiver.deliver_message(message, record.subspan(sizeof message), ends_);
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
    const std::span<const std::uint8_t> frame{record.bytes, record.size};
    if (record.form == FrameForm::kMessage) {
      rejected_ += !hand_over_message(receiver, frame);
    } else if (!is_from_peer(frame)) {
      ++rejected_;
    } else if (record.form == FrameForm::kReferring) {
      if (forwards()) continue;  // the network has no such frames
      epoch_ = record.epoch;
      found_mapped_ = false;
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

namespace {

constexpr auto kBudget = std::chrono::seconds(1);
// So many wait for a link that does not look. A fork may come between: the list has its memory from the beginning.
constexpr std::size_t kMostArrived = 64;

}  // namespace

class Arrivals::Reception final : public Visit {
 public:
  explicit Reception(Arrivals& arrivals) : arrivals_(arrivals) {}

  Next proceed(int fd) override {
    if (!std::exchange(invited_, true)) return send_invitation(fd) == 0 ? Next::kRead : Next::kOver;
    Hello hello;
    int memory = -1;
    if (const int error = receive_hello(fd, &hello, &memory)) return error == EAGAIN ? Next::kRead : Next::kOver;
    const bool mapped =
        hello.destination == arrivals_.address_ && SharedMemory::map(memory, kRingMemory, &arrival_.memory) == 0;
    if (!mapped) {
      close_elsewhere(memory);
      return Next::kOver;
    }
    close(memory);
    arrival_.source = hello.source;
    arrival_.process = PeerProcess::find(fd, hello);
    return Next::kTaken;
  }

  void take(int fd) override {
    arrival_.fd = fd;
    const std::lock_guard lock(arrivals_.mutex_);
    if (arrivals_.arrived_.size() == arrivals_.arrived_.capacity()) {
      hang_up(fd);
      return;
    }
    arrivals_.arrived_.push_back(std::move(arrival_));
    const std::uint64_t one = 1;
    (void)!write(arrivals_.event_, &one, sizeof one);
  }

 private:
  Arrivals& arrivals_;
  bool invited_ = false;
  Arrival arrival_;
};

Arrivals::Arrivals(const wire::Gid& address) : address_(address) {
  arrived_.reserve(kMostArrived);
  event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int Arrivals::open_door(Range range) {
  if (event_ < 0) return EMFILE;
  if (doors_.contains(range)) return 0;
  const auto place = doors_.try_emplace(range).first;
  const auto receive = [this] { return std::make_unique<Reception>(*this); };
  const int error = contain([&] { return Door::open(name_of_peer(address_, range), kBudget, receive, &place->second); },
                            [](int failed) { return failed; });
  if (error != 0) doors_.erase(place);
  return error;
}

Arrivals::~Arrivals() {
  doors_.clear();
  for (const Arrival& arrival : arrived_) {
    if (arrival.fd >= 0) hang_up(arrival.fd);
  }
  if (event_ >= 0) close(event_);
}

std::vector<Arrival> Arrivals::take() {
  const std::lock_guard lock(mutex_);
  std::vector<Arrival> taken;
  taken.reserve(arrived_.size());
  std::uint64_t count = 0;
  (void)!read(event_, &count, sizeof count);
  std::move(arrived_.begin(), arrived_.end(), std::back_inserter(taken));
  arrived_.clear();
  return taken;
}

void Arrivals::abandon() {
  for (const auto& [range, door] : doors_) door->abandon();
  for (Arrival& arrival : arrived_) close(std::exchange(arrival.fd, -1));
  if (event_ >= 0) close(event_);
  event_ = -1;
}

}  // namespace verbs::soft::link
