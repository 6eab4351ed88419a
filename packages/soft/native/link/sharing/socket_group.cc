#include "link/sharing/socket_group.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "link/udp/ip_socket.h"
#include "verbs_soft_boundary.h"
#include "verbs_soft_cancel.h"
#include "verbs_soft_sockets.h"

namespace verbs::soft::link {
namespace {

constexpr Nanos kFirstPause = 5'000'000, kLastPause = 1'000'000'000;  // between probes because of strays
constexpr std::size_t kMostEntries = 1000;                            // of a table in a letter
// More sockets than processes: one that was just killed, a forked child that has not closed its copy.
constexpr std::size_t kSpare = 8;
// A probe ends with it: a BTH and more, of no opcode.
constexpr std::array<std::uint8_t, 4> kProbeEnd = {'p', 'r', 'b', '1'};
constexpr std::size_t kProbeSize = kProbePlace + 12;

enum class Kind : std::uint8_t { kFrame = 1, kTable = 2, kFarewell = 3 };

// Of this version of the software only, whose number is in the names of the doors.
struct TableHead {
  Kind kind = Kind::kTable;  // or kFarewell, with nothing behind it
  std::uint8_t wants_answer = 0;
  Range sender = 0;  // its first range
  std::uint32_t count = 0;
};
struct TableEntry {
  Range range;
  Place place;
  std::uint32_t unused;
  std::uint64_t since;
};

std::string text_of(const wire::Gid& address) {
  std::string text;
  for (const std::uint8_t byte : address.bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

std::string prefix_of_members(const wire::Gid& address) { return "verbs-soft/group1/" + text_of(address) + "/"; }

std::uint64_t time_now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

SocketGroup::SocketGroup(const wire::Gid& address, int socket, std::uint16_t port,
                         std::shared_ptr<NumberRanges> numbers)
    : address_(address), socket_(socket), port_(port), numbers_(std::move(numbers)), probe_(std::random_device{}()) {}

SocketGroup::~SocketGroup() {
  if (mailbox_.fd() < 0) return;  // a forked child is no member
  // Without memory for it they find out.
  contain([this] { return say_farewell(), 0; }, [](int) { return 0; });
  for (const auto& [range, pidfd] : members_) {
    if (pidfd >= 0) close(pidfd);
  }
}

void SocketGroup::say_farewell() {
  const TableHead farewell{.kind = Kind::kFarewell, .sender = numbers_->first()};
  for (const auto& [range, pidfd] : members_) {
    (void)send_letter(name_of_member(range), {reinterpret_cast<const std::uint8_t*>(&farewell), sizeof farewell});
  }
}

void SocketGroup::abandon() {
  for (auto& [range, pidfd] : members_) {
    if (pidfd >= 0) close(std::exchange(pidfd, -1));
  }
  epoll_ = -1;
  mailbox_.abandon();
}

std::string SocketGroup::name_of_member(Range range) const {
  return prefix_of_members(address_) + std::to_string(range);
}

std::string SocketGroup::name_of(const Service& service, const wire::Gid& device) {
  char text[32];
  std::snprintf(text, sizeof text, "%llx%c", static_cast<unsigned long long>(service.id),
                service.datagrams ? 'd' : 'c');
  return "verbs-soft/cm1/" + text_of(device) + "/" + text + "/" + text_of(service.address);
}

int SocketGroup::open() {
  if (mailbox_.fd() < 0) return EMFILE;
  // Another user may have the name. Then nobody tells this process anything, and it goes on asking.
  (void)mailbox_.open(name_of_member(numbers_->first()));
  greet();
  return 0;
}

void SocketGroup::greet() {
  const std::string prefix = prefix_of_members(address_);
  for (const model::AbstractSocket& socket : model::abstract_sockets(prefix)) {
    unsigned range = kRanges;
    const char* const end = socket.name.data() + socket.name.size();
    const auto parsed = std::from_chars(socket.name.data() + prefix.size(), end, range);
    if (parsed.ptr != end || range >= kRanges || range == numbers_->first() || !socket.listens) continue;
    members_.try_emplace(static_cast<Range>(range), -1);
  }
  if (members_.empty()) return set_place(0);
  // One that was alone has no program. Without one a hash chooses, for all probes the same socket.
  if (members_.size() == 1) attach(true);
  probe(true);
}

// -- where this process is

void SocketGroup::probe(bool tell_anyway) {
  const Uncancelled calls;
  ++probe_;
  probing_ = true;
  tell_anyway_ |= tell_anyway;
  sockaddr_storage own;
  const socklen_t size = to_sockaddr(address_, port_, scope_of(address_), &own);
  std::array<std::uint8_t, kProbeSize> bytes{};
  wire::store_be(&bytes[kProbePlace + 4], probe_);
  std::ranges::copy(kProbeEnd, &bytes[kProbePlace + 8]);
  // A member may have one socket more, which it is about to close.
  const std::size_t count = 2 * (members_.size() + 1) + kSpare;
  for (std::size_t place = 0; place < count; ++place) {
    wire::store_be(&bytes[kProbePlace], static_cast<std::uint32_t>(place));
    (void)sendto(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&own),
                 size);
  }
}

// Of those that come the first one counts: behind the end of the group, a hash chooses.
void SocketGroup::take_probe(std::span<const std::uint8_t> frame) {
  const std::size_t network = wire::network_size_of(frame);
  if (!probing_ || frame.size() != network + kProbeSize || wire::source_of(frame) != address_) return;
  const std::uint8_t* bytes = frame.data() + network + kProbePlace;
  if (!std::equal(kProbeEnd.begin(), kProbeEnd.end(), bytes + 8)) return;
  if (wire::load_be<std::uint32_t>(bytes + 4) != probe_) return;
  probing_ = false;
  set_place(static_cast<Place>(wire::load_be<std::uint32_t>(bytes)));
}

void SocketGroup::set_place(Place place) {
  const auto known = places_.find(numbers_->first());
  const bool moved = known == places_.end() || known->second.place != place;
  if (moved) stray_pause_ = 0;
  if (!moved && !std::exchange(tell_anyway_, false)) return;
  tell_anyway_ = false;
  const std::uint64_t since = time_now();
  for (unsigned range = 0; range < kRanges; ++range) {
    if (numbers_->owns(static_cast<Range>(range))) places_[static_cast<Range>(range)] = {place, since};
  }
  attach();
  tell_all();
}

void SocketGroup::add_range(Range range) {
  const auto own = places_.find(numbers_->first());
  if (own == places_.end()) return;  // told with the place
  places_[range] = {own->second.place, time_now()};
  attach();
  tell_all();
}

void SocketGroup::note_stray(Nanos now) {
  if (now < strays_after_) return;
  stray_pause_ = std::clamp(2 * stray_pause_, kFirstPause, kLastPause);
  strays_after_ = now + stray_pause_;
  contain([&] { return probe(true), 0; }, [](int) { return 0; });
}

void SocketGroup::attach(bool alone) {
  if (members_.empty() || !(informed_ || alone)) return;
  std::map<Range, Place> places;
  for (const auto& [range, known] : places_) places.emplace(range, known.place);
  // Where the kernel has no such programs it chooses by a hash, and frames are handed over.
  (void)attach_program(socket_, places, members_.size() + 1);
}

void SocketGroup::give_up_waiting() {
  if (!informed_) attach(true);
}

// -- what others say

void SocketGroup::tell(Range member, bool wants_answer) {
  std::vector<std::uint8_t> letter;
  TableHead head{.wants_answer = wants_answer, .sender = numbers_->first()};
  head.count = static_cast<std::uint32_t>(std::min(places_.size(), kMostEntries));
  letter.resize(sizeof head + head.count * sizeof(TableEntry));
  std::memcpy(letter.data(), &head, sizeof head);
  std::size_t at = sizeof head;
  for (const auto& [range, known] : places_) {
    if (at == letter.size()) break;
    const TableEntry entry{range, known.place, 0, known.since};
    std::memcpy(&letter[at], &entry, sizeof entry);
    at += sizeof entry;
  }
  if (send_letter(name_of_member(member), letter) != ECONNREFUSED) return;
  // It went before it could say so, or was never there.
  const auto gone = members_.find(member);
  if (gone == members_.end() || gone->second >= 0) return;  // a descriptor says when it is dead
  places_.erase(member);
  members_.erase(gone);
}

void SocketGroup::tell_all() {
  std::vector<std::pair<Range, bool>> members;
  for (const auto& [range, pidfd] : members_) members.emplace_back(range, pidfd < 0);
  for (const auto& [range, unknown] : members) tell(range, unknown);
}

void SocketGroup::look(Receiver& receiver) {
  const Uncancelled calls;
  for (const Letter& letter : mailbox_.take()) {
    if (letter.bytes.empty()) continue;
    if (static_cast<Kind>(letter.bytes[0]) != Kind::kFrame) {
      read_table(letter);
      continue;
    }
    const std::span<const std::uint8_t> frame = std::span(letter.bytes).subspan(1);
    if (frame.size() > wire::kMaxFrame || wire::network_size_of(frame) == 0) continue;
    if (wire::destination_of(frame) == address_) receiver.deliver_unsealed(frame);
  }
  std::vector<pollfd> processes;
  std::vector<Range> ranges;
  for (const auto& [range, pidfd] : members_) {
    processes.push_back({pidfd, POLLIN, 0});  // -1 is passed over
    ranges.push_back(range);
  }
  if (poll(processes.data(), processes.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (processes[i].revents != 0) bury(ranges[i]);
  }
}

void SocketGroup::read_table(const Letter& letter) {
  TableHead head;
  if (letter.bytes.size() < sizeof head) return;
  std::memcpy(&head, letter.bytes.data(), sizeof head);
  const std::size_t count = std::min<std::size_t>(head.count, (letter.bytes.size() - sizeof head) / sizeof(TableEntry));
  if (head.sender >= kRanges || numbers_->owns(head.sender)) return;
  if (head.kind == Kind::kFarewell) return bury(head.sender);
  if (head.kind != Kind::kTable) return;
  bool changed = members_.try_emplace(head.sender, -1).second;
  if (members_[head.sender] < 0) accompany(head.sender, letter.sender);
  for (std::size_t i = 0; i < count; ++i) {
    TableEntry entry;
    std::memcpy(&entry, &letter.bytes[sizeof head + i * sizeof entry], sizeof entry);
    if (entry.range == numbers_->first()) {
      const auto own = places_.find(entry.range);
      confirmed_ |= own != places_.end() && own->second.place == entry.place;
    }
    if (entry.range >= kRanges || numbers_->owns(entry.range)) continue;
    Known& known = places_[entry.range];
    if (entry.since <= known.since) continue;
    changed |= known.since == 0 || known.place != entry.place;
    known = {entry.place, entry.since};
  }
  changed |= !std::exchange(informed_, true);
  if (changed) attach();
  if (head.wants_answer != 0) tell(head.sender, false);
}

// -- who is there

bool SocketGroup::watch_by(int epoll) {
  epoll_ = epoll;
  if (epoll < 0) return true;
  bool watched = watch(mailbox_.fd());
  for (const auto& [range, pidfd] : members_) watched = watched && (pidfd < 0 || watch(pidfd));
  return watched;
}

bool SocketGroup::watches(int fd) const {
  return fd == mailbox_.fd() || std::ranges::any_of(members_, [&](const auto& each) { return each.second == fd; });
}

bool SocketGroup::watch(int fd) const {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  return epoll_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void SocketGroup::accompany(Range member, pid_t process) {
  if (process <= 0) return;
  const auto pidfd = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (pidfd < 0) return;
  if (watch(pidfd)) {
    members_[member] = pidfd;
  } else {
    close(pidfd);
  }
}

// Its socket is closed by now, and this process may have its place.
void SocketGroup::bury(Range member) {
  const auto dead = members_.find(member);
  if (dead == members_.end()) return;
  if (dead->second >= 0) {
    // A forked child may have a copy of the descriptor.
    if (epoll_ >= 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, dead->second, nullptr);
    close(dead->second);
  }
  places_.erase(member);
  members_.erase(dead);
  if (members_.empty()) {
    set_place(0);
  } else {
    probe(false);
  }
}

// -- services

int SocketGroup::open_service(const Service& service) {
  services_.reserve(services_.size() + 1);
  std::string name = name_of(service, address_);
  if (const int error = mailbox_.open(name)) return error;
  services_.emplace_back(service, std::move(name));
  return 0;
}

void SocketGroup::close_service(const Service& service) {
  const auto known = std::ranges::find(services_, service, &std::pair<Service, std::string>::first);
  if (known == services_.end()) return;
  mailbox_.close(known->second);
  services_.erase(known);
}

int SocketGroup::send_frame(Range range, std::span<const std::uint8_t> frame) {
  std::vector<std::uint8_t> letter{static_cast<std::uint8_t>(Kind::kFrame)};
  letter.insert(letter.end(), frame.begin(), frame.end());
  return send_letter(prefix_of_members(wire::destination_of(frame)) + std::to_string(range), letter);
}

int SocketGroup::send_request(const Service& service, std::span<const std::uint8_t> frame) {
  std::vector<std::uint8_t> letter{static_cast<std::uint8_t>(Kind::kFrame)};
  letter.insert(letter.end(), frame.begin(), frame.end());
  const wire::Gid device = wire::destination_of(frame);
  const int error = send_letter(name_of(service, device), letter);
  if (error != ECONNREFUSED) return error;
  Service every = service;
  every.address = {};
  return send_letter(name_of(every, device), letter);
}

}  // namespace verbs::soft::link
