#include "system/netlink/publications.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <ctime>
#include <new>

#include "system/text.h"
#include "system/tree.h"

namespace verbs::soft::system {
namespace {

constexpr long kPatience = 300;  // milliseconds
constexpr std::size_t kMostBytes = std::size_t{16} << 20;

long now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

std::string_view next_line(std::string_view* text) {
  const std::size_t end = text->find('\n');
  std::string_view line = *text;
  if (end == std::string_view::npos) {
    *text = {};
    return line;
  }
  line.remove_suffix(text->size() - end);
  text->remove_prefix(end + 1);
  return line;
}

std::string_view part_before(std::string_view text, std::size_t end) {
  if (end < text.size()) text.remove_suffix(text.size() - end);
  return text;
}

}  // namespace

std::string_view behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + mark.size());
  return text;
}

std::optional<std::uint64_t> number_of(std::string_view part, std::string_view key) {
  TextOf<64> mark;
  mark.add('"').add(key).add("\":");
  std::string_view rest = behind(part, mark.view());
  if (rest.starts_with('"')) rest.remove_prefix(1);  // of 64 bits
  if (rest.empty() || rest[0] < '0' || rest[0] > '9') return std::nullopt;
  std::uint64_t number = 0;
  for (; !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; rest.remove_prefix(1)) {
    number = 10 * number + static_cast<std::uint64_t>(rest[0] - '0');
  }
  return number;
}

std::string_view word_of(std::string_view part, std::string_view key) {
  TextOf<64> mark;
  mark.add('"').add(key).add("\":\"");
  const std::string_view rest = behind(part, mark.view());
  return part_before(rest, rest.find('"'));
}

Publications::Publications() {
  if (!memory_.reserve(kMost * (sizeof(Publisher) + sizeof(pollfd)))) return;
  publishers_ = reinterpret_cast<Publisher*>(memory_.data());
  waits_ = reinterpret_cast<pollfd*>(publishers_ + kMost);
  connect_all();
  read_all();
}

Publications::~Publications() {
  for (std::size_t i = 0; i < count_; ++i) publishers_[i].~Publisher();
}

void Publications::connect_all() {
  TextOf<32> prefix;
  prefix.add("@verbs-soft.").add_number(geteuid()).add('.');
  Memory file;
  const int fd = kernel::open("/proc/net/unix", O_RDONLY);
  if (fd < 0) return;
  const bool whole = file.add_file(fd);
  kernel::close(fd);
  std::string_view rest = whole ? file.view() : std::string_view();
  while (!rest.empty() && count_ < kMost) {
    // "0000000000000000: 00000002 00000000 00010000 0001 01 12345 @verbs-soft.1000.4711.89abcdef"
    const std::string_view line = next_line(&rest);
    const std::size_t name = line.find(prefix.view());
    constexpr std::string_view kListens = " 00010000 ";
    if (name == std::string_view::npos || line.find(kListens) == std::string_view::npos) continue;
    std::string_view socket = line;
    socket.remove_prefix(name + 1);
    connect_to(socket);
  }
}

void Publications::connect_to(std::string_view name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const auto fd = static_cast<int>(syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd < 0) return;
  ucred peer{};
  socklen_t peer_size = sizeof peer;
  // Any user may take such a name.
  if (syscall(SYS_connect, fd, &address, size) != 0 ||
      syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) != 0 || peer.uid != geteuid()) {
    kernel::close(fd);
    return;
  }
  new (&publishers_[count_++]) Publisher{.fd = fd, .pid = peer.pid, .whole = false, .report = {}};
}

