// The addresses of a port, which can change while it runs, and everything that each of them receives: packets to
// multicast groups and packets of tunnels. Used under the device's lock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/configuration/configuration.h"
#include "host/models/model_link.h"
#include "host/ports/link_counters.h"
#include "host/ports/link_stack.h"
#include "host/ports/port_address.h"
#include "host/progress/clock.h"
#include "link/udp/host_addresses.h"

namespace verbs::soft::host {

struct PortSetup {
  bool has_tunnels() const { return hook.model && hook.model->tunnels; }

  const DeviceConfig& config;
  std::uint8_t port_num;  // from 1
  FrameHook hook;
  std::function<void()> notify;  // a frame arrived from this process: called by any thread, without the device's lock
  std::shared_ptr<link::Neighbour> entrance = nullptr;  // for messages from this process
  const link::OfferedMemory* offered = nullptr;         // to peers; it outlives the port
  std::shared_ptr<link::NumberRanges> numbers = link::NumberRanges::all();
};

// The addresses of the machine that a device without configured ones has beside its loopback address.
std::vector<wire::Gid> offered_addresses(const DeviceConfig& config);

// Calls that can fail return 0 or fail()'s errno.
class PortAddresses {
 public:
  // Claims the addresses of the configuration, or the first free loopback address.
  int open(const PortSetup& setup);

  // The addresses, at the start IPv4 first, and those that are offered.
  std::vector<wire::Gid> gids() const;
  // Those that are not claimed before somebody uses them, by add().
  const std::vector<wire::Gid>& offered() const { return offered_; }
  bool offers(const wire::Gid& address) const;
  // Looks now and then whether addresses of the machine have changed, and calls one of the two for each that has come
  // or gone. A socket of one that has gone stays, in case that it returns. Returns whether anything has changed.
  bool follow_host(Nanos now, const std::function<void(const wire::Gid&)>& come,
                   const std::function<void(const wire::Gid&)>& gone);
  // The link of all addresses. add() and remove() may replace it.
  link::Link& link() { return several_ ? static_cast<link::Link&>(*several_) : addresses_.front()->link(); }

  // Claims one more address: EADDRINUSE, EADDRNOTAVAIL. Releases one: ENOENT.
  int add(const wire::Gid& address);
  int remove(const wire::Gid& address);
  // From now on one IPv4 and one IPv6 address of each network interface receive packets to the multicast group.
  int join(const wire::Gid& group);
  void leave(const wire::Gid& group);
  // From now on all addresses receive packets of such tunnels.
  int listen(const wire::Tunnel& tunnel);
  void unlisten(const wire::Tunnel& tunnel);  // before the tunnel is destroyed

  // From now on packets to those numbers reach this process at all addresses, if they reach no other one.
  int serve(link::Range range);
  // From now on requests for the service reach this process. 0 or errno: EADDRINUSE if they reach another one.
  int open_service(const link::Service& service);
  // Whether this process has a service for every address of the machine, also for one that comes later.
  bool serves(const wire::Gid& address) const;
  void close_service(const link::Service& service);

  // As those of SocketGroup, for all addresses.
  bool is_settled() const;
  void give_up_waiting();

  // As those of ShmLink, for all addresses.
  void prepare_sleep();
  void stay_awake();
  void abandon();
  // When frames have waited long enough for a peer that reads nothing.
  link::Nanos next_deadline() const;

  // The sockets that are readable when frames wait.
  void add_sockets(std::vector<int>* sockets) const;
  void count(LinkCounters* counters) const;
  // "soft0/1", as in messages and captures.
  const std::string& port_name() const { return port_name_; }

 private:
  int claim(const wire::Gid& address, std::unique_ptr<PortAddress>* claimed) const;
  int claim_loopback();
  int join_each(const wire::Gid& group);
  std::vector<std::pair<wire::Gid, link::Link*>> links() const;
  void make_changeable();
  void join_again();

  bool has(const wire::Gid& address) const;

  std::string device_;
  std::string port_name_;
  PortLinks links_;
  std::function<void()> notify_;
  std::vector<std::unique_ptr<PortAddress>> addresses_;
  std::unique_ptr<AddressLink> several_;  // with more than one address, or once they have changed
  std::vector<const wire::Tunnel*> tunnels_;
  std::vector<wire::Gid> groups_;
  std::vector<link::Range> ranges_;  // beside the first one of the device
  std::vector<link::Service> services_;
  LinkCounters removed_;  // sums of removed addresses
  std::vector<wire::Gid> offered_;
  std::vector<wire::Gid> host_;       // of the machine, as the GID table has them
  std::vector<wire::Gid> elsewhere_;  // which other devices have
  link::AddressWatch watch_;
  Nanos watched_at_ = 0;
};

}  // namespace verbs::soft::host
