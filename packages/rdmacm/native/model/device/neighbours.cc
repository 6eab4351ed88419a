#include "model/device/neighbours.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <utility>

#include "verbs_soft_sockets.h"

namespace verbs::rdmacm::model {
namespace {

std::string text_of(const Gid& gid) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, gid.data(), text, sizeof text);
  return text;
}

std::string prefix_of(std::uint64_t service_id) {
  char text[64];
  std::snprintf(text, sizeof text, "verbs-cm/%llx/", static_cast<unsigned long long>(service_id));
  return text;
}

constexpr const char* kEndings[] = {"", "/bound", "/reuse"};  // by Service
constexpr int kNames = 4;                                     // that are tried for an announcement

std::atomic<std::uint32_t> mark{0};  // 0: not chosen yet

// Behind the '#' of this process' names; a forked child goes on with another one.
std::string own_mark() {
  std::uint32_t chosen = mark;
  if (chosen == 0) {
    const std::uint32_t mine = std::random_device()() | 1;
    // Another thread may have been first: then `chosen` is its.
    if (mark.compare_exchange_strong(chosen, mine)) chosen = mine;
  }
  return "#" + std::to_string(chosen) + ".";
}

constinit std::mutex all_mutex;
constinit Announcement* all = nullptr;  // the newest

struct Found {
  Gid bound{};
  Gid own{};
  Service service{};
};

// "BOUND/OWN", "BOUND/OWN/bound" or "BOUND/OWN/reuse", behind the prefix. What follows a '#' makes the name unique.
bool parse(std::string text, Found* found) {
  text = text.substr(0, text.find('#'));
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return false;
  const std::size_t end = text.find('/', slash + 1);
  const std::string second = text.substr(slash + 1, end == std::string::npos ? end : end - slash - 1);
  const std::string ending = end == std::string::npos ? "" : text.substr(end);
  found->service = ending == kEndings[1]   ? Service::kBound
                   : ending == kEndings[2] ? Service::kReusable
                                           : Service::kListening;
  return inet_pton(AF_INET6, text.substr(0, slash).c_str(), found->bound.data()) == 1 &&
         inet_pton(AF_INET6, second.c_str(), found->own.data()) == 1;
}

bool is_trusted(const soft::model::AbstractSocket& socket) {
  return socket.owner && (*socket.owner == geteuid() || *socket.owner == 0);
}

bool bind_abstract(int fd, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);  // abstract: the first byte is zero
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0;
}

}  // namespace

bool is_loopback(const Gid& gid) { return is_ipv4(gid) && gid[12] == 127; }

std::unique_ptr<Announcement> Announcement::make(std::uint64_t service_id, const Gid& bound, const Gid& own,
                                                 Service service) {
  // One that never listens: it takes no connection and no message, of anyone.
  std::unique_ptr<Announcement> made;
  {
    // A fork finds the descriptor in the list, or there is none yet.
    const std::lock_guard guard(all_mutex);
    made.reset(new Announcement(service_id, bound, own, service));
    made->fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  }
  if (made->fd_ < 0) return nullptr;
  const std::string name =
      prefix_of(service_id) + text_of(bound) + "/" + text_of(own) + kEndings[static_cast<int>(service)] + own_mark();
  // Somebody else may have taken the name, by mistake or not.
  std::random_device random;
  for (int i = 0; i < kNames; ++i) {
    if (bind_abstract(made->fd_, name + std::to_string(random()))) return made;
  }
  return nullptr;
}

// The older one stays, so that of two that come at once one has the port.
int Announcement::find_conflict() const {
  struct stat status{};
  if (fstat(fd_, &status) != 0) return 0;
  const std::string prefix = prefix_of(service_id_);
  for (const soft::model::AbstractSocket& socket : soft::model::abstract_sockets(prefix)) {
    Found other;
    const bool own = socket.name.find(own_mark()) != std::string::npos;
    if (own || socket.inode >= status.st_ino || !is_trusted(socket)) continue;
    if (!parse(socket.name.substr(prefix.size()), &other) || other.own != own_) continue;
    if (service_ == Service::kReusable && other.service == Service::kReusable) continue;
    if (bound_ == Gid{} || other.bound == Gid{}) return EADDRNOTAVAIL;
    if (bound_ == other.bound) return EADDRINUSE;
  }
  return 0;
}

Announcement::Announcement(std::uint64_t service_id, const Gid& bound, const Gid& own, Service service)
    : service_id_(service_id), bound_(bound), own_(own), service_(service) {
  older_ = std::exchange(all, this);
  if (older_) older_->newer_ = this;
}

Announcement::~Announcement() {
  const std::lock_guard guard(all_mutex);
  (newer_ ? newer_->older_ : all) = older_;
  if (older_) older_->newer_ = newer_;
  if (fd_ >= 0) close(fd_);
}

std::mutex& Announcement::mutex() { return all_mutex; }

void Announcement::leave_to_parent() noexcept {
  for (Announcement* each = all; each; each = each->older_) {
    if (each->fd_ >= 0) close(each->fd_);
    each->fd_ = -1;
  }
  mark = 0;
}

std::optional<Gid> find_neighbour(std::uint64_t service_id, const Gid& address) {
  if (!is_loopback(address)) return std::nullopt;
  const std::string prefix = prefix_of(service_id);
  std::optional<Gid> found;
  int best = 0;
  for (const soft::model::AbstractSocket& socket : soft::model::abstract_sockets(prefix)) {
    Found other;
    if (!parse(socket.name.substr(prefix.size()), &other)) continue;
    const auto& [bound, own, service] = other;
    const bool any = bound == Gid{};
    if (!is_loopback(own) || (!any && bound != address)) continue;
    // Any user can announce anything: this one and root come before all others, of which the first one stays, as it
    // does at a port of the kernel. Then a listener before one that will be, an exact address before all addresses.
    const int rank =
        1 + (own == address || !any ? 1 : 0) + (service == Service::kListening ? 2 : 0) + (is_trusted(socket) ? 4 : 0);
    if (rank <= best) continue;
    best = rank;
    found = own;
  }
  return found;
}

}  // namespace verbs::rdmacm::model