void Publications::read_all() {
  const long deadline = now() + kPatience;
  for (;;) {
    nfds_t open = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (publishers_[i].fd >= 0) waits_[open++] = {publishers_[i].fd, POLLIN, 0};
    }
    const long left = deadline - now();
    timespec wait = {left / 1000, left % 1000 * 1'000'000};
    if (open == 0 || left <= 0) break;
    const long ready = syscall(SYS_ppoll, waits_, open, &wait, nullptr, 0);
    if (ready < 0 && errno == EINTR) continue;  // a signal of the program
    if (ready <= 0) break;
    for (std::size_t i = 0; i < count_; ++i) {
      Publisher& each = publishers_[i];
      if (each.fd < 0) continue;
      each.whole = each.report.add_file(each.fd);
      if (!each.whole && errno == EAGAIN && each.report.size() < kMostBytes) continue;
      kernel::close(each.fd);
      each.fd = -1;
    }
  }
  for (std::size_t i = 0; i < count_; ++i) {
    if (publishers_[i].fd >= 0) kernel::close(publishers_[i].fd);
  }
}

std::string_view Publications::part_of(std::size_t index, std::string_view device) const {
  const Publisher& publisher = publishers_[index];
  if (!publisher.whole) return {};
  TextOf<128> mark;
  mark.add("{\"name\":\"").add(device).add("\",\"kind\":");
  const std::string_view rest = behind(publisher.report.view(), mark.view());
  return part_before(rest, rest.find("{\"name\":\""));
}

std::string_view Publications::list_of(std::size_t index, std::string_view device, std::string_view list) const {
  TextOf<64> mark;
  mark.add('"').add(list).add("\":[");
  std::string_view part = part_of(index, device);
  // Queue pairs are in the device's part, other objects behind all of those.
  const std::string_view own = behind(part_before(part, part.find("\"objects\":[")), mark.view());
  if (!own.empty() || part.empty()) return own;
  TextOf<128> objects;
  objects.add("{\"device\":\"").add(device).add("\",");
  part = behind(publishers_[index].report.view(), objects.view());
  return behind(part_before(part, part.find("{\"device\":\"")), mark.view());
}

Facts::Facts() {
  TextOf<machine::kRootRoom + 16> path;
  add_root(&path);
  if (path.size() == 0) return;
  path.add("/devices");
  const int fd = kernel::open(path.c_str(), O_RDONLY);
  if (fd < 0) return;
  whole_ = names_.add_file(fd);
  kernel::close(fd);
}

bool add_path(std::string_view device, std::string_view file, Text* path) {
  add_root(path);
  path->add("/sys/class/infiniband/").add(device).add('/').add(file);
  return path->whole();
}

bool read_fact(std::string_view device, std::string_view file, Text* text) {
  TextOf<machine::kNameRoom> whole;
  whole.add(device).add('/').add(file);
  const Content content = content_of(whole.view(), text);
  if (content == Content::kUnreadable) return false;
  if (content == Content::kFixed) {
    TextOf<machine::kRootRoom + machine::kNameRoom> path;
    const int fd = add_path(device, file, &path) ? kernel::open(path.c_str(), O_RDONLY) : -1;
    if (fd < 0) return false;
    char bytes[machine::kContentRoom];
    const long size = kernel::read_at(fd, bytes, sizeof bytes, 0);
    kernel::close(fd);
    if (size <= 0) return false;
    text->add({bytes, static_cast<std::size_t>(size)});
  }
  const std::size_t end = text->view().find('\n');
  if (end != std::string_view::npos) text->resize(end);
  return text->size() > 0;
}

std::uint64_t number_in(std::string_view device, std::string_view file) {
  FileText text;
  std::uint64_t number = 0;
  if (!read_fact(device, file, &text)) return 0;
  for (const char digit : text.view()) {
    if (digit < '0' || digit > '9') break;
    number = 10 * number + static_cast<std::uint64_t>(digit - '0');
  }
  return number;
}

std::uint64_t guid_in(std::string_view device, std::string_view file) {
  FileText text;
  std::uint64_t guid = 0;
  if (!read_fact(device, file, &text)) return 0;
  for (const char digit : text.view()) {
    if (digit == ':') continue;
    guid = guid << 4 | static_cast<std::uint64_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  }
  return guid;
}

std::uint32_t ports_of(std::string_view device) {
  std::uint32_t count = 0;
  entries_of(device, "ports", [&](std::string_view) { ++count; });
  return count;
}

}  // namespace verbs::soft::system
