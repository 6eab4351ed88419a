#include "host/progress/progress.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace verbs::soft::host {

namespace {

constexpr Nanos kTick = kMillisecond;
// How long a packet is left to those who wait on attached channels.
constexpr Nanos kGrace = kMillisecond;
constexpr std::size_t kMostAttached = 4;
// One who has not looked for so long makes room for another.
constexpr Nanos kForgottenAfter = 100 * kMillisecond;
// How long after arming a completion queue its owner is taken to sleep on the channel's descriptor.
constexpr Nanos kArmedFor = 20 * kMillisecond;

bool is_fault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP ||
         signal == SIGABRT;
}

// A read() of a real channel is restarted after a handler with SA_RESTART, ppoll() never is. The kernel does not tell
// whose handler ran, so the call is restarted if every installed handler wants that. Handlers of faults (a sanitizer's,
// a runtime's) do not count: no fault happens in a sleeping call.
bool handlers_restart() {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (is_fault(signal)) continue;
    struct sigaction action{};
    if (sigaction(signal, nullptr, &action) != 0) continue;
    const bool handled = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    if (handled && (action.sa_flags & SA_RESTART) == 0) return false;
  }
  return true;
}

pollfd readable(int fd) { return {fd, POLLIN, 0}; }

// Between two rounds of work, whoever waits for the lock comes first.
void give_way(std::unique_lock<DeviceLock>& lock) {
  DeviceLock* device = lock.release();
  device->unlock();
  device->lock_after_others();
  lock = std::unique_lock(*device, std::adopt_lock);
}

int wait_for(int fd) {
  pollfd entry = readable(fd);
  return ppoll(&entry, 1, nullptr, nullptr) < 0 ? errno : 0;
}

}  // namespace

int Progress::start(std::vector<int> sockets) {
  if (const int error = helper_.open()) return error;
  if (const int error = driver_.open()) return error;
  if (const int error = bell_.open()) return error;
  helper_fds_ = {readable(helper_.fd()), readable(bell_.fd())};
  driver_fds_ = {readable(driver_.fd()), readable(-1)};
  sockets_ = std::move(sockets);
  // The program's signals are for the program's threads. Not so faults: the copy from or to memory that was unmapped
  // recovers in their handler, and a fault whose signal is blocked kills the process.
  sigset_t all, old;
  sigfillset(&all);
  for (int signal = 1; signal < NSIG; ++signal) {
    if (is_fault(signal)) sigdelset(&all, signal);
  }
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int error = 0;
  try {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "verbs-soft");
  } catch (const std::system_error& failure) {
    error = failure.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return error;
}

void Progress::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(lock_);
    stopping_ = true;
    helper_.kick();
  }
  thread_.join();
}

void Progress::watch(std::vector<int> sockets) {
  sockets_ = std::move(sockets);
  ++sockets_version_;
  helper_.kick();
  driver_.kick();
}

// The first `fixed` entries stay.
void Progress::refresh(std::vector<pollfd>* fds, std::size_t fixed, std::uint64_t* seen) const {
  if (*seen == sockets_version_) return;
  *seen = sockets_version_;
  fds->resize(fixed);
  for (const int socket : sockets_) fds->push_back(readable(socket));
}

void Progress::attach(WaitSet& set) {
  if (attached_.size() >= kMostAttached) {
    if (now() - attached_.front()->looked_at < kForgottenAfter) return;
    detach(*attached_.front());
  }
  std::vector<int> fds = sockets_;
  fds.push_back(bell_.fd());
  if (set.attach(fds)) attached_.push_back(&set);
  has_attached_ = !attached_.empty();
}

void Progress::detach(WaitSet& set) {
  if (std::erase(attached_, &set) == 0) return;
  set.detach();
  has_attached_ = !attached_.empty();
}

void Progress::look(WaitSet& set, Nanos time) {
  ++activity_;
  bell_.hush();
  set.looked_at = time;
  const auto found = std::find(attached_.begin(), attached_.end(), &set);
  if (found == attached_.end()) return;
  std::rotate(found, found + 1, attached_.end());
  attended_ = true;
}

void Progress::release_sockets() {
  detach_all();
  helper_.let_go();
  driver_.let_go();
}

void Progress::detach_all() {
  while (!attached_.empty()) detach(*attached_.back());
}

void Progress::ring() {
  if (has_attached_ && !driver_active_) {
    bell_.ring();
  } else {
    expect(0);
  }
}

void Progress::note_armed() {
  armed_at_ = now();
  if (watching_ && !driver_active_) helper_.kick();
}

void Progress::run() {
  std::unique_lock lock(lock_);
  while (!stopping_) {
    const Nanos time = now();
    const bool active = activity_ != activity_seen_;
    activity_seen_ = activity_;
    const bool hurried = armed_at_ != INT64_MIN && time - armed_at_ < kArmedFor;
    watching_ = active && (driver_active_ || !hurried);
    if (watching_) {
      helper_.nap(lock, kTick);
    } else if (driver_active_) {
      park(lock);
    } else {
      drive(lock, time, hurried);
    }
  }
}

void Progress::park(std::unique_lock<DeviceLock>& lock) {
  parked_ = true;
  helper_.sleep(lock, {helper_fds_.data(), 1}, Sleeper::kForever);
  parked_ = false;
}

void Progress::drive(std::unique_lock<DeviceLock>& lock, Nanos time, bool hurried) {
  refresh(&helper_fds_, 2, &helper_version_);
  helper_.prepare();
  bell_.hush();
  const bool more_in = engine_.receive(time);
  const bool more_out = engine_.transmit(time);
  if (more_in || more_out) {
    helper_.stay_awake();
    give_way(lock);
    return;
  }
  engine_.idle();
  const Nanos deadline = engine_.next_deadline();
  if (hurried || !attended()) {
    helper_.sleep(lock, helper_fds_, deadline);
  } else if (helper_.sleep_with_grace(lock, helper_fds_, deadline, kGrace)) {
    attended_ = activity_ != activity_seen_;
  }
}

int Progress::wait(EventSource& source) {
  std::unique_lock lock(lock_);
  while (source.empty()) {
    int error = 0;
    if (driver_active_) {
      lock.unlock();
      error = wait_for(source.signal());  // the driver, and after it the helper, makes the progress
      lock.lock();
    } else {
      error = drive_inline(lock, source);
    }
    if (error != 0 && (error != EINTR || !handlers_restart())) return error;
  }
  return 0;
}

int Progress::drive_inline(std::unique_lock<DeviceLock>& lock, EventSource& source) {
  ++activity_;
  driver_active_ = true;
  driver_fds_[1] = readable(source.signal());
  int error = 0;
  while (error == 0 && source.empty()) error = step_inline(lock, source);
  driver_active_ = false;
  driver_.stay_awake();
  if (parked_) helper_.kick();
  return error;
}

int Progress::step_inline(std::unique_lock<DeviceLock>& lock, EventSource& source) {
  const Nanos time = now();
  refresh(&driver_fds_, 2, &driver_version_);
  driver_.prepare();
  const bool had_output = engine_.has_output();
  const bool more_in = engine_.receive(time);
  // The acknowledgement of what just arrived can go with the caller's answer, if that comes soon.
  if (!source.empty() && watching_ && !had_output) return 0;
  const bool more_out = engine_.transmit(time);
  if (more_in || more_out) give_way(lock);
  if (!source.empty() || more_in || more_out) return 0;
  return driver_.sleep(lock, driver_fds_, engine_.next_deadline());
}

}  // namespace verbs::soft::host
