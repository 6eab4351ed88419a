#include "link/shm/shm_link.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "link/doors/local_socket.h"
#include "link/neighbour.h"
#include "verbs_soft_boundary.h"
#include "verbs_soft_cancel.h"
#include "wire/bytes.h"

namespace verbs::soft::link {
namespace {

// Calls of receive() between two looks at the sockets.
constexpr unsigned kLeastSkipped = 8;
constexpr unsigned kMostSkipped = 64;
// … and the time between them, once the calls are that many.
constexpr Nanos kPause = 100'000;
constexpr std::size_t kMostIncoming = 1024;
constexpr std::size_t kMostPeers = 4096;  // addresses that the link remembers
constexpr std::size_t kMostEarly = 256;   // frames to one process
constexpr Nanos kEarly = 10'000'000;      // … and for how long they wait
constexpr Nanos kFirstBackoff = 10'000'000;
constexpr Nanos kLastBackoff = 100'000'000;
constexpr std::uint8_t kUdpProtocol = 17;

void add_up(const Incoming& incoming, ShmCounters* counters) {
  counters->rejected += incoming.rejected();
  counters->pulled += incoming.pulled();
  counters->mapped += incoming.mapped();
  counters->unpulled += incoming.unpulled();
}

bool is_asked_for(std::uint32_t bell) { return bell % 2 == 1; }

}  // namespace

// What the network brings: frames that are for another process that shares the address go there.
class ShmLink::Sorter final : public Receiver {
 public:
  Sorter(ShmLink& link, Receiver& receiver) : link_(link), receiver_(receiver) {}
  void deliver(std::span<const std::uint8_t> frame) override { sort(frame, FrameForm::kSealed); }
  void deliver_unsealed(std::span<const std::uint8_t> frame) override { sort(frame, FrameForm::kUnsealed); }
  void refuse(const wire::Path& path) override { receiver_.refuse(path); }

 private:
  void sort(std::span<const std::uint8_t> frame, FrameForm form) {
    const Range range = range_of(frame);
    if (range == kAnyRange || link_.sharing_.numbers->owns(range)) {
      receiver_.deliver_as(form, frame);
    } else if (range != kProbeRange) {
      // The NIC says that nobody has the number.
      if (!link_.forward(frame, form)) receiver_.deliver_as(form, frame);
    } else if (link_.sharing_.group != nullptr) {
      const auto take = [&] { return link_.sharing_.group->take_probe(frame), 0; };
      contain(take, [](int) { return 0; });
    }
  }

  ShmLink& link_;
  Receiver& receiver_;
};

int ShmLink::open(const wire::Gid& address, Link& next, Clock clock, std::unique_ptr<ShmLink>* link, Sharing sharing) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return errno;
  try {
    link->reset(new ShmLink(address, next, clock, epoll, std::move(sharing)));
  } catch (...) {  // there is no memory
    close(epoll);
    throw;
  }
  ShmLink& made = **link;
  const NumberRanges& numbers = *made.sharing_.numbers;
  // Another user may have the name.
  (void)made.arrivals_.open_door(numbers.has_all() ? kAnyRange : numbers.first());
  const int arrivals = made.arrivals_.fd();
  SocketGroup* group = made.sharing_.group;
  const bool watched = (arrivals < 0 || made.watch(arrivals)) && (group == nullptr || group->watch_by(epoll));
  if (watched) return 0;
  const int error = errno;
  link->reset();
  return error;
}

ShmLink::ShmLink(const wire::Gid& address, Link& next, Clock clock, int epoll, Sharing sharing)
    : address_(address), next_(next), clock_(clock), epoll_(epoll), sharing_(std::move(sharing)), arrivals_(address) {}

ShmLink::~ShmLink() {
  for (Outgoing* outgoing : unflushed_) outgoing->flush();
  for (auto& [address, peer] : peers_) {
    if (peer.knocking >= 0) hang_up(peer.knocking);
  }
  if (sharing_.group != nullptr) sharing_.group->watch_by(-1);
  if (epoll_ >= 0) close(epoll_);
}

void ShmLink::abandon() {
  unflushed_.clear();
  for (const auto& incoming : incoming_) incoming->abandon();
  for (auto& [address, peer] : peers_) {
    if (peer.outgoing) peer.outgoing->abandon();
    if (peer.knocking >= 0) close(std::exchange(peer.knocking, -1));
  }
  arrivals_.abandon();
  if (epoll_ >= 0) close(std::exchange(epoll_, -1));
}

