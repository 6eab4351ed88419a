// The connection manager of a device: a state machine without I/O. Messages come in through deliver(), leave through an
// Outlet, and time is an argument. Not thread-safe: the host holds the device's lock.
//
// A message that expects a response is sent up to 16 times (a DREQ 8 times): after 250 ms, 500 ms, and then each
// second, so that a peer that does not respond is unreachable after 16 seconds (a DREQ is given up after 8). A peer
// whose program takes its time responds to a repeated message with an MRA. It is asked 3 times more from then on, every
// 4 seconds, and responds with an MRA again as long as its process exists.
//
// A process that is killed says nothing. So each peer with connections is asked about one of them every 2 seconds, by a
// LAP: a peer that does not know the connection rejects it, and one that falls silent is gone after 8 seconds. A peer
// is a device of a process: its address and GUID, because others have the address too, or may have it next. The
// kernel's connection manager does not answer on RoCE, and is never taken for gone.
//
// A connection lives until its owner has released it and the protocol has ended: the end of a released connection is
// still retransmitted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>

#include "cm/connection.h"
#include "verbs_soft_cm.h"
#include "wire/gid.h"

namespace verbs::soft::cm {

// Who listens for which service at which address.

class Listeners {
 public:
  // 0, or EADDRINUSE if another listener takes requests of the same kind for the same service and address.
  int add(const verbs_soft_cm_listen_attr& attr, const Owner& owner, std::uint32_t* listener);
  void remove(std::uint32_t listener) { listeners_.erase(listener); }
  // What it was added with; nullptr: there is none.
  const verbs_soft_cm_listen_attr* find(std::uint32_t listener) const {
    const auto found = listeners_.find(listener);
    return found != listeners_.end() ? &found->second.attr : nullptr;
  }
  bool empty() const { return listeners_.empty(); }

  // Who gets a request to that address: a listener of the address itself before one of all addresses. nullptr: nobody.
  const Owner* find(std::uint64_t service_id, bool datagrams, const wire::Gid& address) const;

 private:
  struct Listener {
    bool takes(std::uint64_t wanted, bool datagram, bool ipv4) const {
      return service_id == wanted && datagrams == datagram && (families == 0 || families == (ipv4 ? 4 : 6));
    }

    std::uint64_t service_id;
    wire::Gid address;
    std::uint8_t families;
    bool datagrams;
    Owner owner;
    verbs_soft_cm_listen_attr attr;
  };

  std::map<std::uint32_t, Listener> listeners_;
  std::uint32_t next_ = 1;
};

// Takes the messages that leave, to queue pair 1 of the peer.
class Outlet {
 public:
  virtual void send_mad(std::uint8_t port_num, const wire::Path& path, MadView mad) = 0;
  // The largest path MTU of a way (enum ibv_mtu).
  virtual std::uint8_t path_mtu(std::uint8_t port_num, const wire::Path& path) {
    return (void)port_num, (void)path, IBV_MTU_4096;
  }
  // Another process of this host may listen at the same address.
  // Announces a listener. 0, or EADDRINUSE if another process has one for the same service.
  virtual int announce(const verbs_soft_cm_listen_attr& attr) { return (void)attr, 0; }
  virtual void withdraw(const verbs_soft_cm_listen_attr& attr) { (void)attr; }
  // Hands a request to the process that listens for the service at the address; `path` leads back to its sender. False:
  // none does.
  virtual bool hand_over(const wire::Path& path, std::uint64_t service_id, bool datagrams, const wire::Gid& address,
                         MadView mad) {
    return (void)path, (void)service_id, (void)datagrams, (void)address, (void)mad, false;
  }

 protected:
  ~Outlet() = default;
};

struct Config {
  std::uint64_t guid = 0;  // of the device of this process: its processes are told apart by it
  std::uint64_t seed = 0;  // of the numbers of connections
  // Those numbers are this one plus what the mask leaves: other processes at the same address have others.
  std::uint32_t id_base = 0;
  std::uint32_t id_mask = 0xffffffff;
  std::size_t max_connections = 1 << 17;
};

// The hop limit of a request that another process of this host has handed over: it goes no further.
inline constexpr std::uint8_t kPassedHops = 0;

class Manager {
 public:
  Manager(const Config& config, Outlet& outlet);
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // -- the calls of verbs_soft_cm_table, by its rules
  int listen(const verbs_soft_cm_listen_attr& attr, const Owner& owner, Nanos now, std::uint32_t* listener);
  void unlisten(std::uint32_t listener);
  int connect(const verbs_soft_cm_connect_attr& attr, const Owner& owner, Nanos now, std::uint32_t* connection);
  int accept(std::uint32_t id, const verbs_soft_cm_end& end, Data data, Nanos now);
  int ready(std::uint32_t id, Data data, Nanos now);
  int reject(std::uint32_t id, int reason, Data data, Nanos now);
  int establish(std::uint32_t id, Nanos now);
  int disconnect(std::uint32_t id, Data data, Nanos now);
  int lookup(const verbs_soft_cm_lookup_attr& attr, const Owner& owner, Nanos now, std::uint32_t* connection);
  int answer(std::uint32_t id, int status, std::uint32_t qpn, std::uint32_t qkey, Data data, Nanos now);
  void release(std::uint32_t id, Nanos now);

  // A datagram for queue pair 1 arrived from the sender of `path`. Any bytes are allowed.
  void deliver(std::uint8_t port_num, const wire::Path& path, std::span<const std::uint8_t> bytes, Nanos now);
  // Sends again what is due, and gives up what was sent often enough.
  void advance(Nanos now);
  Nanos next_deadline() const {
    const Nanos timer = std::min(next_watch_, timers_.empty() ? kNever : timers_.begin()->first);
    return held_.empty() ? timer : std::min(timer, held_.front().look_at);
  }
  // The process ends: tells every peer, once.
  void shut_down();

