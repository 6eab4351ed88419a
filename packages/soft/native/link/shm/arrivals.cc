#include "link/shm/arrivals.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "link/doors/closer.h"
#include "link/doors/local_socket.h"
#include "link/shm/ring.h"

namespace verbs::soft::link {
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

Arrivals::Arrivals(const wire::Gid& address) : address_(address), event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_ < 0) return;
  arrived_.reserve(kMostArrived);
  const auto receive = [this] { return std::make_unique<Reception>(*this); };
  if (Door::open(name_of_peer(address), kBudget, receive, &door_) == 0) return;
  close(event_);
  event_ = -1;
}

Arrivals::~Arrivals() {
  door_.reset();
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
  if (door_) door_->abandon();
  for (Arrival& arrival : arrived_) close(std::exchange(arrival.fd, -1));
  if (event_ >= 0) close(event_);
  event_ = -1;
}

}  // namespace verbs::soft::link