bool ShmLink::watch(int fd) const {
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP, .data = {.fd = fd}};
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

ShmCounters ShmLink::counters() const {
  ShmCounters all = counters_;
  for (const auto& incoming : incoming_) add_up(*incoming, &all);
  for (const auto& [target, peer] : peers_) {
    if (peer.outgoing) all.sent += peer.outgoing->messages();
  }
  return all;
}

// -- sending

// Plain RoCE v2 from this address: what else passes is a tunnel's.
bool ShmLink::is_for_peers(std::span<const std::uint8_t> frame) const {
  const std::size_t network = wire::network_size_of(frame);
  if (network == 0 || (network < wire::kMaxNetworkSize) != address_.is_ipv4()) return false;
  const std::uint8_t protocol = frame[address_.is_ipv4() ? 9 : 6];
  const auto port = wire::load_be<std::uint16_t>(frame.data() + network - wire::kUdpSize + 2);
  return protocol == kUdpProtocol && port == wire::kRocePort && wire::source_of(frame) == address_ &&
         !wire::destination_of(frame).is_multicast();
}

void ShmLink::commit(std::size_t size) {
  if (!send_to_peer({reserved_, size}, FrameForm::kSealed)) next_.commit(size);
}

void ShmLink::commit_unsealed(std::span<std::uint8_t> frame) {
  if (!send_to_peer(frame, FrameForm::kUnsealed)) next_.commit_unsealed(frame);
}

bool ShmLink::takes_references(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) {
  if (source != address_ || destination.is_multicast() || !sharing_.carries) return false;
  const Outgoing* outgoing = find({destination, range_of_number(qp_num)});
  return outgoing != nullptr && outgoing->takes_references();
}

void ShmLink::commit_referring(std::span<std::uint8_t> frame) {
  // A peer must not look into what was there before.
  if (offered_ != nullptr && offered_->version() != offered_version_) offer_to_all();
  if (!send_to_peer(frame, FrameForm::kReferring)) ++counters_.dropped;
}

// It changes with each connection (open(), end()). Whoever finds none sends packets, and those look for the peer.
MessageWay* ShmLink::message_way(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) {
  if (source != address_ || destination.is_multicast() || !sharing_.carries) return nullptr;
  const auto found = peers_.find({destination, range_of_number(qp_num)});
  return found == peers_.end() ? nullptr : found->second.outgoing.get();
}

void ShmLink::revoke_references() {
  for (auto& [address, peer] : peers_) {
    if (peer.outgoing) peer.outgoing->revoke_references();
  }
}

// False: the next link reaches the destination.
bool ShmLink::send_to_peer(std::span<const std::uint8_t> frame, FrameForm form) {
  if (!sharing_.carries || !is_for_peers(frame)) return false;
  const Range range = range_of(frame);
  if (range >= kRanges) return false;
  Outgoing* outgoing = find({wire::destination_of(frame), range});
  // The last message of a process that ends at once, such as a rejection, must neither wait in it for anybody nor come
  // back to it by the kernel's choice. Such messages need no order.
  if (outgoing == nullptr && is_management(frame)) {
    const auto hand_over = [&] { return SocketGroup::send_frame(range, frame); };
    return sharing_.group != nullptr && contain(hand_over, [](int error) { return error; }) == 0;
  }
  if (outgoing == nullptr) return !sharing_.numbers->has_all() && keep_early(last_, frame, form);
  counters_.sent += put(*outgoing, frame, form);
  return true;
}

bool ShmLink::put(Outgoing& outgoing, std::span<const std::uint8_t> frame, FrameForm form) {
  outgoing.join_batch();
  const bool held = outgoing.has_waiting();
  const std::size_t dropped = outgoing.send(frame, form, clock_);
  counters_.dropped += dropped;
  if (held != outgoing.has_waiting()) note_held(!held);
  return dropped == 0;
}

// The process is there, and has not responded yet. A frame by the network may come to another one, if sockets come and
// go meanwhile. False: nobody is there, or too many frames wait, or it refers to memory: before there is a connection,
// nothing takes that back.
bool ShmLink::keep_early(std::pair<const Target, Peer>* entry, std::span<const std::uint8_t> frame,
                         FrameForm form) const {
  if (entry == nullptr || entry->second.knocking < 0 || entry->second.early.size() >= kMostEarly) return false;
  if (form == FrameForm::kReferring) return false;
  // One that is stopped holds nobody up, and has what comes by the network when it goes on.
  if (!entry->first.forwarding && clock_() - entry->second.knocked_at > kEarly) return false;
  const auto keep = [&] {
    entry->second.early.emplace_back(form, std::vector<std::uint8_t>(frame.begin(), frame.end()));
    return true;
  };
  return contain(keep, [](int) { return false; });
}

