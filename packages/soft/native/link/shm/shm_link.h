// Frames between processes of one user on one host, through memory that they share. All other frames go to the next
// link: to other hosts and users, to groups, and to the ends of tunnels.
//
// The first frame to an address, and a range of queue pair numbers there, looks for the process that has them
// (peer_socket.h), and the next link has the frames until it responds. On an address that processes share, frames wait
// for the response if there is somebody to respond. Each direction is a connection of its own, with a ring (ring.h):
// who sends makes it, and the receiver maps it. So two ends that begin at the same time do not meet.
//
// Whoever sleeps waits for wait_fd(). A thread that polls looks at the rings each time, and at the sockets (new peers,
// peers that went, the next link's frames) the more seldom the longer nothing came there.
//
// Processes share an address: then the network may bring frames that are for another one of them
// (sharing/socket_group.h). They are forwarded to it, by connections that carry nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "link/link.h"
#include "link/sharing/number_ranges.h"
#include "link/sharing/socket_group.h"
#include "link/shm/incoming.h"
#include "link/shm/outgoing.h"

namespace verbs::soft::link {

struct ShmCounters {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t dropped = 0;    // for a peer that reads nothing, or that went
  std::uint64_t rejected = 0;   // received with addresses that are not those of the connection
  std::uint64_t pulled = 0;     // received frames whose payload was read from the sender's memory
  std::uint64_t mapped = 0;     // … which is mapped in both processes
  std::uint64_t unpulled = 0;   // … could not be read, so that the sender sends it
  std::uint64_t broken = 0;     // connections that ended because the peer wrote what no peer writes
  std::uint64_t forwarded = 0;  // received frames that were another process', which got them
  std::uint64_t unowned = 0;    // … which is not there any more
};

// How a link shares its address.
struct Sharing {
  std::shared_ptr<NumberRanges> numbers = NumberRanges::all();
  SocketGroup* group = nullptr;  // of its sockets; it outlives the link
  bool carries = true;           // false: it only forwards, and the frames from here go by the next link
};

class ShmLink final : public Link {
 public:
  using Clock = Outgoing::Clock;

  // `next` must outlive this link. 0 or errno. Where another user has taken the name of the address, or the kernel has
  // no such sockets, nobody connects, and peers use their next links.
  static int open(const wire::Gid& address, Link& next, Clock clock, std::unique_ptr<ShmLink>* link,
                  Sharing sharing = {});
  ~ShmLink() override;
  ShmLink(const ShmLink&) = delete;
  ShmLink& operator=(const ShmLink&) = delete;

  std::uint8_t* reserve() override { return reserved_ = next_.reserve(); }
  void commit(std::size_t size) override;
  void commit_unsealed(std::span<std::uint8_t> frame) override;
  bool takes_references(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) override;
  int route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu) override {
    return next_.route(source, destination, mtu);
  }
  void commit_referring(std::span<std::uint8_t> frame) override;
  MessageWay* message_way(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) override;
  void revoke_references() override;
  void flush() override;
  bool congested(const wire::Gid& destination, std::uint32_t qp_num) override;
  std::uint64_t relieve() override;
  std::uint16_t fixed_source_port() const override { return next_.fixed_source_port(); }
  std::size_t receive(Receiver& receiver, std::size_t budget) override;
  void advance(Nanos now) override { next_.advance(now); }
  Nanos next_deadline() const override;
  // Readable when a peer comes, goes or rings. The next link has its own descriptor.
  int wait_fd() const override { return epoll_; }

  // A thread is about to wait for the descriptors: from now on frames make one readable. Frames from before are found
  // by the next receive().
  void prepare_sleep();
  // A thread calls receive() all the time: frames need make nothing readable.
  void stay_awake();

  // From now on peers find this process for those numbers, too. 0 or errno: EADDRINUSE if they find another one.
  int serve(Range range) { return arrivals_.open_door(range); }
  void unserve(Range range) { arrivals_.close_door(range); }

  // What peers may map. It outlives this link.
  void offer(const OfferedMemory& memory) { offered_ = &memory; }

  // In a forked child: the connections are the parent's.
  void abandon();

  ShmCounters counters() const;

 private:
  struct Peer {
    std::unique_ptr<Outgoing> outgoing;
    int knocking = -1;   // a connection without its invitation
    Nanos retry_at = 0;  // nobody was there: when to look again
    Nanos backoff = 0;
    Nanos knocked_at = 0;
    std::uint64_t asked_in = 0;  // the batch in which the time was read last
    // To be sent once the connection is there.
    std::vector<std::pair<FrameForm, std::vector<std::uint8_t>>> early;
  };
  struct Target {
    auto operator<=>(const Target&) const = default;
    wire::Gid address;
    Range range;
    bool forwarding = false;
  };
  class Sorter;

  ShmLink(const wire::Gid& address, Link& next, Clock clock, int epoll, Sharing sharing);
  bool watch(int fd) const;
  bool is_for_peers(std::span<const std::uint8_t> frame) const;
  bool send_to_peer(std::span<const std::uint8_t> frame, FrameForm form);
  Outgoing* find(const Target& target);
  Outgoing* find_or_open(const Target& target);
  void look_for(const Target& target, Peer* peer);
  void open(const Target& target, Peer* peer);
  bool put(Outgoing& outgoing, std::span<const std::uint8_t> frame, FrameForm form);
  bool keep_early(std::pair<const Target, Peer>* entry, std::span<const std::uint8_t> frame, FrameForm form) const;
  bool forward(std::span<const std::uint8_t> frame, FrameForm form);
  void flush_rings();
  std::size_t receive_from_next(Receiver& receiver, std::size_t budget);
  void give_up(Peer* peer);
  static void postpone(Peer* peer, Nanos now);
  void end(Peer* peer);
  void offer_to_all();
  void note_held(bool held);
  void handle_sockets();
  std::size_t let_in(Receiver& receiver, std::size_t budget);
  void look_at_group(Receiver& receiver);
  void add(Arrival arrival);
  void handle_socket(int fd, bool hung_up);
  bool is_look_due();
  std::size_t receive_from_rings(Receiver& receiver, std::size_t budget);
  void remove_ended();

  wire::Gid address_;
  Link& next_;
  Clock clock_;
  int epoll_;
  Sharing sharing_;
  Arrivals arrivals_;
  bool arrived_ = false;
  bool group_calls_ = false;
  bool forwards_ = false;
  ShmCounters counters_;

  std::map<Target, Peer> peers_;
  std::pair<const Target, Peer>* last_ = nullptr;  // the peer of the last frame
  std::vector<Outgoing*> unflushed_;
  std::size_t holding_ = 0;  // connections with frames that wait
  std::uint64_t relieved_ = 0;
  std::uint64_t batch_ = 1;
  const OfferedMemory* offered_ = nullptr;
  std::uint64_t offered_version_ = 0;  // … that all peers know
  std::uint8_t* reserved_ = nullptr;

  std::vector<std::unique_ptr<Incoming>> incoming_;
  std::size_t first_ = 0;   // the connection that is read first, round robin
  std::uint32_t bell_ = 2;  // ring.h: `wanted`
  unsigned skipped_ = 0;    // calls of receive() since the last look at the sockets
  unsigned skips_ = 0;      // … until the next one, if more than a few; 0: the next link had frames at the last one
  Nanos looked_at_ = 0;     // the last look of those that the clock decides
  bool must_look_ = true;
  std::uint8_t room_[wire::kMaxFrame];
};

}  // namespace verbs::soft::link
