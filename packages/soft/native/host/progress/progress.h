// Which thread makes a device's progress, and when. "Progress" is receiving the frames that have arrived and sending
// the packets that are due.
//
// Every call that polls for a completion makes progress inline. Three kinds of sleeping threads make it too:
//   driver  A thread that is blocked in ibv_get_cq_event() or ibv_get_async_event(). It polls the sockets until its
//           event has come. One thread at a time is the driver; others that block wait for their events only.
//   waiter  A thread (usually an event loop) that sleeps on the descriptor of a completion channel whose wait set is
//           attached: the set holds the sockets, so a packet wakes the thread, and fetching the event makes progress.
//   helper  A thread of ours that makes progress while no other thread does. It is in one of three modes:
//             ticking  Other threads make progress all the time: one polls often (poll_rate.h), or a driver or waiter
//                      did within the last tick (1 ms). The helper checks again a tick later and does not poll the
//                      sockets, so packets do not wake it beside those threads. Work may be left to it for one tick.
//             driving  Nobody does, or a thread polls now and then: its peers' operations must not wait for its next
//                      poll. The helper polls the sockets and sleeps until a packet arrives or a timer is due. While
//                      wait sets are attached it leaves a packet to the waiters for a grace period (1 ms). When no
//                      waiter has received by its end, the helper gives no grace until one does.
//             parked   There is a driver. The helper sleeps until the driver leaves.
//
// A packet that comes after a silence and completes nothing has woken its waiter in vain: a keep-alive, or a one-sided
// operation of the peer. The sets of the silent waiters are detached then, and the helper receives the packets, until
// one of them completes something for the waiter, or the program posts data and waits for the answer.
//
// A completion queue may be armed for a thread that sleeps on a descriptor which no packet makes readable (its wait set
// is not attached). Then the helper is driving for a while even if other threads poll.
#pragma once

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "host/events/completion_channel.h"
#include "host/events/wait_set.h"
#include "host/progress/clock.h"
#include "host/progress/device_lock.h"
#include "host/progress/sleeper.h"

namespace verbs::soft::host {

// Whether a thread polls so often that nobody else need wait for packets, and for how long to believe it.
//
// A thread that polls all the time does so every microsecond or two; one that computes, or has a timer, every
// millisecond or ten, perhaps a few times in a row. Only the first is as fast as a thread that sleeps until a packet
// wakes it. Polls that take long, because they handle many packets, are few as well: so a thread that was seen to poll
// often is believed as long as its last poll is recent. A thread that posts one request after the other polls rarely,
// but its posts receive now and then, and count like polls.

class PollRate {
 public:
  static constexpr Nanos kGap = 20'000;           // between two polls of a thread that polls often, at most
  static constexpr std::uint64_t kPolls = 6;      // this number of polls is no coincidence
  static constexpr Nanos kWindow = 200'000;       // in which they are counted
  static constexpr Nanos kRecent = 100'000;       // a recent poll, at most
  static constexpr Nanos kFirstBelief = 50'000;   // doubles with each confirmation, so that a thread that polled
  static constexpr Nanos kBelief = kMillisecond;  // in one burst is not believed for long
  static constexpr Nanos kStale = kGap / 2;       // after that long without a poll a post receives

  void count() { ++polls_; }
  void stamp(Nanos time) {
    polled_at_ = time;
    posts_ = 0;
  }
  // A thread woke to fetch an event: its posts are no series.
  void fetched() { posts_ = 0; }
  // A thread posts. True: it is one of a series, and nobody has polled for a while.
  bool posted(Nanos time) { return ++posts_ > 1 && time - polled_at_ > kStale; }

  // How long to leave the packets to the threads that poll, from `time` on; 0: not at all.
  Nanos judge(Nanos time) {
    const std::uint64_t polls = polls_ - counted_;
    const Nanos elapsed = time - since_;
    const bool many = polls >= kPolls && elapsed <= static_cast<Nanos>(polls) * kGap;
    const bool still = belief_ != 0 && polls != 0 && time - polled_at_ <= std::min(belief_ / 2, kRecent);
    if (many || still) {
      belief_ = belief_ == 0 ? kFirstBelief : std::min(2 * belief_, kBelief);
    } else {
      belief_ = 0;
    }
    if (belief_ != 0 || elapsed >= kWindow) {
      counted_ = polls_;
      since_ = time;
    }
    return belief_;
  }

 private:
  std::uint64_t polls_ = 0;
  std::uint64_t posts_ = 0;  // since the last poll or fetch
  Nanos polled_at_ = INT64_MIN / 2;
  std::uint64_t counted_ = 0;  // at `since_`
  Nanos since_ = 0;
  Nanos belief_ = 0;
};

// The work of a device. Called under the device's lock.
class Engine {
 public:
  // Receives frames. Returns whether more may be waiting already.
  virtual bool receive(Nanos now) = 0;
  virtual bool has_output() const = 0;
  // Sends the packets that are due. Returns whether more are due already.
  virtual bool transmit(Nanos now) = 0;
  // When transmit() is due next, if no frame arrives.
  virtual Nanos next_deadline() const = 0;
  // Called before the helper thread sleeps.
  virtual void idle() = 0;
  // Called now and then: every tick while threads work, and before the driver sleeps.
  virtual void publish() {}
  // The sockets that are readable when frames wait, and whether they have changed since the last call: idle() and
  // publish() may change them.
  virtual std::vector<int> sockets() const { return {}; }
  virtual bool take_change() { return false; }
  // Called before the last receive() before a thread sleeps: from now on each frame makes a socket readable, and
  // stay_awake() ends that, because a thread calls receive() all the time.
  virtual void prepare_sleep() {}
  virtual void stay_awake() {}

