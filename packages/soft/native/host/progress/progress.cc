#include "host/progress/progress.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "guard/fault_signals.h"
#include "include/verbs_soft_worker.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::host {
namespace {

constexpr Nanos kTick = kMillisecond;
// How long a packet is left to the waiters.
constexpr Nanos kGrace = kMillisecond;
constexpr std::size_t kMaxAttached = 4;
// A wait set that was not used for this long is detached when another one needs its place.
constexpr Nanos kUnusedAfter = 100 * kMillisecond;
// How long after note_armed() the helper assumes that a thread sleeps on the channel's descriptor.
constexpr Nanos kArmedFor = 20 * kMillisecond;

// The kernel restarts the read() of a real channel after a handler with SA_RESTART; it never restarts ppoll(). It does
// not report which handler ran. So the call is restarted if every installed handler has SA_RESTART. Handlers of faults
// (of sanitizers and language runtimes) do not count: a sleeping call causes no fault.
bool handlers_restart() {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (model::is_fault(signal)) continue;
    struct sigaction action{};
    if (sigaction(signal, nullptr, &action) != 0) continue;
    const bool handled = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    if (handled && (action.sa_flags & SA_RESTART) == 0) return false;
  }
  return true;
}

pollfd readable(int fd) { return {fd, POLLIN, 0}; }

// Between two rounds of work, lets the threads that wait for the lock take it.
void yield_lock(std::unique_lock<DeviceLock>& lock) {
  DeviceLock* device = lock.release();
  device->unlock();
  device->lock_after_others();
  lock = std::unique_lock(*device, std::adopt_lock);
}

int wait_for(int fd) {
  const Cancellable wait;
  pollfd entry = readable(fd);
  return ppoll(&entry, 1, nullptr, nullptr) < 0 ? errno : 0;
}

}  // namespace

