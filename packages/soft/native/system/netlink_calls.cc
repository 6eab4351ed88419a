// NETLINK_RDMA, by which rdma(8), rdma-core's tests and device plugins ask the kernel for RDMA devices, their ports,
// objects and counters. Where the kernel has it, it answers. Elsewhere a program's socket is one of NETLINK_USERSOCK,
// and what the program sends to the kernel is answered here: by messages of another such socket, so that receiving,
// polling and closing stay the kernel's. Only sending is replaced, and of it what has a kernel's netlink address.
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "system/call.h"

namespace verbs::soft::system {

namespace {

constexpr std::uint16_t type_of(std::uint32_t command) {
  return static_cast<std::uint16_t>((RDMA_NL_NLDEV << 10) + command);
}

// One netlink message.
class Message {
 public:
  Message(const nlmsghdr& request, std::uint16_t type, std::uint16_t flags, std::uint32_t port) {
    bytes_.resize(NLMSG_HDRLEN);
    header() = {
        .nlmsg_len = 0, .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = request.nlmsg_seq, .nlmsg_pid = port};
  }

  template <typename Value>
  void put(std::uint16_t attribute, const Value& value) {
    append(attribute, &value, sizeof value);
  }
  void put(std::uint16_t attribute, const std::string& text) { append(attribute, text.c_str(), text.size() + 1); }
  std::size_t open(std::uint16_t attribute) {
    append(attribute | NLA_F_NESTED, nullptr, 0);
    return bytes_.size() - NLA_HDRLEN;
  }
  void close(std::size_t start) {
    reinterpret_cast<nlattr*>(&bytes_[start])->nla_len = static_cast<std::uint16_t>(bytes_.size() - start);
  }
  void payload(const void* data, std::size_t size) {
    const auto* from = static_cast<const char*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
    bytes_.resize(NLMSG_ALIGN(bytes_.size()));
  }
  const std::vector<char>& done() {
    header().nlmsg_len = static_cast<std::uint32_t>(bytes_.size());
    return bytes_;
  }

 private:
  nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(bytes_.data()); }
  void append(std::uint16_t attribute, const void* data, std::size_t size) {
    const nlattr head{.nla_len = static_cast<std::uint16_t>(NLA_HDRLEN + size), .nla_type = attribute};
    payload(&head, sizeof head);
    if (size > 0) payload(data, size);
  }

  std::vector<char> bytes_;
};

// What the NIC tells of a device, as the files of /sys.
struct DeviceFacts {
  std::uint32_t index = 0;
  std::string name;
  std::map<std::string, std::string> files;

  std::string file(const std::string& path) const {
    const auto found = files.find(path);
    if (found == files.end()) return {};
    return found->second.substr(0, found->second.find('\n'));
  }
  std::uint64_t guid(const char* path) const {
    std::string digits;
    for (const char letter : file(path)) {
      if (letter != ':') digits += letter;
    }
    return std::strtoull(digits.c_str(), nullptr, 16);
  }
  std::uint32_t ports() const {
    std::uint32_t count = 0;
    while (!file("ports/" + std::to_string(count + 1) + "/state").empty()) ++count;
    return count;
  }
  // "4: ACTIVE"
  std::uint8_t number(const std::string& path) const {
    return static_cast<std::uint8_t>(std::strtoul(file(path).c_str(), nullptr, 10));
  }
};

std::vector<DeviceFacts> all_devices(const NicLibrary& nic) {
  std::vector<DeviceFacts> devices;
  for (const std::string& name : nic.device_names()) {
    DeviceFacts facts{.index = static_cast<std::uint32_t>(devices.size()), .name = name, .files = {}};
    nic.visit(name, [&](const std::string& path, const std::string& content) { facts.files[path] = content; });
    devices.push_back(std::move(facts));
  }
  return devices;
}

// What the processes of this machine publish of a device of that name. Text of other programs is quoted in a report, so
// that no key of ours can stand in it.
class Reports {
 public:
  Reports(const NicLibrary& nic, const std::string& device) {
    nic.visit_processes([&](int pid, const std::string& report) {
      const std::string begin = "{\"name\":\"" + device + "\",\"kind\":";
      const std::size_t from = report.find(begin);
      if (from == std::string::npos) return;
      const std::size_t next = report.find("{\"name\":\"", from + begin.size());
      parts_.emplace_back(pid, report.substr(from, next == std::string::npos ? next : next - from));
    });
  }

