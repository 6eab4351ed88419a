#include "model/id/ports.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <random>

namespace verbs::rdmacm::model {
namespace {

using Key = std::pair<rdma_port_space, std::uint16_t>;

constexpr std::uint16_t kFirstFree = 32768, kLastFree = 60999;  // as net.ipv4.ip_local_port_range

constinit std::mutex table;

std::multimap<Key, Id*>& taken() {
  static auto* ports = new std::multimap<Key, Id*>;
  return *ports;
}

// The kernel's rules: an address for all hosts is in the way of every other one, of the other family too unless both
// identifiers keep to theirs. Those of IPv4 do.
int conflict(Id& a, Id& b) {
  const auto keeps = [](Id& id) { return id.source()->sa_family == AF_INET || id.family_only; };
  if (a.source()->sa_family != b.source()->sa_family && keeps(a) && keeps(b)) return 0;
  if (is_any(a.source()) || is_any(b.source())) return EADDRNOTAVAIL;
  return gid_of(a.source()) == gid_of(b.source()) ? EADDRINUSE : 0;
}

bool may_take_privileged_ports() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  return (data[0].effective & 1u << CAP_NET_BIND_SERVICE) != 0;
}

int check_port(Id& id, std::uint16_t port) {
  constexpr std::uint16_t kFirstUnprivileged = 1024;
  if (port < kFirstUnprivileged && !may_take_privileged_ports()) return EACCES;
  const auto [first, last] = taken().equal_range({id.cm.ps, port});
  for (auto other = first; other != last; ++other) {
    const bool shared = id.reuse_address && other->second->reuse_address && other->second->state != State::kListening;
    if (shared) continue;
    if (const int error = conflict(id, *other->second)) return error;
  }
  return 0;
}

}  // namespace

std::mutex& ports_mutex() { return table; }

void leave_ports_to_parent() noexcept { taken().clear(); }

int take_port(Id& id) {
  const std::lock_guard guard(table);
  std::uint16_t port = port_of(id.source());
  if (port != 0) {
    if (const int error = check_port(id, port)) return error;
  } else {
    static std::uint16_t next =
        static_cast<std::uint16_t>(kFirstFree + std::random_device()() % (kLastFree - kFirstFree));
    int left = kLastFree - kFirstFree + 1;
    do {
      next = next >= kLastFree ? kFirstFree : static_cast<std::uint16_t>(next + 1);
    } while (taken().contains({id.cm.ps, next}) && --left > 0);
    if (left <= 0) return EADDRNOTAVAIL;
    port = next;
    set_port(id.source(), port);
  }
  taken().emplace(Key{id.cm.ps, port}, &id);
  id.holds_port = true;
  return 0;
}

void free_port(Id& id) {
  const std::lock_guard guard(table);
  if (!id.holds_port) return;
  const auto [first, last] = taken().equal_range({id.cm.ps, port_of(id.source())});
  for (auto at = first; at != last; ++at) {
    if (at->second != &id) continue;
    taken().erase(at);
    break;
  }
  id.holds_port = false;
}

int check_listen(Id& id) {
  const std::lock_guard guard(table);
  const auto [first, last] = taken().equal_range({id.cm.ps, port_of(id.source())});
  for (auto other = first; other != last; ++other) {
    if (other->second == &id) continue;
    if (const int error = conflict(id, *other->second)) return error;
  }
  return 0;
}

}  // namespace verbs::rdmacm::model
