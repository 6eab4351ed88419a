// What stands behind a rdma_cm_id.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "model/device/devices.h"
#include "model/device/neighbours.h"
#include "model/event/channel.h"
#include "verbs_soft_cm.h"

namespace verbs::rdmacm::model {

// As in the kernel's rdma_cm.
enum class State : std::uint8_t {
  kIdle,
  kBound,
  kAddressResolved,
  kRouteResolved,
  kConnecting,  // also when connected
  kListening,
  kRequested,  // made by a request that waits for accept or reject
};

struct FreeAddrinfo {
  void operator()(rdma_addrinfo* info) const { rdma_freeaddrinfo(info); }
};
using Addrinfo = std::unique_ptr<rdma_addrinfo, FreeAddrinfo>;

struct Group {
  Gid gid;
  bool sends_only;  // its datagrams are not for the queue pair
  bool attached = false;
  unsigned reported = 0;  // events of its joining that the program has, and has not acknowledged
  bool leaving = false;
};

struct Id;

// A listening identifier on one device.
struct Listening {
  Id* id;
  Device* device;
  std::uint32_t number;
  std::unique_ptr<Announcement> announcement;
};

struct Id {
  rdma_cm_id cm{};  // what the program holds; first

  Device* device() const { return place.device; }
  bool is_datagram() const { return cm.qp_type == IBV_QPT_UD; }
  // Of which its connections are: the kernel asks only the port space IB for a type.
  ibv_qp_type connected_type() const { return cm.ps == RDMA_PS_IB ? cm.qp_type : IBV_QPT_RC; }
  sockaddr* source() { return &cm.route.addr.src_addr; }
  sockaddr* destination() { return &cm.route.addr.dst_addr; }

  State state = State::kIdle;
  Place place;
  Channel* channel = nullptr;            // where its events go
  std::unique_ptr<Channel> own_channel;  // of an identifier without one of the program: its calls wait
  bool is_sync() const { return own_channel != nullptr; }
  bool holds_port = false;

  // Events that the program got, and that it acknowledged.
  unsigned reported = 0;
  unsigned acknowledged = 0;
  // For what happens to its connection when there is no memory for an event: it is not lost.
  EventQueue spare;

  void* listener_context = nullptr;  // of a request: what its `context` is until the program sets another one
  std::uint32_t connection = 0;      // in the connection manager; 0: none
  std::vector<std::unique_ptr<Listening>> listeners;
  std::vector<std::unique_ptr<Announcement>> announcements;  // of the address that the program has bound
  int backlog = 0;
  int pending = 0;  // requests that the program has not got yet

  bool withdrawn = false;     // by its peer, before it was accepted
  bool accepted = false;      // from before the reply on
  bool disconnected = false;  // the program was told, or will be
  bool connecting = false;    // its queue pair has been on its way to RTS
  std::uint32_t qp_num = 0;   // that the peer was told

  // The connection's parameters.
  verbs_soft_cm_path path{};
  verbs_soft_cm_end peer{};  // of a request or a reply
  std::uint32_t psn = 0;
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry_count = 7;
  std::uint8_t path_mtu = IBV_MTU_1024;
  std::uint8_t ack_timeout = 0;
  std::uint32_t qkey = RDMA_UDP_QKEY;

  Addrinfo resolved;  // by rdma_resolve_addrinfo(), until rdma_query_addrinfo() takes it

  // What the program connects with, in case that the service comes a moment later.
  struct Request {
    std::optional<rdma_conn_param> param;
    std::vector<std::uint8_t> data;
    int tries = 0;
  } request;

  // Options.
  std::uint8_t traffic_class = 0;
  bool reuse_address = false;
  bool family_only = false;
  int chosen_ack_timeout = -1;
  ibv_ece ece{};

  std::list<Group> groups;
  // Of rdma_create_ep(): the queue pairs of accepted connections.
  std::unique_ptr<ibv_qp_init_attr> qp_attr;
};

// The end of a connection's life has at most so many events.
inline constexpr int kSpareEvents = 4;

inline Id* of(rdma_cm_id* id) { return reinterpret_cast<Id*>(id); }

}  // namespace verbs::rdmacm::model