// It came by the network, and is another process'. False: there is none.
bool ShmLink::forward(std::span<const std::uint8_t> frame, FrameForm form) {
  const Target target{address_, range_of(frame), true};
  if (wire::destination_of(frame) != address_) return true;
  forwards_ = true;
  Outgoing* outgoing = find(target);
  if (outgoing == nullptr) {
    if (!keep_early(last_, frame, form)) {
      ++counters_.unowned;
      return false;
    }
  } else if (put(*outgoing, frame, form)) {
    ++counters_.forwarded;
  }
  if (sharing_.group != nullptr) sharing_.group->note_stray(clock_());
  return true;
}

void ShmLink::note_held(bool held) {
  if (held) {
    ++holding_;
  } else {
    --holding_;
    ++relieved_;
  }
}

// nullptr: the next link reaches it. Without memory for a connection it does, too.
Outgoing* ShmLink::find(const Target& target) {
  try {
    return find_or_open(target);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

Outgoing* ShmLink::find_or_open(const Target& target) {
  if (last_ == nullptr || last_->first != target) {
    if (peers_.size() >= kMostPeers) {
      std::erase_if(peers_, [](const auto& entry) { return !entry.second.outgoing && entry.second.knocking < 0; });
    }
    last_ = nullptr;
    last_ = &*peers_.try_emplace(target).first;
  }
  Peer& peer = last_->second;
  // One look for each batch: the reader's memory is in the other processor's cache.
  if (peer.outgoing && peer.outgoing->is_idle() && peer.outgoing->is_over()) end(&peer);
  if (!peer.outgoing) look_for(target, &peer);
  return peer.outgoing.get();
}

void ShmLink::look_for(const Target& target, Peer* peer) {
  if (peer->knocking >= 0 || peer->asked_in == batch_) return;
  peer->asked_in = batch_;
  const Nanos now = clock_();
  if (now < peer->retry_at) return;
  const Uncancelled calls;
  if (connect_to_peer(target.address, target.range, &peer->knocking) != 0) {
    peer->knocking = -1;
    postpone(peer, now);
  } else if (!watch(peer->knocking)) {
    give_up(peer);
  } else {
    peer->knocked_at = now;
  }
}

// The peer has responded.
void ShmLink::open(const Target& target, Peer* peer) {
  next_.flush();  // what it takes before the first frame of the ring (let_in)
  int error = ENOMEM;
  try {
    unflushed_.reserve(peers_.size());  // so that commit() needs no memory
    const wire::Gid source = target.forwarding ? wire::Gid{} : address_;
    error = Outgoing::open(peer->knocking, source, target.address, &peer->outgoing);
  } catch (const std::bad_alloc&) {
  }
  if (error != 0) {
    give_up(peer);
    return;
  }
  peer->knocking = -1;
  peer->outgoing->batch = &unflushed_;
  Neighbourhood::changed();
  if (offered_ != nullptr && !target.forwarding) peer->outgoing->offer(*offered_);
  if (peer->early.empty()) return;
  std::uint64_t& count = target.forwarding ? counters_.forwarded : counters_.sent;
  for (const auto& [form, frame] : std::exchange(peer->early, {})) count += put(*peer->outgoing, frame, form);
  flush_rings();
}

void ShmLink::give_up(Peer* peer) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, peer->knocking, nullptr);  // a forked child may have a copy of the descriptor
  hang_up(std::exchange(peer->knocking, -1));
  counters_.dropped += std::exchange(peer->early, {}).size();
  postpone(peer, clock_());
}

void ShmLink::postpone(Peer* peer, Nanos now) {
  peer->backoff = std::clamp(peer->backoff * 2, kFirstBackoff, kLastBackoff);
  peer->retry_at = now + peer->backoff;
}

