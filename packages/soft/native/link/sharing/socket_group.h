// The sockets that the processes of one user have bound to the same address (SO_REUSEPORT), and how each datagram finds
// the right one of them. The kernel asks a program that knows the place of each process in the group
// (steering_program.h). There is no daemon and no owner: every process knows the places of all, and whoever learns
// something new attaches a new program.
//
// A place is no fixed thing. When a socket closes, the last one of the group takes its place, and nobody tells. So a
// process finds out for itself: it sends a probe to each place, and the first one that it receives says where it is. It
// probes when it comes, when another process goes or dies, and when a frame came to the wrong process. Frames that did
// are handed over to the right one (shm_link.h), so that a wrong place costs time and no frame.
//
// Processes tell each other of their places by letters, each with everything that its sender knows. The newest word
// counts. A place of a process that is gone harms nobody: its numbers are nobody's. Who has just come knows of nobody:
// it leaves the program to those who know of all, unless they say nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "link/link.h"
#include "link/sharing/mailbox.h"
#include "link/sharing/number_ranges.h"
#include "link/sharing/steering_program.h"

namespace verbs::soft::link {

// A service of the connection manager. Its address is what its program listens at, and its clients ask for: zeros for
// every one of the families (4, 6, or 0 for both). Requests come to an address of the device, which may be another one:
// all loopback addresses are the machine's.
struct Service {
  bool operator==(const Service&) const = default;
  bool is_at(const wire::Gid& device) const {
    const std::uint8_t family = device.is_ipv4() ? 4 : 6;
    return address.is_zero() ? families == 0 || families == family : address.is_ipv4() == device.is_ipv4();
  }

  std::uint64_t id = 0;
  bool datagrams = false;
  wire::Gid address{};
  std::uint8_t families = 0;
};

class SocketGroup {
 public:
  // `socket` is bound to the address and the port, with SO_REUSEPORT. It is closed before this object is destroyed,
  // which tells the others.
  SocketGroup(const wire::Gid& address, int socket, std::uint16_t port, std::shared_ptr<NumberRanges> numbers);
  ~SocketGroup();
  SocketGroup(const SocketGroup&) = delete;
  SocketGroup& operator=(const SocketGroup&) = delete;

  // Comes in. 0, or errno without descriptors for it.
  int open();
  // From now on the set of descriptors has those which are readable when letters came, or a process of the group died.
  // It has no set of its own: the kernel allows four in each other, and programs and event loops have theirs. -1: no
  // set any more. False, with errno: without memory.
  bool watch_by(int epoll);
  // Whether the descriptor is one of those.
  bool watches(int fd) const;
  // Reads them. Frames in letters are handed to `receiver`.
  void look(Receiver& receiver);
  // Whether the kernel chooses this process for its numbers, as another one has said, or nobody else is here.
  bool is_settled() const { return members_.empty() || confirmed_; }
  // The others have said nothing for a while: they are stopped.
  void give_up_waiting();
  // A frame for which range_of() is kProbeRange.
  void take_probe(std::span<const std::uint8_t> frame);
  // A frame came to the wrong process: this one was not meant, or got it from one that was not.
  void note_stray(Nanos now);
  // This process has one more range.
  void add_range(Range range);

  // Requests for the service come as letters from now on. 0 or errno: EADDRINUSE if another process has it here.
  int open_service(const Service& service);
  void close_service(const Service& service);
  // Hands a request to the process that has the service at the frame's destination, or has it for every address. 0, or
  // ECONNREFUSED: none has.
  static int send_request(const Service& service, std::span<const std::uint8_t> frame);
  // Hands a frame to the process that has the range at the frame's destination. It has come then, whatever becomes of
  // the sender. 0, or ECONNREFUSED: there is none on this host.
  static int send_frame(Range range, std::span<const std::uint8_t> frame);

  // In a forked child: the group is the parent's.
  void abandon();

 private:
  struct Known {
    Place place;
    std::uint64_t since;  // of two words about a range the newer one counts
  };
  static std::string name_of(const Service& service, const wire::Gid& device);
  std::string name_of_member(Range range) const;
  void greet();
  void say_farewell();
  void probe(bool tell_anyway);
  void set_place(Place place);
  void read_table(const Letter& letter);
  void tell(Range member, bool wants_answer);
  void tell_all();
  void attach(bool alone = false);
  bool watch(int fd) const;
  void accompany(Range member, pid_t process);
  void bury(Range member);

  wire::Gid address_;
  int socket_;
  std::uint16_t port_;
  std::shared_ptr<NumberRanges> numbers_;
  int epoll_ = -1;  // its user's
  Mailbox mailbox_;
  std::vector<std::pair<Service, std::string>> services_;  // and their names
  std::map<Range, Known> places_;
  std::map<Range, int> members_;  // the first range of each other process, and a descriptor of it, or -1
  std::uint32_t probe_ = 0;       // the number of the last one
  bool probing_ = false;
  bool informed_ = false;   // somebody has told what it knows
  bool confirmed_ = false;  // … of this process
  bool tell_anyway_ = false;
  Nanos strays_after_ = 0;  // strays before then were noted
  Nanos stray_pause_ = 0;
};

}  // namespace verbs::soft::link
