// The NIC: one RoCE v2 adapter as a pure state machine. It opens no socket, reads no clock and starts no thread: frames
// come in through deliver(), go out through each port's Transmitter, and time is an argument. Its vocabulary is the
// structures of <infiniband/verbs.h>. Not thread-safe: the host holds one lock around a device.
//
// Control calls return 0 or a positive errno value, as the verbs do. Objects belong to the Nic that made them.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "link/link.h"
#include "nic/raw/frame_steering.h"
#include "nic/shared/event.h"
#include "nic/shared/limits.h"
#include "nic/shared/time.h"
#include "wire/tunnel.h"

namespace verbs::soft::nic {

class Dm;
class DmPool;
class Pd;
class Mr;
class Mw;
class Cq;
class Qp;
class Ah;
class Srq;
class Xrcd;
struct Counters;
struct FrameCounters;

struct PortConfig {
  link::Transmitter* transmitter = nullptr;
  std::vector<wire::Gid> gids;  // index 0 first
  ibv_mtu max_mtu = IBV_MTU_4096;
  ibv_mtu active_mtu = IBV_MTU_4096;
  bool up = true;
  link::Transmitter* frames = nullptr;  // where Ethernet frames go, if the NIC has raw packets
};

struct NicConfig {
  std::uint64_t guid = 0;  // host byte order
  Limits limits;
  std::vector<PortConfig> ports;      // port_num 1 is ports[0]
  bool fills_checksums = false;       // of raw packets, for IBV_SEND_IP_CSUM
  FrameSteering* steering = nullptr;  // who decides about raw packets; without it there are none
};

struct CqOptions {
  bool timestamps = false;
  bool ignore_overrun = false;
  bool tags = false;
};

// What a model's steering has to say about a received frame.
struct FrameTags {
  std::uint32_t flow_tag = 0;
  std::uint16_t cvlan = 0;
};

struct Completion {
  ibv_wc wc;
  Nanos at;        // when it came, if the CQ has timestamps; else 0
  FrameTags tags;  // if the CQ has them; else zeros
};

// What a QP is made of.
struct QpParts {
  Pd* pd = nullptr;
  Cq* send_cq = nullptr;
  Cq* recv_cq = nullptr;
  Srq* srq = nullptr;    // or nullptr: a receive queue of its own
  Xrcd* xrcd = nullptr;  // of an XRC target, which has nothing else of these; an initiator has no recv_cq
};

// What makes a shared receive queue one for XRC.
struct SrqXrc {
  Xrcd* xrcd = nullptr;
  Cq* cq = nullptr;  // where its requests complete
};

// The file that names an XRC domain.
struct XrcdFile {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

class Nic {
 public:
  Nic(NicConfig config, EventSink& events);
  ~Nic();
  Nic(const Nic&) = delete;
  Nic& operator=(const Nic&) = delete;

  // -- queries
  void query_device(ibv_device_attr* attr) const;
  int query_port(std::uint8_t port_num, ibv_port_attr* attr) const;
  int query_gid(std::uint8_t port_num, int index, wire::Gid* gid) const;
  int query_pkey(std::uint8_t port_num, int index, std::uint16_t* pkey) const;  // network byte order, as ibv_query_pkey
  const Counters& counters() const;
  const FrameCounters& frame_counters() const;

  // -- what happens to a port while it runs. EINVAL if there is none of that number.
  // Nothing leaves or enters a port that is down: queue pairs run into their timeouts. IBV_EVENT_PORT_ERR and _ACTIVE.
  int set_link(std::uint8_t port_num, bool up);
  // As Port's functions of that name. IBV_EVENT_GID_CHANGE. What sends from a removed GID sends nothing any more.
  int add_gid(std::uint8_t port_num, const wire::Gid& gid, std::uint32_t* index);
  int remove_gid(std::uint8_t port_num, const wire::Gid& gid);
  // For datagrams from now on, and for the connections that are made from now on. Like the kernel, without an event.
  int set_mtu(std::uint8_t port_num, ibv_mtu mtu);
  // The device fails: every queue pair goes to the error state, its work flushed, and IBV_EVENT_DEVICE_FATAL is told.
  void fail();

