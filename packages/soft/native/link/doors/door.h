// Where other processes of this host ask for something: a listener with an abstract name, and what is said there to
// processes of this user. One thread serves all doors of a process, and sleeps while nobody comes; no other thread
// waits for a visitor.
//
// Whoever knocks cannot make anyone wait. Another user is turned away at once, and so many of them that the queue is
// full cost a bounded part of the thread's time. No visit lasts longer than its door's budget, whatever the visitor
// does, and a visitor that comes when all places are taken has that of the oldest one.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace verbs::soft::link {

// What is said to one visitor.
class Visit {
 public:
  enum class Next { kRead, kWrite, kOver, kTaken };

  virtual ~Visit() = default;
  // The visitor came, or its socket is ready for what was asked. Must not block.
  virtual Next proceed(int fd) = 0;
  // After kTaken: the descriptor is the visit's.
  virtual void take(int /*fd*/) {}
};

class Door {
 public:
  using Receive = std::function<std::unique_ptr<Visit>()>;

  // 0 or errno: EADDRINUSE if another socket has the name. EAGAIN: no thread can be had.
  static int open(std::string_view name, std::chrono::milliseconds budget, Receive receive,
                  std::unique_ptr<Door>* door);
  // Waits for a step of a visit that is in progress, and for no visitor. So do not call it with a lock that a visit
  // takes.
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  // In a forked child, whose parent has the thread: gives the descriptors back.
  void abandon();

  struct State;

 private:
  explicit Door(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

// Closes descriptors whose last close() may sleep: those that another process has sent, and sockets that may hold such
// ones. Threads of its own do it, which exist only meanwhile.

void close_elsewhere(int fd);

// Those that are not closed yet.
std::size_t closing_elsewhere();

}  // namespace verbs::soft::link
