// Who makes a device's progress, and when.
//
// The thread that polls makes it inline. A thread that blocks for an event makes it too, as the "driver" (one at a
// time). So does a thread that waits on the descriptor of a completion channel which is attached: packets wake it, and
// it makes the progress when it looks for the event. A helper thread backs all of them up:
//   watching  somebody polled or waited within the last tick. The helper only looks again a tick later, not at the
//             sockets: packets of a busy poller must not wake it. Work may be left for it for as long as that.
//   driving   nobody did: it makes the progress, and between packets and timers sleeps without a limit. A packet wakes
//             it as well as those who wait on an attached channel; they have a moment's grace to take it. Once they let
//             it pass, the helper gives no more grace until one of them shows up again.
//   parked    a driver is blocked in a call and makes the progress: the helper sleeps until the driver leaves.
// A completion queue that was armed for somebody who waits on the descriptor of a channel that is not attached keeps
// the helper driving in spite of polls, since that somebody sleeps until an event comes.
#pragma once

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "host/events/event_queue.h"
#include "host/progress/device_lock.h"
#include "host/progress/sleeper.h"
#include "host/progress/wake_event.h"

namespace verbs::soft::host {

// What there is to be done; called under the device's lock.
class Engine {
 public:
  // Takes frames in. Returns whether there may be more to take in at once.
  virtual bool receive(Nanos now) = 0;
  virtual bool has_output() const = 0;
  // Sends what is due. Returns whether there is more to send at once.
  virtual bool transmit(Nanos now) = 0;
  // When transmit() has something to do next, if nothing arrives.
  virtual Nanos next_deadline() const = 0;
  // Nothing is left to do for a while.
  virtual void idle() = 0;

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
  void note_poll() { ++activity_; }
  // Somebody will sleep until an event comes, and only the helper brings it.
  void note_armed();
  // Whoever waits on the set wakes by packets from here on, if there is room for it: each packet wakes all of them, and
  // one is enough for those of one loop, since he makes the progress for everybody.
  void attach(WaitSet& set);
  void detach(WaitSet& set);
  // Whoever waits on `set` is about to take in what has come, at `time`.
  void look(WaitSet& set, Nanos time);
  // Those who wait on attached sets take the packets.
  bool attended() const { return attended_ && !attached_.empty(); }
  // Whether work may be left to the helper: it looks within a tick.
  bool watching() const { return watching_; }
  // From here on these are the sockets that wake whoever sleeps. Before one of them is closed, none may be attached.
  void watch(std::vector<int> sockets);
  void detach_all();
  // Comes before one of the sockets is closed: nobody waits for it from here on.
  void release_sockets();
  // There is work at `deadline` at the latest: wakes the sleeper that would miss it.
  void expect(Nanos deadline) { (driver_active_ ? driver_ : helper_).wake_before(deadline); }

  // -- without the lock
  // Work arrived from another thread, or from the same one by another device.
  void ring();
  // Makes progress until `source` has something. 0, or EINTR if a signal handler ran that does not restart calls.
  int wait(EventSource& source);

 private:
  void run();
  void refresh(std::vector<pollfd>* fds, std::size_t fixed, std::uint64_t* seen) const;
  void drive(std::unique_lock<DeviceLock>& lock, Nanos time, bool hurried);
  void park(std::unique_lock<DeviceLock>& lock);
  int drive_inline(std::unique_lock<DeviceLock>& lock, EventSource& source);
  int step_inline(std::unique_lock<DeviceLock>& lock, EventSource& source);

  Engine& engine_;
  DeviceLock& lock_;
  std::thread thread_;
  Sleeper helper_;
  Sleeper driver_;
  // Each thread sleeps on a list of its own, which it brings up to date when it is awake: first what wakes it.
  std::vector<pollfd> helper_fds_;
  std::vector<pollfd> driver_fds_;
  std::atomic<bool> driver_active_{false};
  // Frames from this process come without a packet: what wakes the attached sets, and the helper behind them.
  Bell bell_;
  std::atomic<bool> has_attached_{false};
  // The rest is guarded by the lock.
  std::vector<int> sockets_;
  std::uint64_t sockets_version_ = 1;
  std::uint64_t helper_version_ = 0;
  std::uint64_t driver_version_ = 0;
  bool stopping_ = false;
  bool watching_ = false;
  bool parked_ = false;
  std::uint64_t activity_ = 0;
  std::uint64_t activity_seen_ = 0;
  Nanos armed_at_ = INT64_MIN;
  std::vector<WaitSet*> attached_;  // those who looked last at the end
  bool attended_ = false;           // whoever waits on attached sets did not let the last grace pass
};

}  // namespace verbs::soft::host