  // -- control path. `owner` is the caller's own pointer, handed back in events and by owner().
  int alloc_pd(Pd** pd);
  int dealloc_pd(Pd* pd);
  void retain_pd(Pd* pd);  // one more user, which the NIC does not know
  void release_pd(Pd* pd);
  int reg_mr(Pd* pd, void* addr, std::size_t length, std::uint64_t iova, unsigned access, Mr** mr);
  int alloc_null_mr(Pd* pd, Mr** mr);
  int reg_dm_mr(Pd* pd, std::shared_ptr<Dm> dm, std::uint64_t offset, std::size_t length, unsigned access, Mr** mr);
  int rereg_mr(Mr* mr, int flags, Pd* pd, void* addr, std::size_t length, unsigned access);
  int dereg_mr(Mr* mr);  // EINVAL while windows are bound to it
  int alloc_mw(Pd* pd, ibv_mw_type type, Mw** mw);
  int dealloc_mw(Mw* mw);
  // The application's memory behind an entry of ibv_advise_mr(), whose advice the caller carries out without the lock.
  int advised_range(const Pd* pd, const ibv_sge& sge, bool for_writing, void** address) const;
  int create_cq(int cqe, void* owner, Cq** cq, const CqOptions& options = {});
  int resize_cq(Cq* cq, int cqe);
  int moderate_cq(Cq* cq, std::uint32_t count, Nanos period);
  int destroy_cq(Cq* cq);
  int create_ah(Pd* pd, const ibv_ah_attr* attr, Ah** ah);
  int destroy_ah(Ah* ah);
  // Updates *attr; the limit is armed by modify_srq().
  int create_srq(Pd* pd, ibv_srq_attr* attr, void* owner, Srq** srq, const SrqXrc& xrc = {});
  int modify_srq(Srq* srq, const ibv_srq_attr* attr, int mask);
  int query_srq(const Srq* srq, ibv_srq_attr* attr) const;
  int destroy_srq(Srq* srq);
  // With a file: the domain that it names already (EINVAL if `exclusive`), or a new one (EAGAIN unless `create`).
  // With nullptr: a new one of its own. Each open is closed; EBUSY for the last one while something is in the domain.
  int open_xrcd(const XrcdFile* file, bool create, bool exclusive, Xrcd** xrcd);
  int close_xrcd(Xrcd* xrcd);
  int find_target_qp(const Xrcd* xrcd, std::uint32_t number, Qp** qp) const;          // EINVAL: not in that domain
  int create_qp(const QpParts& parts, ibv_qp_init_attr* attr, void* owner, Qp** qp);  // updates attr->cap
  int modify_qp(Qp* qp, const ibv_qp_attr* attr, int mask, Nanos now);
  int query_qp(const Qp* qp, ibv_qp_attr* attr, ibv_qp_init_attr* init_attr) const;  // leaves pd/cq/srq pointers alone
  int destroy_qp(Qp* qp);  // EBUSY while it is attached to a multicast group
  void set_owner(Qp* qp, void* owner);
  // Gives a QP in RESET a number of the caller's choice. EINVAL for a number that create_qp may give out, for one of
  // more than 24 bits and in another state; EADDRINUSE if it is taken.
  int renumber_qp(Qp* qp, std::uint32_t number);

  // -- tunnels: an open one is listened for on its port.
  void open_tunnel(std::uint8_t port_num, std::shared_ptr<const wire::Tunnel> tunnel);
  void close_tunnel(std::uint8_t port_num, const std::shared_ptr<const wire::Tunnel>& tunnel);
  // By which tunnel the requests, or the responses, of an RC QP travel and must arrive; nullptr is plain RoCE v2.
  void set_tunnel(Qp* qp, bool requests, std::shared_ptr<const wire::Tunnel> tunnel);

  // The time of the calls that have none of their own; deliver() and pump() set it too.
  void set_time(Nanos now);
  // Multicast groups of UD queue pairs (multicast.h). `first` and `last` tell when the links have to join or leave.
  int attach_mcast(Qp* qp, const wire::Gid& group, bool* first);
  int detach_mcast(Qp* qp, const wire::Gid& group, bool* last);
  std::vector<wire::Gid> groups_of(const Qp* qp) const;

  DmPool& device_memory();  // by any thread, without the lock

  // -- data path: nothing here allocates.
  int req_notify_cq(Cq* cq, bool solicited_only);
  int poll_cq(Cq* cq, int count, ibv_wc* wc);  // only what is already there; the host makes progress around it
  bool take_completion(Cq* cq, Completion* completion);              // one; false when there is none
  int post_send(Qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr);      // queues; pump() sends
  int post_batch(Qp* qp, ibv_send_wr* wr);                           // all of them or none
  int bind_mw(Qp* qp, const ibv_mw_bind* bind, std::uint32_t rkey);  // type 1; `rkey` is the window's next key
  int post_recv(Qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
  int post_srq_recv(Srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);

  // -- progress
  // A frame arrived on a port. May write memory, complete work requests and raise events; sends nothing.
  void deliver(std::uint8_t port_num, std::span<const std::uint8_t> frame, Nanos now);
  // An Ethernet frame arrived on a port, or comes back to the one that sent it. The steering decides where it goes.
  void take_frame(std::uint8_t port_num, std::span<const std::uint8_t> frame, bool looped, Nanos now);
  // For the steering: sends a frame from a port, gives one to a queue pair. See verbs_soft_extension.h.
  int transmit_frame(std::uint8_t port_num, const verbs_soft_frame& frame);
  int deliver_frame(Qp* qp, const verbs_soft_frame& frame, const verbs_soft_delivery& delivery);
  std::uint32_t frame_limit(std::uint8_t port_num) const;  // 0 if there is no such port
  int set_self_loopback(Qp* qp, bool allowed);
  // Sends what is due: new and repeated requests as windows allow, read responses, acknowledgements; fires timers that
  // are due by `now`. Bounded work: false while more could be sent at once. The host flushes the transmitters after it.
  bool pump(Nanos now);
  bool has_output() const;      // pump() would send something now
  Nanos next_deadline() const;  // when pump() is needed next if nothing arrives; kNever without timers

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

// What a caller may read of an object.
std::uint32_t qp_num(const Qp* qp);
ibv_qp_state qp_state(const Qp* qp);
void* owner_of(const Qp* qp);
void* owner_of(const Cq* cq);
std::uint32_t srq_num(const Srq* srq);
void* owner_of(const Srq* srq);
int cqe_of(const Cq* cq);              // as created: what ibv_cq.cqe shows
std::size_t pending_of(const Cq* cq);  // entries that poll_cq would return now
ibv_ah* verbs_of(Ah* ah);              // what the application holds; its context and pd are for the caller to fill in
std::uint32_t lkey_of(const Mr* mr);
std::uint32_t rkey_of(const Mr* mr);
std::uint32_t rkey_of(const Mw* mw);

}  // namespace verbs::soft::nic