 protected:
  ~Engine() = default;
};

class Progress {
 public:
  Progress(Engine& engine, DeviceLock& lock) : engine_(engine), lock_(lock) {}
  ~Progress() { stop(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  int start(std::vector<int> sockets);  // 0 or errno
  void stop();                          // not under the lock

  // -- under the lock
  // The calling thread polls a completion queue.
  void note_poll() { polls_.count(); }
  // It found the queue empty and makes progress inline, at `time`.
  void note_progress(Nanos time) { polls_.stamp(time); }
  // The calling thread posts requests at `time`. True: it makes progress inline like one that polls.
  bool note_post(Nanos time);
  // A completion queue was armed for a thread that no packet wakes.
  void note_armed();
  // From now on packets make the wait set readable. Does nothing while enough other sets are attached and in use: a
  // packet wakes the threads of all of them, and the first thread receives for all.
  void attach(WaitSet& set);
  void detach(WaitSet& set);
  // The thread that waits on `set` makes progress, at `time`. Without `receives` it leaves the frames where they are:
  // the announcement of those that no socket announces stays too.
  void note_fetch(WaitSet& set, Nanos time, bool receives);
  // A request with data was posted at `time`: the packets that come next belong to it.
  void note_exchange(Nanos time) { exchange_at_ = time; }
  bool exchanges(Nanos time) const { return time - exchange_at_ <= kQuiet; }
  // Whether the waiter of `set` has fetched nothing for a while before `time`, and no data was posted.
  bool quiet(const WaitSet& set, Nanos time) const { return time - set.used_at > kQuiet && !exchanges(time); }
  // Detaches the sets whose waiters are quiet: the helper receives the packets.
  void detach_quiet(Nanos time);
  // Whether the threads that wait on attached sets receive the packets, so that the helper need not.
  bool has_waiter() const { return waiter_responds_ && !attached_.empty(); }
  // Whether work may be left to the helper, because it checks within a tick.
  bool ticking() const { return ticking_; }
  // Replaces the sockets that wake sleeping threads. release_sockets() comes before a socket is closed.
  void set_sockets(std::vector<int> sockets);
  // When this returns no thread polls the sockets and no wait set holds them.
  void release_sockets();
  // Work is due at `deadline` at the latest: wakes the thread that would sleep longer.
  void expect(Nanos deadline) { (driver_active_ ? driver_ : helper_).wake_before(deadline); }

  // -- without the lock
  // A frame was queued that no socket announces: by another thread, or by another device of this thread.
  void wake();
  // Makes progress until `source` has an event. 0, or EINTR if a signal handler without SA_RESTART ran.
  int wait(EventSource& source);

 private:
  static constexpr Nanos kQuiet = 10 * kMillisecond;

  void run();
  void publish();
  void stay_awake();
  std::vector<int> guests() const;
  void attach_again();
  bool refresh(std::vector<pollfd>* fds, std::size_t fixed, std::uint64_t* seen) const;
  void drive(std::unique_lock<DeviceLock>& lock, Nanos time, bool urgent);
  void park(std::unique_lock<DeviceLock>& lock);
  int drive_inline(std::unique_lock<DeviceLock>& lock, EventSource& source);
  int step_inline(std::unique_lock<DeviceLock>& lock, EventSource& source);

  Engine& engine_;
  DeviceLock& lock_;
  std::thread thread_;
  Sleeper helper_;
  Sleeper driver_;
  // Each thread polls its own list and updates it while awake. The first entry is the descriptor of its Sleeper.
  std::vector<pollfd> helper_fds_;
  std::vector<pollfd> driver_fds_;
  std::atomic<bool> driver_active_{false};
  // Announces frames from this process, which arrive by no socket, to the attached sets and to the helper.
  WakeEvent wake_event_;
  std::atomic<bool> has_attached_{false};
  // The rest is guarded by the lock.
  std::vector<int> sockets_;
  std::uint64_t sockets_version_ = 1;
  std::uint64_t helper_version_ = 0;
  std::uint64_t driver_version_ = 0;
  bool stopping_ = false;
  bool ticking_ = false;
  bool parked_ = false;
  PollRate polls_;
  std::uint64_t activity_ = 0;  // of drivers and waiters
  std::uint64_t activity_seen_ = 0;
  Nanos armed_at_ = INT64_MIN;
  Nanos exchange_at_ = INT64_MIN / 2;
  std::vector<WaitSet*> attached_;  // the most recently used last
  bool waiter_responds_ = false;    // a waiter received before the last grace period ended
};

}  // namespace verbs::soft::host
