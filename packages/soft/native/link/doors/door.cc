#include "link/doors/door.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "include/verbs_soft_worker.h"
#include "link/doors/local_socket.h"
#include "link/process_instance.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::link {
namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

constexpr std::size_t kMostVisits = 64;
// Visitors that are let in, or turned away, in a row.
constexpr int kMostAccepted = 1024;
// … after which no one is, if another user was among them, or if this process has no descriptor for one.
constexpr auto kPause = std::chrono::milliseconds(5);
// Connections of other users with descriptors, which older kernels let in, that are being closed.
constexpr std::size_t kMostClosing = 64;

}  // namespace

class Doorkeeper;

// Under `mutex`, but for the descriptors, which a forked child closes.
struct Door::State {
  struct Place {
    std::atomic<int> fd{-1};
    std::unique_ptr<Visit> visit;
    Time until;
  };

  std::chrono::milliseconds budget{};
  Receive receive;
  Doorkeeper* keeper = nullptr;
  std::uint32_t id = 0;
  std::mutex mutex;  // held during each step of a visit
  std::atomic<int> listener{-1};
  Time paused_until = Time::min();  // min(): it is not
  std::array<Place, kMostVisits> places;

  void serve(int fd);
  void let_in();
  void seat(int fd);
  void proceed(Place& place);
  void leave(Place& place);
  void set_pause(bool paused, Time now);
  void shut();
  // Ends what is overdue. When to look again.
  Time advance(Time now);
};

// The thread, and the set of descriptors for which it sleeps.
class Doorkeeper {
 public:
  int add(const std::shared_ptr<Door::State>& door, int listener);
  void remove(Door::State& door);
  void abandon();

  int watch(int fd, std::uint32_t door, std::uint32_t events) const { return control(EPOLL_CTL_ADD, fd, door, events); }
  void change(int fd, std::uint32_t door, std::uint32_t events) const { control(EPOLL_CTL_MOD, fd, door, events); }
  void forget(int fd) const { epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr); }

 private:
  int start();
  void stop();
  void run();
  std::shared_ptr<Door::State> find(std::uint32_t id);
  Time advance();
  int control(int operation, int fd, std::uint32_t door, std::uint32_t events) const {
    epoll_event event{.events = events, .data = {.u64 = std::uint64_t{door} << 32 | static_cast<std::uint32_t>(fd)}};
    return epoll_ctl(epoll_, operation, fd, &event) == 0 ? 0 : errno;
  }

  std::mutex life_;   // of the thread: held to start and to stop it
  std::mutex mutex_;  // of the list, which the thread reads
  std::vector<std::shared_ptr<Door::State>> doors_;
  std::uint32_t last_id_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> epoll_{-1};
  std::atomic<int> wake_{-1};
  std::thread thread_;
};

int Doorkeeper::start() {
  if (thread_.joinable()) return 0;
  stopping_ = false;
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int error = epoll_ < 0 || wake_ < 0 ? errno : watch(wake_, 0, EPOLLIN);
  if (error == 0) {
    try {
      const model::WorkerSignals signals;
      thread_ = std::thread([this] { run(); });
      pthread_setname_np(thread_.native_handle(), "verbs-doors");
    } catch (const std::system_error&) {
      error = EAGAIN;
    } catch (const std::bad_alloc&) {
      error = ENOMEM;
    }
  }
  if (error != 0) abandon();
  return error;
}

void Doorkeeper::stop() {
  stopping_ = true;
  const std::uint64_t one = 1;
  (void)!write(wake_, &one, sizeof one);
  thread_.join();
  abandon();
}

void Doorkeeper::abandon() {
  for (std::atomic<int>* fd : {&epoll_, &wake_}) {
    if (const int own = fd->exchange(-1); own >= 0) close(own);
  }
}