  std::size_t processes() const { return parts_.size(); }

  // The sum of a number by its key, "mrCount".
  std::uint64_t sum(const std::string& key) const {
    std::uint64_t total = 0;
    for (const auto& [pid, part] : parts_) total += value(part, key, 0).value_or(0);
    return total;
  }
  std::map<std::string, std::uint64_t> counters() const {
    std::map<std::string, std::uint64_t> total;
    for (const auto& [pid, part] : parts_) {
      std::size_t at = part.find("\"counters\":{");
      const std::size_t end = part.find('}', at);
      if (at == std::string::npos) continue;
      for (at = part.find('{', at) + 1; at < end; at = part.find(',', at) + 1) {
        const std::size_t name = part.find('"', at) + 1, name_end = part.find('"', name);
        total[part.substr(name, name_end - name)] += std::strtoull(part.c_str() + name_end + 3, nullptr, 10);
        if (part.find(',', at) > end) break;
      }
    }
    return total;
  }
  // Calls visit(pid, text) for each queue pair.
  template <typename Visit>
  void queue_pairs(Visit&& visit) const {
    for (const auto& [pid, part] : parts_) {
      for (std::size_t at = part.find("{\"qpNum\":"); at != std::string::npos; at = part.find("{\"qpNum\":", at + 1)) {
        visit(pid, part.substr(at, part.find('}', at) - at));
      }
    }
  }
  static std::optional<std::uint64_t> value(const std::string& text, const std::string& key, std::size_t from) {
    const std::size_t at = text.find("\"" + key + "\":", from);
    if (at == std::string::npos) return std::nullopt;
    return std::strtoull(text.c_str() + at + key.size() + 3, nullptr, 10);
  }
  static std::string word(const std::string& text, const std::string& key) {
    const std::size_t at = text.find("\"" + key + "\":\"");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + key.size() + 4;
    return text.substr(begin, text.find('"', begin) - begin);
  }