void ShmLink::end(Peer* peer) {
  const Uncancelled calls;
  Outgoing& outgoing = *peer->outgoing;
  std::erase(unflushed_, &outgoing);
  counters_.dropped += outgoing.waiting();
  counters_.sent += outgoing.messages();
  counters_.broken += outgoing.was_broken();
  if (outgoing.has_waiting()) note_held(false);
  if (outgoing.was_refused() || outgoing.was_broken()) {
    postpone(peer, clock_());
  } else {
    peer->backoff = 0;
  }
  epoll_ctl(epoll_, EPOLL_CTL_DEL, outgoing.fd(), nullptr);  // a forked child may have a copy of the descriptor
  Neighbourhood::changed();
  peer->outgoing.reset();
}

void ShmLink::offer_to_all() {
  offered_version_ = offered_->version();
  for (auto& [target, peer] : peers_) {
    if (peer.outgoing && !target.forwarding) peer.outgoing->offer(*offered_);
  }
}

void ShmLink::flush() {
  if (offered_ != nullptr && offered_->version() != offered_version_) offer_to_all();
  flush_rings();
  next_.flush();
}

void ShmLink::flush_rings() {
  for (Outgoing* outgoing : unflushed_) {
    outgoing->flush();
    outgoing->in_batch = false;
  }
  unflushed_.clear();
  ++batch_;
}

bool ShmLink::congested(const wire::Gid& destination, std::uint32_t qp_num) {
  if (holding_ != 0) {
    const auto found = peers_.find({destination, range_of_number(qp_num)});
    if (found != peers_.end() && found->second.outgoing && found->second.outgoing->has_waiting()) return true;
  }
  return next_.congested(destination, qp_num);
}

std::uint64_t ShmLink::relieve() {
  if (holding_ != 0) {
    const Nanos now = clock_();
    for (auto& [address, peer] : peers_) {
      if (!peer.outgoing || !peer.outgoing->has_waiting()) continue;
      counters_.dropped += peer.outgoing->send_waiting(now);
      if (!peer.outgoing->has_waiting()) note_held(false);
    }
  }
  return relieved_ + next_.relieve();
}

Nanos ShmLink::next_deadline() const {
  Nanos deadline = next_.next_deadline();
  if (holding_ == 0) return deadline;
  for (const auto& [address, peer] : peers_) {
    if (peer.outgoing) deadline = std::min(deadline, peer.outgoing->deadline());
  }
  return deadline;
}

// -- receiving

void ShmLink::prepare_sleep() {
  bell_ += is_asked_for(bell_) ? 2 : 1;
  for (const auto& incoming : incoming_) incoming->want(bell_);
  must_look_ = true;
}

void ShmLink::stay_awake() {
  if (!is_asked_for(bell_)) return;
  ++bell_;
  for (const auto& incoming : incoming_) incoming->want(bell_);
}

bool ShmLink::is_look_due() {
  if (++skipped_ < std::max(skips_, kLeastSkipped)) return false;
  if (skips_ < kMostSkipped) return true;
  // A thread that does nothing else makes that number of calls in a few microseconds.
  const Nanos now = clock_();
  if (now - looked_at_ < kPause) {
    skipped_ = 0;
    return false;
  }
  looked_at_ = now;
  return true;
}

std::size_t ShmLink::receive(Receiver& receiver, std::size_t budget) {
  std::size_t taken = receive_from_rings(receiver, budget);
  const bool look = must_look_ || is_look_due();
  if (look) {
    handle_sockets();
    skipped_ = 0;
    must_look_ = false;
    if (arrived_) taken += let_in(receiver, budget);
    if (group_calls_) look_at_group(receiver);
    // New peers, and frames whose bells were taken just now.
    if (taken < budget) taken += receive_from_rings(receiver, budget - taken);
  }
  if (!look && skips_ != 0 && !incoming_.empty()) return taken;
  const std::size_t others = receive_from_next(receiver, budget);
  // A look in vain costs two system calls, of up to a microsecond each, during which the peer's answer may come. So the
  // looks become rarer, until one finds a frame.
  skips_ = others != 0 ? 0 : std::clamp(2 * skips_, kLeastSkipped, kMostSkipped);
  return taken + others;
}

std::size_t ShmLink::receive_from_next(Receiver& receiver, std::size_t budget) {
  if (sharing_.numbers->has_all()) return next_.receive(receiver, budget);
  Sorter sorter(*this, receiver);
  forwards_ = false;
  const std::size_t taken = next_.receive(sorter, budget);
  if (forwards_) flush_rings();
  return taken;
}