  std::size_t size() const { return connections_.size(); }

 private:
  // An address, the GUID of the device there, and a number of the device's. Without the address, any host could speak
  // of the connections of another one.
  using Peer = std::tuple<wire::Gid, std::uint64_t, std::uint32_t>;

  // -- the table
  Connection* create(State state, const Owner& owner);
  Connection* find(std::uint32_t id) const;
  Connection* find(std::uint32_t id, State state) const;
  // The connection that a message of the peer names.
  Connection* find_for(std::uint32_t id, std::uint32_t remote_id, const wire::Path& path) const;
  void forget_peer(Connection& connection);
  // The protocol has ended. `connection` may be gone then.
  void close(Connection& connection);
  // What release() has to tell the peer.
  void part(Connection& connection, Nanos now);
  // The first message of a new connection. Without memory there is none afterwards.
  void begin(Connection& connection, const Mad& mad, Nanos now, std::uint32_t* id);
  void wait_out(Connection& connection, Nanos now);
  void arm(Connection& connection, Nanos deadline);

  // -- peers with connections that stand
  struct Watched {
    auto operator<=>(const Watched&) const = default;
    wire::Gid address;
    std::uint64_t guid;
  };
  struct Watch {
    Nanos due;
    bool answers;            // it is one that does, or has done so
    std::uint32_t last = 0;  // the connection that was asked about
    int silent = 0;          // questions without an answer
  };
  static Watched watched(const Connection& connection) { return {connection.path.dgid, connection.remote_guid}; }
  void enter_established(Connection& connection, Nanos now);
  void leave_established(const Connection& connection);
  void watch_peers(Nanos now);
  bool ask(const Watched& peer, Watch& watch, Nanos now);  // false without connections
  void lose_peer(const Watched& peer, Nanos now);

  // -- messages
  void send(const Connection& connection, const Mad& mad) {
    outlet_.send_mad(connection.port_num, connection.path, mad);
  }
  // Keeps the message, sends it, and again until there is a response.
  void send_until_response(Connection& connection, const Mad& mad, int sends, Nanos now);
  bool request_smaller_mtu(Connection& connection, const Rej& rej, Nanos now);
  void send_reject(const Connection& connection, About about, int reason, Data data);
  void send_mra(const Connection& connection, About about);
  void send_drep(Connection& connection, Data data);
  // Both, or, without memory, neither.
  void send_and_arm(Connection& connection, const Mad& mad, Nanos deadline);
  void send_dreq(Connection& connection, Data data, Nanos now);
  std::uint64_t new_transaction(std::uint32_t id);
  // To the sender of a message that belongs to no connection.
  template <typename Message>
  void respond(std::uint8_t port_num, const wire::Path& path, std::uint64_t transaction, Attribute attribute,
               const Message& message);

  struct Arrival {
    std::uint8_t port_num;
    wire::Path path;  // back to the sender
    std::uint64_t transaction;
    MadView mad;
    Nanos now;
    bool held = false;    // it has waited for a listener
    bool passed = false;  // another process has handed it over
  };
  // A request that nobody listens for yet. It waits a little: programs connect to a service that is about to listen, as
  // hardware, whose addresses take time to resolve, lets them.
  struct Held {
    std::uint8_t port_num;
    wire::Path path;
    Mad mad;
    Nanos deadline;
    bool passed;
    Nanos look_at;  // whether another process listens by now
  };
  // False if it has waited already, or too many do.
  bool hold(const Arrival& arrival);
  bool pass_on(const wire::Path& path, bool passed, MadView mad);
  void receive_held(const Held& held, Nanos now);
  void receive_req(const Arrival& arrival);
  bool receive_repeated_req(const wire::Gid& from, const Req& req);
  void receive_rep(const Arrival& arrival);
  void receive_rtu(const Arrival& arrival);
  void receive_rej(const Arrival& arrival);
  void receive_mra(const Arrival& arrival);
  void receive_dreq(const Arrival& arrival);
  void receive_drep(const Arrival& arrival);
  void receive_lap(const Arrival& arrival);
  void receive_apr(const Arrival& arrival);
  void receive_sidr_req(const Arrival& arrival);
  void receive_sidr_rep(const Arrival& arrival);
  void expire(Connection& connection, Nanos now);
  void give_up(Connection& connection, Nanos now);

  // -- events
  static verbs_soft_cm_event event_of(const Connection& connection, verbs_soft_cm_event_type type, Data data = {});
  static void report(const Connection& connection, const verbs_soft_cm_event& event);

  Config config_;
  Outlet& outlet_;
  Listeners listeners_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Connection>> connections_;
  std::map<Peer, std::uint32_t> requests_;  // received requests, by the peer's number of them
  std::map<Peer, std::uint32_t> peers_;     // connections, by the peer's queue pair
  std::map<std::pair<wire::Gid, std::uint32_t>, std::uint32_t> lookups_;  // received, by the peer's number of them
  std::set<std::pair<Nanos, std::uint32_t>> timers_;
  std::map<Watched, Watch> watches_;
  std::set<std::pair<Watched, std::uint32_t>> established_;
  Nanos next_watch_ = kNever;
  std::deque<Held> held_;  // the oldest first
  std::uint32_t next_id_;
  std::uint16_t next_transaction_ = 0;
};

}  // namespace verbs::soft::cm