int Doorkeeper::add(const std::shared_ptr<Door::State>& door, int listener) {
  const std::lock_guard life(life_);
  {
    const std::lock_guard lock(mutex_);
    doors_.reserve(doors_.size() + 1);  // so that no thread stays without a door when there is no memory
  }
  if (const int error = start()) return error;
  int error = 0;
  {
    const std::lock_guard lock(mutex_);
    doors_.push_back(door);
    const std::lock_guard step(door->mutex);  // which the thread may begin at once
    door->id = ++last_id_;
    error = watch(listener, door->id, EPOLLIN);
    if (error == 0) {
      door->keeper = this;
      door->listener = listener;
    } else {
      doors_.pop_back();
    }
  }
  if (error != 0 && doors_.empty()) stop();
  return error;
}

// Without doors no visit is in progress, so that the thread ends at once.
void Doorkeeper::remove(Door::State& door) {
  const std::lock_guard life(life_);
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(doors_, [&](const auto& each) { return each.get() == &door; });
  }
  if (doors_.empty()) stop();
}

std::shared_ptr<Door::State> Doorkeeper::find(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(doors_.begin(), doors_.end(), [id](const auto& door) { return door->id == id; });
  return found != doors_.end() ? *found : nullptr;
}

Time Doorkeeper::advance() {
  const std::lock_guard lock(mutex_);
  Time next = Time::max();
  for (const auto& door : doors_) {
    const std::lock_guard step(door->mutex);
    next = std::min(next, door->advance(Clock::now()));
  }
  return next;
}

void Doorkeeper::run() {
  constexpr int kMost = 32;
  epoll_event events[kMost];
  while (!stopping_) {
    const Time next = advance();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    const int timeout = next == Time::max() ? -1 : static_cast<int>(std::max<std::int64_t>(left, 0));
    const int count = epoll_wait(epoll_, events, kMost, timeout);
    for (int i = 0; i < count && !stopping_; ++i) {
      const auto door = find(static_cast<std::uint32_t>(events[i].data.u64 >> 32));
      if (!door) continue;
      const std::lock_guard lock(door->mutex);
      door->serve(static_cast<int>(static_cast<std::uint32_t>(events[i].data.u64)));
    }
  }
}

// A descriptor that is no longer of this door was ended by an event before.
void Door::State::serve(int fd) {
  if (fd == listener) {
    let_in();
    return;
  }
  const auto place = std::find_if(places.begin(), places.end(), [fd](const Place& each) { return each.fd == fd; });
  if (place != places.end()) proceed(*place);
}

void Door::State::let_in() {
  bool pause = closing_elsewhere() >= kMostClosing;
  for (int i = 0; i < kMostAccepted && closing_elsewhere() < kMostClosing; ++i) {
    int fd = -1;
    const int error = accept_own_user(listener, &fd);
    if (error == EAGAIN) break;
    if (error != 0 && error != EMFILE && error != ENFILE && error != ENOMEM && error != ENOBUFS) {
      shut();  // this process may not accept: visitors see that nobody listens
      return;
    }
    pause |= fd < 0;
    if (error != 0) break;
    if (fd >= 0) seat(fd);
  }
  if (pause) set_pause(true, Clock::now());
}

// All places taken: the oldest visitor has had the most time.
void Door::State::seat(int fd) {
  const auto place = std::min_element(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.fd >= 0, a.until) < std::pair(b.fd >= 0, b.until);
  });
  leave(*place);
  place->visit = contain(receive, [](int) { return std::unique_ptr<Visit>(); });
  place->until = Clock::now() + budget;
  place->fd = fd;
  if (place->visit && keeper->watch(fd, id, 0) == 0) {
    proceed(*place);
  } else {
    leave(*place);
  }
}

void Door::State::proceed(Place& place) {
  const int fd = place.fd;
  const Visit::Next next = contain([&] { return place.visit->proceed(fd); }, [](int) { return Visit::Next::kOver; });
  if (next == Visit::Next::kRead || next == Visit::Next::kWrite) {
    keeper->change(fd, id, next == Visit::Next::kRead ? EPOLLIN : EPOLLOUT);
  } else if (next == Visit::Next::kTaken) {
    keeper->forget(fd);
    place.fd = -1;
    place.visit->take(fd);
    place.visit.reset();
  } else {
    leave(place);
  }
}

