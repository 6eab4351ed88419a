// The abstract Unix sockets of this network namespace: who has bound which name.
#pragma once

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace verbs::soft::model {

struct AbstractSocket {
  std::string name;            // without the zero in front
  std::optional<uid_t> owner;  // the kernel does not say it before Linux 5.3, or without UNIX_DIAG
  std::uint32_t inode = 0;     // older sockets have a lower one
  bool listens = false;
};

// The search for those whose names begin with a prefix.
class AbstractSockets {
 public:
  explicit AbstractSockets(std::string prefix) : prefix_(std::move(prefix)) {}

  // The oldest first.
  std::vector<AbstractSocket> find() {
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    const bool answered = fd >= 0 && ask(fd);
    if (fd >= 0) close(fd);
    if (!answered) {
      found_.clear();
      read_file();
    }
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.inode < b.inode; });
    return std::move(found_);
  }

 private:
  // Of linux/unix_diag.h since Linux 5.3.
  static constexpr std::uint32_t kShowUid = 0x40;
  static constexpr unsigned short kUid = 7;
  static constexpr std::uint8_t kListening = 10;  // TCP_LISTEN
  static constexpr std::uint32_t kAccepts = 0x10000;

  void add(AbstractSocket socket) {
    if (socket.name.compare(0, prefix_.size(), prefix_) == 0) found_.push_back(std::move(socket));
  }

  // Reads one answer. False at the end of the list, or for an error.
  bool read(const nlmsghdr* header) {
    if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY) return false;
    const auto* message = static_cast<const unix_diag_msg*>(NLMSG_DATA(header));
    AbstractSocket socket;
    socket.inode = message->udiag_ino;
    socket.listens = message->udiag_state == kListening;
    auto size = static_cast<int>(header->nlmsg_len - NLMSG_LENGTH(sizeof *message));
    const auto* first = reinterpret_cast<const char*>(message + 1);
    for (const auto* at = reinterpret_cast<const rtattr*>(first); RTA_OK(at, size); at = RTA_NEXT(at, size)) {
      const auto* data = static_cast<const char*>(RTA_DATA(at));
      const std::size_t length = RTA_PAYLOAD(at);
      if (at->rta_type == UNIX_DIAG_NAME && length > 1 && data[0] == 0) socket.name.assign(data + 1, length - 1);
      if (at->rta_type == kUid && length == sizeof(std::uint32_t)) {
        std::uint32_t uid = 0;
        std::memcpy(&uid, data, sizeof uid);
        socket.owner = uid;
      }
    }
    add(std::move(socket));
    return true;
  }

  // Asks the kernel. False if it does not answer.
  bool ask(int fd) {
    struct {
      nlmsghdr header;
      unix_diag_req request;
    } query{};
    query.header.nlmsg_len = sizeof query;
    query.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    query.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    query.request.sdiag_family = AF_UNIX;
    query.request.udiag_states = UINT32_MAX;
    query.request.udiag_show = UDIAG_SHOW_NAME | kShowUid;
    if (send(fd, &query, sizeof query, 0) != static_cast<ssize_t>(sizeof query)) return false;
    std::vector<char> answer(65536);
    for (;;) {
      const ssize_t received = recv(fd, answer.data(), answer.size(), 0);
      if (received <= 0) return false;
      auto size = static_cast<std::uint32_t>(received);
      const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
      for (; NLMSG_OK(header, size); header = NLMSG_NEXT(header, size)) {
        if (!read(header)) return header->nlmsg_type == NLMSG_DONE;
      }
    }
  }

  // "Num: RefCount Protocol Flags Type St Inode @name"
  void read_file() {
    std::ifstream file("/proc/net/unix");
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string skipped, name;
      std::uint32_t flags = 0;
      AbstractSocket socket;
      if (!(words >> skipped >> skipped >> skipped >> std::hex >> flags >> skipped >> skipped)) continue;
      if (!(words >> std::dec >> socket.inode >> name) || name[0] != '@') continue;
      socket.listens = (flags & kAccepts) != 0;
      socket.name = name.substr(1);
      add(std::move(socket));
    }
  }

  std::string prefix_;
  std::vector<AbstractSocket> found_;
};

inline std::vector<AbstractSocket> abstract_sockets(const std::string& prefix) {
  return AbstractSockets(prefix).find();
}

}  // namespace verbs::soft::model