 private:
  std::vector<std::pair<int, std::string>> parts_;
};

// One request and its answer.
class Exchange {
 public:
  Exchange(const NicLibrary& nic, const nlmsghdr& request, std::uint32_t port)
      : nic_(nic), request_(request), port_(port), dump_((request.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) {
    const auto* at = reinterpret_cast<const char*>(&request) + NLMSG_HDRLEN;
    std::size_t left = request.nlmsg_len - NLMSG_HDRLEN;
    while (left >= NLA_HDRLEN) {
      const auto* attribute = reinterpret_cast<const nlattr*>(at);
      if (attribute->nla_len < NLA_HDRLEN || attribute->nla_len > left) break;
      std::uint32_t number = 0;
      if (attribute->nla_len >= NLA_HDRLEN + sizeof number) std::memcpy(&number, at + NLA_HDRLEN, sizeof number);
      numbers_[attribute->nla_type & NLA_TYPE_MASK] = number;
      const std::size_t step = std::min<std::size_t>(NLA_ALIGN(attribute->nla_len), left);
      at += step;
      left -= step;
    }
  }

  std::vector<std::vector<char>> answer() {
    const int error = execute(request_.nlmsg_type & 0x3ff);
    if (error != 0 || (!dump_ && (request_.nlmsg_flags & NLM_F_ACK) != 0)) {
      Message end(request_, NLMSG_ERROR, 0, port_);
      const nlmsgerr status{.error = -error, .msg = request_};
      end.payload(&status, sizeof status);
      messages_.push_back(end.done());
    } else if (dump_) {
      Message end(request_, NLMSG_DONE, NLM_F_MULTI, port_);
      const int none = 0;
      end.payload(&none, sizeof none);
      messages_.push_back(end.done());
    }
    return std::move(messages_);
  }

 private:
  int execute(std::uint32_t command) {
    switch (command) {
      case RDMA_NLDEV_CMD_GET:
        return each_device(command, [&](const DeviceFacts& device, Message& message) { describe(device, message); });
      case RDMA_NLDEV_CMD_PORT_GET:
        return each_port(command, [&](const DeviceFacts& device, std::uint32_t port_num, Message& message) {
          describe_port(device, port_num, message);
        });
      case RDMA_NLDEV_CMD_SYS_GET: {
        Message message = begin(command);
        message.put(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, std::uint8_t{1});  // shared
        messages_.push_back(message.done());
        return 0;
      }
      case RDMA_NLDEV_CMD_RES_GET:
        return each_device(command, [&](const DeviceFacts& device, Message& message) { summarize(device, message); });
      case RDMA_NLDEV_CMD_RES_QP_GET:
        return each_device(command,
                           [&](const DeviceFacts& device, Message& message) { list_queue_pairs(device, message); });
      case RDMA_NLDEV_CMD_STAT_GET:
        if (numbers_.count(RDMA_NLDEV_ATTR_STAT_RES) != 0) return EOPNOTSUPP;  // of single objects
        return each_port(command,
                         [&](const DeviceFacts& device, std::uint32_t, Message& message) { count(device, message); });
      default:
        return EOPNOTSUPP;
    }
  }

  Message begin(std::uint32_t command) {
    return {request_, type_of(command), static_cast<std::uint16_t>(dump_ ? NLM_F_MULTI : 0), port_};
  }

  // For the device that the request names; of a dump without one, for all.
  template <typename Write>
  int each_device(std::uint32_t command, const Write& write) {
    const auto wanted = numbers_.find(RDMA_NLDEV_ATTR_DEV_INDEX);
    if (wanted == numbers_.end() && !dump_) return EINVAL;
    bool any = false;
    for (const DeviceFacts& device : all_devices(nic_)) {
      if (wanted != numbers_.end() && wanted->second != device.index) continue;
      any = true;
      Message message = begin(command);
      message.put(RDMA_NLDEV_ATTR_DEV_INDEX, device.index);
      message.put(RDMA_NLDEV_ATTR_DEV_NAME, device.name);
      write(device, message);
      messages_.push_back(message.done());
    }
    return any || wanted == numbers_.end() ? 0 : EINVAL;
  }

  template <typename Write>
  int each_port(std::uint32_t command, const Write& write) {
    const auto wanted_device = numbers_.find(RDMA_NLDEV_ATTR_DEV_INDEX);
    const auto wanted = numbers_.find(RDMA_NLDEV_ATTR_PORT_INDEX);
    if (!dump_ && (wanted_device == numbers_.end() || wanted == numbers_.end())) return EINVAL;
    bool any = false;
    for (const DeviceFacts& device : all_devices(nic_)) {
      if (wanted_device != numbers_.end() && wanted_device->second != device.index) continue;
      for (std::uint32_t port_num = 1; port_num <= device.ports(); ++port_num) {
        if (wanted != numbers_.end() && wanted->second != port_num) continue;
        any = true;
        Message message = begin(command);
        message.put(RDMA_NLDEV_ATTR_DEV_INDEX, device.index);
        message.put(RDMA_NLDEV_ATTR_DEV_NAME, device.name);
        message.put(RDMA_NLDEV_ATTR_PORT_INDEX, port_num);
        write(device, port_num, message);
        messages_.push_back(message.done());
      }
    }
    return any || dump_ ? 0 : EINVAL;
  }

  static void describe(const DeviceFacts& device, Message& message) {
    message.put(RDMA_NLDEV_ATTR_PORT_INDEX, device.ports());
    message.put(RDMA_NLDEV_ATTR_CAP_FLAGS, std::uint64_t{0});
    message.put(RDMA_NLDEV_ATTR_FW_VERSION, device.file("fw_ver"));
    message.put(RDMA_NLDEV_ATTR_NODE_GUID, device.guid("node_guid"));
    message.put(RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, device.guid("sys_image_guid"));
    message.put(RDMA_NLDEV_ATTR_DEV_NODE_TYPE, device.number("node_type"));
    message.put(RDMA_NLDEV_ATTR_DEV_PROTOCOL, std::string("roce"));
  }

  static void describe_port(const DeviceFacts& device, std::uint32_t port_num, Message& message) {
    const std::string folder = "ports/" + std::to_string(port_num) + "/";
    message.put(RDMA_NLDEV_ATTR_PORT_STATE, device.number(folder + "state"));
    message.put(RDMA_NLDEV_ATTR_PORT_PHYS_STATE, device.number(folder + "phys_state"));
    const std::string interface = device.file(folder + "gid_attrs/ndevs/0");
    if (interface.empty()) return;
    const std::string index = device.file("device/net/" + interface + "/ifindex");
    message.put(RDMA_NLDEV_ATTR_NDEV_INDEX, static_cast<std::uint32_t>(std::strtoul(index.c_str(), nullptr, 10)));
    message.put(RDMA_NLDEV_ATTR_NDEV_NAME, interface);
  }

  void summarize(const DeviceFacts& device, Message& message) const {
    const Reports reports(nic_, device.name);
    const std::size_t summary = message.open(RDMA_NLDEV_ATTR_RES_SUMMARY);
    const auto add = [&](const char* name, std::uint64_t count) {
      const std::size_t entry = message.open(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
      message.put(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, std::string(name));
      message.put(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count);
      message.close(entry);
    };
    add("pd", reports.sum("pdCount"));
    add("cq", reports.sum("cqCount"));
    add("qp", reports.sum("queuePairCount"));
    add("mr", reports.sum("mrCount"));
    add("ctx", reports.processes());
    add("srq", reports.sum("srqCount"));
    message.close(summary);
  }

  void list_queue_pairs(const DeviceFacts& device, Message& message) const {
    static const std::map<std::string, std::uint8_t> kTypes = {{"RC", 2},         {"UC", 3},       {"UD", 4},
                                                               {"RAW_PACKET", 8}, {"XRC_SEND", 9}, {"XRC_RECV", 10}};
    static const std::map<std::string, std::uint8_t> kStates = {{"RESET", 0}, {"INIT", 1}, {"RTR", 2}, {"RTS", 3},
                                                                {"SQD", 4},   {"SQE", 5},  {"ERR", 6}};
    const std::size_t list = message.open(RDMA_NLDEV_ATTR_RES_QP);
    Reports(nic_, device.name).queue_pairs([&](int pid, const std::string& text) {
      const auto number = [&](const char* key) {
        return static_cast<std::uint32_t>(Reports::value(text, key, 0).value_or(0));
      };
      const auto code = [&](const auto& codes, const char* key) {
        const auto found = codes.find(Reports::word(text, key));
        return found == codes.end() ? std::uint8_t{0xff} : found->second;
      };
      const std::size_t entry = message.open(RDMA_NLDEV_ATTR_RES_QP_ENTRY);
      message.put(RDMA_NLDEV_ATTR_PORT_INDEX, std::uint32_t{1});
      message.put(RDMA_NLDEV_ATTR_RES_LQPN, number("qpNum"));
      const std::uint8_t type = code(kTypes, "type");
      if (type == 2 || type == 3) {
        message.put(RDMA_NLDEV_ATTR_RES_RQPN, number("destQpNum"));
        message.put(RDMA_NLDEV_ATTR_RES_RQ_PSN, number("receivedPsn"));
      }
      message.put(RDMA_NLDEV_ATTR_RES_SQ_PSN, number("sentPsn"));
      message.put(RDMA_NLDEV_ATTR_RES_TYPE, type);
      message.put(RDMA_NLDEV_ATTR_RES_STATE, code(kStates, "state"));
      message.put(RDMA_NLDEV_ATTR_RES_PID, static_cast<std::uint32_t>(pid));
      message.close(entry);
    });
    message.close(list);
  }

  void count(const DeviceFacts& device, Message& message) const {
    const std::size_t list = message.open(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
    for (const auto& [name, value] : Reports(nic_, device.name).counters()) {
      const std::size_t entry = message.open(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
      message.put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
      message.put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
      message.close(entry);
    }
    message.close(list);
  }

  const NicLibrary& nic_;
  const nlmsghdr& request_;
  const std::uint32_t port_;
  const bool dump_;
  std::map<std::uint16_t, std::uint32_t> numbers_;  // attributes of the request
  std::vector<std::vector<char>> messages_;
};

bool is_ours(int fd) {
  int protocol = 0;
  socklen_t size = sizeof protocol;
  return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 && protocol == NETLINK_USERSOCK;
}

// The address by which messages reach the socket; it gets one now if it has none.
std::uint32_t port_of(int fd) {
  sockaddr_nl address{};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.nl_pid != 0) return address.nl_pid;
  address = {};
  address.nl_family = AF_NETLINK;
  size = sizeof address;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0) return 0;
  return getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 ? address.nl_pid : 0;
}

// Whether `data` is a request to the kernel about RDMA devices on such a socket.
const nlmsghdr* request_in(int fd, const void* data, std::size_t size, const sockaddr* to, socklen_t to_size) {
  if (!to || to_size < sizeof(sockaddr_nl) || to->sa_family != AF_NETLINK) return nullptr;
  if (reinterpret_cast<const sockaddr_nl*>(to)->nl_pid != 0 || size < NLMSG_HDRLEN || !data) return nullptr;
  const auto* request = static_cast<const nlmsghdr*>(data);
  if (request->nlmsg_len < NLMSG_HDRLEN || request->nlmsg_len > size) return nullptr;
  return request->nlmsg_type >> 10 == RDMA_NL_NLDEV && is_ours(fd) ? request : nullptr;
}

// The answer is in the socket's queue when this returns. -1 and errno.
ssize_t answer(int fd, const nlmsghdr& request, std::size_t size) {
  const int before = errno;
  try {
    const Own own;
    const NicLibrary* nic = NicLibrary::get();
    const std::uint32_t port = port_of(fd);
    const int from = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
    if (!nic || port == 0 || from < 0) {
      if (from >= 0) close(from);
      errno = ECONNREFUSED;
      return -1;
    }
    sockaddr_nl to{};
    to.nl_family = AF_NETLINK;
    to.nl_pid = port;
    for (const std::vector<char>& message : Exchange(*nic, request, port).answer()) {
      const iovec part{const_cast<char*>(message.data()), message.size()};
      msghdr header{};
      header.msg_name = &to;
      header.msg_namelen = sizeof to;
      header.msg_iov = const_cast<iovec*>(&part);
      header.msg_iovlen = 1;
      sendmsg(from, &header, MSG_DONTWAIT);
    }
    close(from);
  } catch (...) {
    errno = ENOMEM;
    return -1;
  }
  errno = before;
  return static_cast<ssize_t>(size);
}

}  // namespace

}  // namespace verbs::soft::system

using namespace verbs::soft::system;

VERBS_REPLACES(int, socket, int domain, int type, int protocol) {
  using Socket = int(int, int, int);
  static Socket* libc = next<Socket>("socket");
  const int fd = libc(domain, type, protocol);
  if (fd >= 0 || domain != AF_NETLINK || protocol != NETLINK_RDMA) return fd;
  return libc(domain, type, NETLINK_USERSOCK);
}

VERBS_REPLACES(ssize_t, sendto, int fd, const void* data, std::size_t size, int flags, const sockaddr* to,
               socklen_t to_size) {
  using Sendto = ssize_t(int, const void*, std::size_t, int, const sockaddr*, socklen_t);
  static Sendto* libc = next<Sendto>("sendto");
  if (const nlmsghdr* request = request_in(fd, data, size, to, to_size)) return answer(fd, *request, size);
  return libc(fd, data, size, flags, to, to_size);
}

VERBS_REPLACES(ssize_t, sendmsg, int fd, const msghdr* message, int flags) {
  using Sendmsg = ssize_t(int, const msghdr*, int);
  static Sendmsg* libc = next<Sendmsg>("sendmsg");
  if (message && message->msg_iovlen == 1 && message->msg_iov) {
    const iovec& part = message->msg_iov[0];
    const auto* to = static_cast<const sockaddr*>(message->msg_name);
    if (const nlmsghdr* request = request_in(fd, part.iov_base, part.iov_len, to, message->msg_namelen)) {
      return answer(fd, *request, part.iov_len);
    }
  }
  return libc(fd, message, flags);
}