void Door::State::leave(Place& place) {
  place.visit.reset();
  const int fd = place.fd.exchange(-1);
  if (fd < 0) return;
  keeper->forget(fd);  // a forked child may have a copy of the descriptor
  hang_up(fd);
}

void Door::State::set_pause(bool paused, Time now) {
  paused_until = paused ? now + kPause : Time::min();
  keeper->change(listener, id, paused ? 0u : EPOLLIN);
}

Time Door::State::advance(Time now) {
  if (listener < 0) return Time::max();
  if (paused_until != Time::min() && paused_until <= now) set_pause(false, now);
  Time next = paused_until != Time::min() ? paused_until : Time::max();
  for (Place& place : places) {
    if (place.fd >= 0 && place.until <= now) leave(place);
    if (place.fd >= 0) next = std::min(next, place.until);
  }
  return next;
}

void Door::State::shut() {
  const int fd = listener.exchange(-1);
  if (fd < 0) return;
  keeper->forget(fd);
  close_listener(fd);
}

int Door::open(std::string_view name, std::chrono::milliseconds budget, Receive receive, std::unique_ptr<Door>* door) {
  auto state = std::make_shared<State>();
  state->budget = budget;
  state->receive = std::move(receive);
  std::unique_ptr<Door> made(new Door(state));
  int fd = -1;
  if (const int error = listen_at(name, &fd)) return error;
  const int error = contain([&] { return process_instance<Doorkeeper>().add(state, fd); }, [](int e) { return e; });
  if (error == 0) {
    *door = std::move(made);
  } else {
    close_listener(fd);
  }
  return error;
}

Door::~Door() {
  if (state_->keeper == nullptr) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->shut();
    for (State::Place& place : state_->places) state_->leave(place);
  }
  state_->keeper->remove(*state_);
}

// No lock is taken, which a thread of the parent may have held. The objects of visits stay.
void Door::abandon() {
  if (state_->keeper == nullptr) return;
  if (const int fd = state_->listener.exchange(-1); fd >= 0) close(fd);
  for (State::Place& place : state_->places) {
    if (const int fd = place.fd.exchange(-1); fd >= 0) close(fd);
    (void)place.visit.release();
  }
  state_->keeper->abandon();
  state_->keeper = nullptr;
}

namespace {

// Each of them sleeps with one descriptor at a time.
constexpr int kMostThreads = 8;

struct Closer {
  std::mutex mutex;
  std::vector<int> waiting;
  int threads = 0;
  int idle = 0;  // threads that are about to take the next one
  std::size_t closing = 0;

  void close_later(int fd);
  void run();
};

void Closer::close_later(int fd) {
  const std::lock_guard lock(mutex);
  waiting.push_back(fd);
  if (threads >= kMostThreads || waiting.size() <= static_cast<std::size_t>(idle)) return;
  try {
    const model::WorkerSignals signals;
    std::thread thread([this] { run(); });
    pthread_setname_np(thread.native_handle(), "verbs-close");
    thread.detach();
    ++threads;
    ++idle;
  } catch (const std::exception&) {
    // No thread can be had, or no memory for one: the next descriptor's, or one that runs, closes it.
  }
}

void Closer::run() {
  std::unique_lock lock(mutex);
  while (!waiting.empty()) {
    const int fd = waiting.back();
    waiting.pop_back();
    ++closing;
    --idle;
    lock.unlock();
    close(fd);
    lock.lock();
    ++idle;
    --closing;
  }
  --idle;
  --threads;
}

}  // namespace

void close_elsewhere(int fd) {
  try {
    process_instance<Closer>().close_later(fd);
  } catch (const std::bad_alloc&) {
    close(fd);
  }
}

std::size_t closing_elsewhere() {
  try {
    Closer& closer = process_instance<Closer>();
    const std::lock_guard lock(closer.mutex);
    return closer.waiting.size() + closer.closing;
  } catch (const std::bad_alloc&) {
    return 0;  // it has not been made yet
  }
}

}  // namespace verbs::soft::link
