#include "host/ports/port_holder.h"

#include <dirent.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "host/configuration/configuration.h"

namespace verbs::soft::host {

namespace {

struct Socket {
  wire::Gid address;
  std::uint16_t port = 0;
  unsigned long uid = 0;
  unsigned long inode = 0;
};

// /proc/net/udp prints an address as 32-bit words in the machine's byte order.
std::optional<Socket> parse_line(const std::string& line) {
  std::istringstream in(line);
  std::string slot, local, remote, state, queues, timer, retransmit, timeout;
  Socket socket;
  if (!(in >> slot >> local >> remote >> state >> queues >> timer >> retransmit >> socket.uid >> timeout >>
        socket.inode)) {
    return std::nullopt;
  }
  const std::size_t colon = local.find(':');
  if (colon != 8 && colon != 32) return std::nullopt;
  std::uint8_t raw[16] = {};
  for (std::size_t word = 0; word * 8 < colon; ++word) {
    const auto value = static_cast<std::uint32_t>(std::strtoul(local.substr(word * 8, 8).c_str(), nullptr, 16));
    std::memcpy(raw + word * 4, &value, 4);
  }
  socket.address = colon == 8 ? wire::Gid::from_ipv4(raw) : wire::Gid::from_bytes(raw);
  socket.port = static_cast<std::uint16_t>(std::strtoul(local.c_str() + colon + 1, nullptr, 16));
  return socket;
}

bool is_any(const wire::Gid& address) {
  static constexpr std::uint8_t kAny[4] = {};
  return address.is_zero() || (address.is_ipv4() && std::memcmp(address.ipv4(), kAny, 4) == 0);
}

std::optional<Socket> find_socket(const wire::Gid& address, std::uint16_t port) {
  for (const char* table : {"/proc/net/udp", "/proc/net/udp6"}) {
    std::ifstream file(table);
    for (std::string line; std::getline(file, line);) {
      const auto socket = parse_line(line);
      if (socket && socket->port == port && (socket->address == address || is_any(socket->address))) return socket;
    }
  }
  return std::nullopt;
}

bool holds(const std::string& process, const std::string& link) {
  const std::string folder = "/proc/" + process + "/fd";
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(folder.c_str()), closedir);
  if (!dir) return false;
  while (const dirent* entry = readdir(dir.get())) {
    char target[64];
    const ssize_t size = readlink((folder + "/" + entry->d_name).c_str(), target, sizeof target);
    if (size > 0 && link == std::string(target, static_cast<std::size_t>(size))) return true;
  }
  return false;
}

std::string name_of_process(const std::string& process) {
  std::ifstream file("/proc/" + process + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::string find_process(unsigned long inode) {
  const std::string link = "socket:[" + std::to_string(inode) + "]";
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir("/proc"), closedir);
  if (!dir) return {};
  while (const dirent* entry = readdir(dir.get())) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) && holds(entry->d_name, link)) return entry->d_name;
  }
  return {};
}

// In the kernel, soft-RoCE listens on this port, on all addresses. Its sockets are root's, and of no process.
bool is_of_kernel(const Socket& socket) {
  return socket.inode == 0 || (socket.uid == 0 && is_any(socket.address) && access("/sys/module/rdma_rxe", F_OK) == 0);
}

}  // namespace

std::string port_holder(const wire::Gid& address, std::uint16_t port) {
  const auto socket = find_socket(address, port);
  if (!socket) return {};
  const std::string where = (is_any(socket->address) ? "every address" : format_address(socket->address)) +
                            (", UDP port " + std::to_string(port)) + ", is held by ";
  const std::string process = socket->inode == 0 ? "" : find_process(socket->inode);
  if (process.empty() && is_of_kernel(*socket)) {
    return where + "the kernel (its rdma_rxe module: \"rdma link delete\" or \"modprobe -r rdma_rxe\" frees the port)";
  }
  if (process.empty()) return where + "a process of another user (\"ss -lunp\" as root names it)";
  return where + "process " + process + " (" + name_of_process(process) + ")";
}

}  // namespace verbs::soft::host