void ShmLink::look_at_group(Receiver& receiver) {
  group_calls_ = false;
  const auto look = [&] { return sharing_.group->look(receiver), 0; };
  contain(look, [](int) { return 0; });
}

std::size_t ShmLink::receive_from_rings(Receiver& receiver, std::size_t budget) {
  std::size_t taken = 0;
  bool over = false;
  const std::size_t count = incoming_.size();
  for (std::size_t i = 0, at = first_; i < count && taken < budget; ++i, ++at) {
    if (at >= count) at = 0;
    Incoming& incoming = *incoming_[at];
    if (incoming.is_quiet()) continue;
    const std::size_t got = incoming.receive(receiver, budget - taken, room_);
    taken += got;
    over |= incoming.is_over();
    // The network brought them to another process: this one is not where that thinks.
    if (got != 0 && incoming.forwards() && sharing_.group != nullptr) sharing_.group->note_stray(clock_());
  }
  counters_.received += taken;
  if (taken >= budget && ++first_ >= count) first_ = 0;  // others are next
  if (over) remove_ended();
  return taken;
}

void ShmLink::remove_ended() {
  const Uncancelled calls;
  for (const auto& incoming : incoming_) {
    if (!incoming->is_over()) continue;
    add_up(*incoming, &counters_);
    counters_.broken += incoming->was_broken();
    epoll_ctl(epoll_, EPOLL_CTL_DEL, incoming->fd(), nullptr);  // a forked child may have a copy of the descriptor
  }
  std::erase_if(incoming_, [](const auto& incoming) { return incoming->is_over(); });
}

void ShmLink::handle_sockets() {
  const Uncancelled calls;
  constexpr int kMost = 16;  // the others are readable still
  epoll_event events[kMost];
  const int count = epoll_wait(epoll_, events, kMost, 0);
  // The bells that are taken now ring no more. So each of their peers is asked anew, before the last look at its ring.
  if (must_look_ && is_asked_for(bell_)) bell_ += 2;
  for (int i = 0; i < count; ++i) {
    if (events[i].data.fd == arrivals_.fd()) {
      arrived_ = true;
    } else if (sharing_.group != nullptr && sharing_.group->watches(events[i].data.fd)) {
      group_calls_ = true;
    } else {
      handle_socket(events[i].data.fd, (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
    }
  }
}

// What a peer has sent before its ring came by the next link, and comes first.
std::size_t ShmLink::let_in(Receiver& receiver, std::size_t budget) {
  const Uncancelled calls;
  constexpr int kMost = 16;  // a peer that sends all the time keeps nobody here
  arrived_ = false;
  std::size_t taken = 0;
  for (int i = 0; i < kMost; ++i) {
    const std::size_t last = receive_from_next(receiver, budget);
    taken += last;
    if (last == 0) break;
  }
  try {
    for (Arrival& arrival : arrivals_.take()) add(std::move(arrival));
  } catch (const std::bad_alloc&) {  // they are there at the next look
  }
  return taken;
}

// Without memory for it, the peer uses its next link, as it does when there are too many.
void ShmLink::add(Arrival arrival) {
  const int fd = arrival.fd;
  try {
    incoming_.reserve(incoming_.size() + 1);
    auto incoming = std::make_unique<Incoming>(std::move(arrival), address_, bell_);
    if (incoming_.size() < kMostIncoming && watch(fd)) incoming_.push_back(std::move(incoming));
  } catch (const std::bad_alloc&) {
    hang_up(fd);
  }
}

void ShmLink::handle_socket(int fd, bool hung_up) {
  const auto incoming =
      std::find_if(incoming_.begin(), incoming_.end(), [fd](const auto& each) { return each->fd() == fd; });
  if (incoming != incoming_.end()) {
    // A bell that nobody sleeps for stays: else its peer would ring for each look of a thread that polls.
    if (must_look_ || hung_up) (*incoming)->handle_socket(bell_, hung_up);
    return;
  }
  for (auto& [target, peer] : peers_) {
    if (peer.knocking == fd) {
      const int error = receive_invitation(fd);
      if (error == 0) open(target, &peer);
      if (error != 0 && error != EAGAIN) give_up(&peer);
      return;
    }
    if (!peer.outgoing || peer.outgoing->fd() != fd) continue;
    peer.outgoing->handle_socket(hung_up);
    if (peer.outgoing->is_over()) end(&peer);
    return;
  }
}

}  // namespace verbs::soft::link