int Progress::start(std::vector<int> sockets) {
  if (const int error = helper_.open()) return error;
  if (const int error = driver_.open()) return error;
  if (const int error = wake_event_.open()) return error;
  helper_fds_ = {readable(helper_.fd()), readable(wake_event_.fd())};
  driver_fds_ = {readable(driver_.fd()), readable(-1)};
  sockets_ = std::move(sockets);
  attached_.reserve(kMaxAttached);
  const model::WorkerSignals signals;
  return contain(
      [this] {
        thread_ = std::thread([this] { run(); });
        pthread_setname_np(thread_.native_handle(), "verbs-soft");
        return 0;
      },
      [](int failed) { return failed; });
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

void Progress::set_sockets(std::vector<int> sockets) {
  sockets_ = std::move(sockets);
  ++sockets_version_;
  if (!attached_.empty()) attach_again();
  helper_.kick();
  driver_.kick();
}

// What an attached wait set holds.
std::vector<int> Progress::guests() const {
  std::vector<int> fds = sockets_;
  fds.push_back(wake_event_.fd());
  return fds;
}

// A packet to a new socket wakes the waiters too. The helper receives for one whose set cannot have the sockets.
void Progress::attach_again() {
  const auto attach_all = [this] {
    const std::vector<int> fds = guests();
    engine_.prepare_sleep();
    std::erase_if(attached_, [&](WaitSet* set) { return !set->attach(fds); });
    return 0;
  };
  const auto detach_all = [this](int) {
    while (!attached_.empty()) detach(*attached_.back());
    return 0;
  };
  contain(attach_all, detach_all);
  has_attached_ = !attached_.empty();
}

// The first `fixed` entries stay. False: there is no memory for the sockets now, and the thread must not sleep long.
bool Progress::refresh(std::vector<pollfd>* fds, std::size_t fixed, std::uint64_t* seen) const {
  if (*seen == sockets_version_) return true;
  fds->resize(fixed);
  const auto fill = [&] {
    fds->reserve(fixed + sockets_.size());
    for (const int socket : sockets_) fds->push_back(readable(socket));
    *seen = sockets_version_;
    return true;
  };
  return contain(fill, [](int) { return false; });
}

void Progress::attach(WaitSet& set) {
  if (attached_.size() >= kMaxAttached) {
    if (now() - attached_.front()->used_at < kUnusedAfter) return;
    detach(*attached_.front());
  }
  const std::vector<int> fds = guests();
  attached_.reserve(attached_.size() + 1);
  engine_.prepare_sleep();
  if (set.attach(fds)) attached_.push_back(&set);
  has_attached_ = !attached_.empty();
}

void Progress::detach(WaitSet& set) {
  if (std::erase(attached_, &set) == 0) return;
  set.detach();
  has_attached_ = !attached_.empty();
}

void Progress::detach_quiet(Nanos time) {
  const auto silent = [&](WaitSet* set) {
    if (!quiet(*set, time)) return false;
    set->detach();
    return true;
  };
  std::erase_if(attached_, silent);
  has_attached_ = !attached_.empty();
}

void Progress::note_fetch(WaitSet& set, Nanos time, bool receives) {
  if (receives) wake_event_.drain();
  engine_.prepare_sleep();
  set.used_at = time;
  polls_.fetched();
  const auto found = std::find(attached_.begin(), attached_.end(), &set);
  if (found == attached_.end()) {
    // No packet woke this thread: it fetches as others poll.
    polls_.count();
    polls_.stamp(time);
    return;
  }
  ++activity_;
  std::rotate(found, found + 1, attached_.end());
  waiter_responds_ = true;
}

void Progress::release_sockets() {
  while (!attached_.empty()) detach(*attached_.back());
  helper_.leave_poll();
  driver_.leave_poll();
}

void Progress::wake() {
  if (has_attached_ && !driver_active_) {
    wake_event_.signal();
  } else {
    expect(0);
  }
}

bool Progress::note_post(Nanos time) {
  if (!polls_.posted(time)) return false;
  polls_.count();
  polls_.stamp(time);
  return true;
}

void Progress::note_armed() {
  armed_at_ = now();
  if (ticking_ && !driver_active_) helper_.kick();
}

void Progress::run() {
  guard::trust_this_thread();
  std::unique_lock lock(lock_);
  while (!stopping_) {
    const Nanos time = now();
    const bool active = activity_ != activity_seen_;
    activity_seen_ = activity_;
    const bool urgent = armed_at_ != INT64_MIN && time - armed_at_ < kArmedFor;
    const Nanos polled = polls_.judge(time);
    ticking_ = (active || polled != 0) && (driver_active_ || !urgent);
    if (ticking_) {
      stay_awake();
      publish();
      helper_.nap(lock, active ? kTick : polled);
    } else if (driver_active_) {
      park(lock);
    } else if (contain([&] { return drive(lock, time, urgent), 0; }, [](int failed) { return failed; }) != 0) {
      helper_.nap(lock, kTick);  // there is no memory now
    }
  }
}

void Progress::publish() {
  engine_.publish();
  if (!engine_.take_change()) return;
  // Without memory for the list, packets to the new sockets wait until it changes again.
  contain([this] { return set_sockets(engine_.sockets()), 0; }, [](int) { return 0; });
}

// Not while there is a driver, nor while a waiter is attached: both sleep without the helper's knowledge.
void Progress::stay_awake() {
  if (!driver_active_ && attached_.empty()) engine_.stay_awake();
}

void Progress::park(std::unique_lock<DeviceLock>& lock) {
  parked_ = true;
  helper_.sleep(lock, {helper_fds_.data(), 1}, Sleeper::kForever);
  parked_ = false;
}

void Progress::drive(std::unique_lock<DeviceLock>& lock, Nanos time, bool urgent) {
  const bool complete = refresh(&helper_fds_, 2, &helper_version_);
  helper_.prepare();
  engine_.prepare_sleep();
  wake_event_.drain();
  const bool more_in = engine_.receive(time);
  const bool more_out = engine_.transmit(time);
  if (more_in || more_out) {
    helper_.stay_awake();
    stay_awake();
    yield_lock(lock);
    return;
  }
  engine_.idle();
  if (engine_.take_change()) set_sockets(engine_.sockets());
  const Nanos deadline = std::min(engine_.next_deadline(), complete ? Sleeper::kForever : time + kTick);
  if (urgent || !has_waiter()) {
    helper_.sleep(lock, helper_fds_, deadline);
  } else if (helper_.sleep_with_grace(lock, helper_fds_, deadline, kGrace)) {
    waiter_responds_ = activity_ != activity_seen_;
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
  // Ends also when the thread is cancelled.
  struct Driving {
    explicit Driving(Progress& of) : progress(of) {
      ++progress.activity_;
      progress.driver_active_ = true;
    }
    ~Driving() {
      progress.driver_active_ = false;
      progress.driver_.stay_awake();
      progress.stay_awake();
      if (progress.parked_) progress.helper_.kick();
    }
    Progress& progress;
  };
  const Driving driving(*this);
  driver_fds_[1] = readable(source.signal());
  int error = 0;
  while (error == 0 && source.empty()) error = step_inline(lock, source);
  return error;
}

int Progress::step_inline(std::unique_lock<DeviceLock>& lock, EventSource& source) {
  const Nanos time = now();
  const bool complete = refresh(&driver_fds_, 2, &driver_version_);
  driver_.prepare();
  engine_.prepare_sleep();
  const bool had_output = engine_.has_output();
  const bool more_in = engine_.receive(time);
  // The acknowledgement of the frame can leave with the caller's next request, if that is posted soon.
  if (!source.empty() && ticking_ && !had_output) return 0;
  const bool more_out = engine_.transmit(time);
  if (more_in || more_out) yield_lock(lock);
  if (!source.empty() || more_in || more_out) return 0;
  publish();
  const Nanos deadline = engine_.next_deadline();
  return driver_.sleep(lock, driver_fds_, complete ? deadline : std::min(deadline, time + kTick));
}

}  // namespace verbs::soft::host
