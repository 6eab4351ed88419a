#include "host/publication/reader.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <vector>

#include "host/progress/clock.h"
#include "host/publication/publisher.h"

namespace verbs::soft::host {

namespace {

constexpr Nanos kPatience = 300 * kMillisecond;
constexpr std::size_t kMaxReport = std::size_t{16} << 20;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// The names of this user's publishers. An entry of a connection has the listener's name as well.
std::vector<std::string> publishers(uid_t user) {
  std::vector<std::string> names;
  const std::string wanted = "@" + publisher_prefix(user);
  constexpr const char* kListening = " 00010000 ";
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t at = line.rfind(" @");
    if (at == std::string::npos || line.compare(at + 1, wanted.size(), wanted) != 0) continue;
    if (line.find(kListening) < at) names.push_back(line.substr(at + 2));
  }
  return names;
}

void set_timeout(int fd, Nanos left) {
  const timeval time{.tv_sec = 0, .tv_usec = static_cast<suseconds_t>(left / 1000)};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

// Whether the whole report was read.
bool read_report(const std::string& name, uid_t user, pid_t* pid, std::string* report) {
  const Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (fd.get() < 0 || name.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const Nanos deadline = now() + kPatience;
  set_timeout(fd.get(), kPatience);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return false;
  // Any user may take such a name.
  ucred peer{};
  socklen_t peer_size = sizeof peer;
  if (getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) != 0 || peer.uid != user) return false;
  *pid = peer.pid;
  char buffer[16 * 1024];
  while (report->size() <= kMaxReport) {
    const Nanos left = deadline - now();
    if (left <= 0) return false;
    set_timeout(fd.get(), left);
    const ssize_t count = recv(fd.get(), buffer, sizeof buffer, 0);
    if (count == 0) return !report->empty();
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) report->append(buffer, static_cast<std::size_t>(count));
  }
  return false;
}

}  // namespace

void read_publishers(const std::function<void(pid_t, const std::string&)>& process) {
  const uid_t user = geteuid();
  for (const std::string& name : publishers(user)) {
    pid_t pid = 0;
    std::string report;
    if (read_report(name, user, &pid, &report)) process(pid, report);
  }
}

}  // namespace verbs::soft::host
