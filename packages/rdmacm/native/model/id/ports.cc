#include "model/id/ports.h"

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

bool overlap(Id& a, Id& b) {
  const bool same_family = a.source()->sa_family == b.source()->sa_family;
  const auto spans = [](Id& id) { return id.source()->sa_family == AF_INET6 && !id.family_only; };
  if (is_any(a.source())) return same_family || spans(a);
  if (is_any(b.source())) return same_family || spans(b);
  return gid_of(a.source()) == gid_of(b.source());
}

bool is_free(Id& id, std::uint16_t port) {
  const auto [first, last] = taken().equal_range({id.cm.ps, port});
  for (auto other = first; other != last; ++other) {
    const bool shared = id.reuse_address && other->second->reuse_address && other->second->state != State::kListening;
    if (!shared && overlap(id, *other->second)) return false;
  }
  return true;
}

}  // namespace

std::mutex& ports_mutex() { return table; }

int take_port(Id& id) {
  const std::lock_guard guard(table);
  std::uint16_t port = port_of(id.source());
  if (port != 0) {
    if (!is_free(id, port)) return EADDRINUSE;
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
    if (other->second != &id && overlap(id, *other->second)) return EADDRINUSE;
  }
  return 0;
}

}  // namespace verbs::rdmacm::model
