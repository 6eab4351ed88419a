#include "host/publication/reasons.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "host/machine/machine.h"
#include "host/progress/clock.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::host {
namespace {

constexpr std::string_view kStandardError = "-";
constexpr std::uint64_t kFirstLines = 64;                  // of a reason
constexpr std::uint32_t kMostPeers = 256;                  // that standard error tells of
constexpr std::size_t kMostBytes = std::size_t{32} << 20;  // of the file

// A program with the rights of another user (setuid) writes nowhere.
const std::string& why_file() {
  static const auto* path = new std::string([] {  // outlives every thread
    const char* variable = getauxval(AT_SECURE) == 0 ? std::getenv("VERBS_SOFT_WHY") : nullptr;
    return variable && (variable[0] == '/' || std::string_view(variable) == kStandardError) ? variable : "";
  }());
  return *path;
}

// The wall clock's time of an event, as 2026-01-31T12:00:00.123456Z.
std::string time_text(Nanos time) {
  const Nanos wall = time + wall_clock_offset();
  const auto seconds = static_cast<std::time_t>(wall / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char day[32], text[64];
  std::strftime(day, sizeof day, "%FT%T", &parts);
  std::snprintf(text, sizeof text, "%s.%06dZ", day, static_cast<int>(wall % 1'000'000'000 / 1000));
  return text;
}

const char* place_name(nic::Place place) {
  switch (place) {
    case nic::Place::kArrival:
      return "arrival";
    case nic::Place::kDeparture:
      return "departure";
    case nic::Place::kResponder:
      return "responder";
    case nic::Place::kCompletion:
      return "completion";
    default:
      return "call";
  }
}

std::string peer_name(const wire::Gid& gid) {
  const std::string name = gid_name(gid);
  return gid.is_ipv4() ? name.substr(name.rfind(':') + 1) : name;
}

bool is_to_no_queue_pair(const nic::ReasonEvent& event) {
  return event.place == nic::Place::kArrival && event.qp == 0 && !event.peer.is_zero();
}

// For a person who reads the program's standard error, in the form of Node's debug logs.
std::string line_of(const std::string& device, const nic::ReasonEvent& event) {
  if (is_to_no_queue_pair(event)) {
    return "VERBS " + std::to_string(getpid()) + ": " + device + ": packets from " + peer_name(event.peer) +
           " were dropped: " + nic::sentence_of(event.why) + ". " + nic::info_of(event.why.reason).help + "\n";
  }
  char about[128];
  const char* call = nic::call_of(event);
  std::snprintf(about, sizeof about, "VERBS %d: %s queue pair 0x%x%s%s: ", static_cast<int>(getpid()), device.c_str(),
                event.qp, call ? ", " : "", call ? call : "");
  std::string text = about;
  if (event.error != 0) text += "errno " + std::to_string(event.error) + ": ";
  if (event.status != IBV_WC_SUCCESS) text += std::string(nic::name_of(event.status)) + ": ";
  text += nic::sentence_of(event.why);
  if (event.peers.reason != nic::Reason::kNone) text += "; at the peer's end " + nic::sentence_of(event.peers);
  return text + ". " + nic::info_of(event.why.reason).help + "\n";
}

bool is_post(nic::Place place) {
  return place == nic::Place::kPostSend || place == nic::Place::kPostRecv || place == nic::Place::kPostSrqRecv ||
         place == nic::Place::kPostSrqOps;
}

void append(const std::string& line) {
  const int fd = open(why_file().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  struct stat status{};
  const bool ours =
      fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 022) == 0;
  const std::size_t end = static_cast<std::size_t>(status.st_size) + line.size();
  // What cannot be written is lost: the program has not asked for it.
  if (ours && end <= kMostBytes && may_be_long(end)) static_cast<void>(!write(fd, line.data(), line.size()));
  close(fd);
}

}  // namespace

std::string gid_name(const wire::Gid& gid) {
  char buffer[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, gid.bytes.data(), buffer, sizeof buffer);
  return buffer;
}

void write_reason(Json& json, const std::string& device, const nic::ReasonEvent& event) {
  const nic::ReasonInfo& info = nic::info_of(event.why.reason);
  json.open('{').key("time").value(time_text(event.time)).key("pid").value(static_cast<std::uint32_t>(getpid()));
  json.key("device").value(device).key("place").value(place_name(event.place));
  json.key("reason").value(info.name).key("number").value(static_cast<std::uint32_t>(event.why.reason));
  json.key("count").value(event.count);
  if (const char* call = nic::call_of(event)) json.key("call").value(call);
  if (event.error != 0) json.key("errno").value(static_cast<std::uint32_t>(event.error));
  if (event.status != IBV_WC_SUCCESS) json.key("status").value(nic::name_of(event.status));
  if (event.syndrome != 0) json.key("nak").value(nic::nak_name(event.syndrome));
  if (event.qp != 0) json.key("qpNum").value(event.qp);
  if (event.peer_qp != 0) json.key("peerQpNum").value(event.peer_qp);
  if (!event.peer.is_zero()) json.key("peerGid").value(gid_name(event.peer));
  if (event.status != IBV_WC_SUCCESS || is_post(event.place)) json.key("wrId").value(event.wr_id);
  json.key("text").value(nic::sentence_of(event.why)).key("help").value(info.help);
  if (event.peers.reason != nic::Reason::kNone) {
    json.key("peers").open('{').key("reason").value(nic::info_of(event.peers.reason).name);
    json.key("text").value(nic::sentence_of(event.peers)).key("help").value(nic::info_of(event.peers.reason).help);
    json.close('}');
  }
  json.key("values").open('{');
  for (const auto& [name, text] : nic::values_of(event.why)) json.key(name).value(text);
  json.close('}').close('}');
}

void append_open_failure(const std::string& device, int error, const std::string& text) {
  if (why_file().empty()) return;
  const int before = errno;
  contain(
      [&] {
        if (why_file() == kStandardError) {
          const std::string line = "VERBS " + std::to_string(getpid()) + ": " + device + ", ibv_open_device: errno " +
                                   std::to_string(error) + ": " + text + "\n";
          static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
          return 0;
        }
        Json json;
        json.open('{').key("time").value(time_text(now())).key("pid").value(static_cast<std::uint32_t>(getpid()));
        json.key("device").value(device).key("place").value("call").key("reason").value("not_opened");
        json.key("number").value(std::uint32_t{0}).key("count").value(std::uint64_t{1});
        json.key("call").value("ibv_open_device").key("errno").value(static_cast<std::uint32_t>(error));
        json.key("text").value(text).key("help").value("").key("values").open('{').close('}').close('}');
        append(json.take() + "\n");
        return 0;
      },
      [](int) { return 0; });
  errno = before;
}

void append_reason(const std::string& device, const nic::ReasonEvent& event) {
  if (why_file().empty()) return;
  if (why_file() == kStandardError && is_to_no_queue_pair(event)) {
    if (event.new_peer == 0 || event.new_peer > kMostPeers) return;
  } else if (event.count > kFirstLines && !std::has_single_bit(event.count)) {
    return;
  }
  const int error = errno;
  contain(
      [&] {
        if (why_file() == kStandardError) {
          const std::string line = line_of(device, event);
          static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
          return 0;
        }
        Json json;
        write_reason(json, device, event);
        append(json.take() + "\n");
        return 0;
      },
      [](int) { return 0; });  // without memory the line is lost
  errno = error;
}

}  // namespace verbs::soft::host
