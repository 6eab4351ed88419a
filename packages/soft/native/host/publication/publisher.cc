#include "host/publication/publisher.h"

#include <poll.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "include/verbs_soft_worker.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::host {

namespace {

constexpr int kBacklog = 4;
// After a connection of another user.
constexpr int kPauseMs = 20;
// A reader that stops reading does not hold the thread for longer.
constexpr timeval kSendTimeout{.tv_sec = 0, .tv_usec = 500'000};

// A program with the rights of another user (setuid) listens to its environment less than to anything.
bool wanted() {
  if (getauxval(AT_SECURE) != 0) return false;
  const char* variable = std::getenv("VERBS_SOFT_PUBLISH");
  return !variable || std::strcmp(variable, "0") != 0;
}

}  // namespace

std::string publisher_prefix(uid_t user) { return "verbs-soft." + std::to_string(user) + "."; }

std::unique_ptr<Publisher> Publisher::start(Report report) {
  if (!wanted()) return nullptr;
  return contain(
      [&]() -> std::unique_ptr<Publisher> {
        std::unique_ptr<Publisher> publisher(new Publisher(std::move(report)));
        if (!publisher->open()) return nullptr;
        const model::WorkerSignals signals;
        publisher->thread_ = std::thread([self = publisher.get()] { self->run(); });
        pthread_setname_np(publisher->thread_.native_handle(), "verbs-publish");
        return publisher;
      },
      [](int) { return std::unique_ptr<Publisher>(); });
}

bool Publisher::open() {
  user_ = geteuid();
  if (stop_.open() != 0) return false;
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) return false;
  // The random part: containers may share network names while their process IDs are their own.
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) random = 0;
  char suffix[32];
  std::snprintf(suffix, sizeof suffix, "%d.%08x", static_cast<int>(getpid()), random);
  const std::string name = publisher_prefix(user_) + suffix;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) == 0 && listen(listener_, kBacklog) == 0;
}

Publisher::~Publisher() {
  if (thread_.joinable()) {
    stop_.signal();
    thread_.join();
  }
  if (listener_ >= 0) ::close(listener_);
}

void Publisher::abandon() {
  ::close(listener_);
  ::close(stop_.fd());
}

void Publisher::run() {
  pollfd fds[2] = {{stop_.fd(), POLLIN, 0}, {listener_, POLLIN, 0}};
  for (;;) {
    if (poll(fds, 2, -1) < 0 && errno != EINTR) return;
    if (fds[0].revents != 0) return;
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection >= 0) {
      ucred peer{};
      socklen_t size = sizeof peer;
      const bool known = getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
      if (known && peer.uid == user_) {
        serve(connection);
        ::close(connection);
        continue;
      }
      ::close(connection);
    }
    // Another user's, or no descriptor is left in this process.
    if (connection >= 0 || errno == EMFILE || errno == ENFILE) poll(fds, 1, kPauseMs);
  }
}

void Publisher::serve(int connection) {
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &kSendTimeout, sizeof kSendTimeout);
  const std::string text = contain(report_, [](int) { return std::string(); });
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count = send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count <= 0 && errno != EINTR) return;
    if (count > 0) sent += static_cast<std::size_t>(count);
  }
}

}  // namespace verbs::soft::host
