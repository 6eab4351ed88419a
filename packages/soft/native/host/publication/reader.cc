#include "host/publication/reader.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <vector>

#include "host/progress/clock.h"
#include "host/publication/publisher.h"
#include "link/doors/local_socket.h"
#include "verbs_soft_sockets.h"

namespace verbs::soft::host {

namespace {

constexpr Nanos kPatience = 300 * kMillisecond;
// A publisher that others keep busy is asked again so much later.
constexpr Nanos kPause = 2 * kMillisecond;
constexpr std::size_t kMaxReport = std::size_t{16} << 20;
constexpr std::size_t kMostAsked = 64;  // at a time

// A publisher that is asked.
class Question {
 public:
  explicit Question(std::string name) : name_(std::move(name)) {}
  ~Question() { end(); }
  Question(Question&& other) noexcept
      : pid(other.pid),
        report(std::move(other.report)),
        name_(std::move(other.name_)),
        fd_(std::exchange(other.fd_, -1)),
        over_(other.over_),
        complete_(other.complete_) {}
  Question& operator=(Question&&) = delete;

  int fd() const { return fd_; }
  bool is_open() const { return fd_ < 0 && !over_; }  // it must be asked still
  bool is_complete() const { return complete_; }
  bool is_over() const { return over_; }

  void ask() {
    const int error = link::connect_to(name_, &fd_);
    if (error == 0) {
      ucred peer{};
      socklen_t size = sizeof peer;
      getsockopt(fd_, SOL_SOCKET, SO_PEERCRED, &peer, &size);
      pid = peer.pid;
      return;
    }
    fd_ = -1;
    over_ = error != EAGAIN;  // nobody, or another user who has taken such a name
  }

  void read() {
    std::uint8_t buffer[16 * 1024];
    while (!over_) {
      std::size_t size = 0;
      const int error = link::receive(fd_, buffer, &size);
      if (error == EAGAIN) return;
      complete_ = error == 0 && size == 0 && !report.empty();
      if (error != 0 || size == 0 || report.size() + size > kMaxReport) {
        end();
      } else {
        report.append(reinterpret_cast<const char*>(buffer), size);
      }
    }
  }

  pid_t pid = 0;
  std::string report;

 private:
  void end() {
    over_ = true;
    if (fd_ >= 0) link::hang_up(std::exchange(fd_, -1));
  }

  std::string name_;
  int fd_ = -1;
  bool over_ = false;
  bool complete_ = false;
};

std::vector<Question> questions(uid_t user) {
  std::vector<Question> made;
  for (const model::AbstractSocket& socket : model::abstract_sockets(publisher_prefix(user))) {
    // Any user may take such a name.
    if (socket.listens && socket.owner.value_or(user) == user) made.emplace_back(socket.name);
  }
  return made;
}

// All are asked at a time, as far as there are descriptors, and together have the time that one has.
void ask_all(std::span<Question> all, Nanos deadline) {
  std::vector<pollfd> fds;
  std::vector<Question*> asked;
  for (;;) {
    fds.clear();
    asked.clear();
    bool open = false;
    for (Question& question : all) {
      if (question.is_open() && asked.size() < kMostAsked) question.ask();
      open |= question.is_open();
      if (question.fd() < 0) continue;
      fds.push_back({question.fd(), POLLIN, 0});
      asked.push_back(&question);
    }
    const Nanos left = deadline - now();
    if (left <= 0 || (!open && asked.empty())) return;
    const Nanos wait = open ? std::min(left, kPause) : left;
    if (poll(fds.data(), fds.size(), static_cast<int>(wait / kMillisecond) + 1) <= 0) continue;
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].revents != 0) asked[i]->read();
    }
  }
}

}  // namespace

void read_publishers(const std::function<void(pid_t, const std::string&)>& process) {
  const Nanos deadline = now() + kPatience;
  std::vector<Question> all = questions(geteuid());
  ask_all(all, deadline);
  for (const Question& question : all) {
    if (question.is_complete()) process(question.pid, question.report);
  }
}

}  // namespace verbs::soft::host
