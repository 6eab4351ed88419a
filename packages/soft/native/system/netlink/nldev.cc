#include "system/netlink/nldev.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "system/libc.h"
#include "system/netlink/netlink_calls.h"
#include "system/netlink/publications.h"

namespace verbs::soft::system {

namespace {

constexpr std::uint16_t type_of(std::uint32_t command) {
  return static_cast<std::uint16_t>((RDMA_NL_NLDEV << 10) + command);
}

// The number of an attribute of a request; nullopt: it has none of that type.
std::optional<std::uint32_t> attribute_of(const nlmsghdr& request, int type) {
  const auto* at = reinterpret_cast<const char*>(&request) + NLMSG_HDRLEN;
  std::size_t left = request.nlmsg_len - NLMSG_HDRLEN;
  while (left >= NLA_HDRLEN) {
    const auto* attribute = reinterpret_cast<const nlattr*>(at);
    if (attribute->nla_len < NLA_HDRLEN || attribute->nla_len > left) break;
    if ((attribute->nla_type & NLA_TYPE_MASK) == type) {
      std::uint32_t number = 0;
      if (attribute->nla_len >= NLA_HDRLEN + sizeof number) std::memcpy(&number, at + NLA_HDRLEN, sizeof number);
      return number;
    }
    const std::size_t aligned = NLA_ALIGN(attribute->nla_len);
    const std::size_t step = aligned < left ? aligned : left;
    at += step;
    left -= step;
  }
  return std::nullopt;
}

// -- objects: lists of the reports of processes

// What an object has: a number of its entry in a report.
struct Field {
  int attribute;
  std::string_view key;
  std::size_t size;
};

struct Code {
  std::string_view name;
  std::uint8_t code;
};
constexpr Code kQpTypes[] = {{"RC", 2}, {"UC", 3}, {"UD", 4}, {"RAW_PACKET", 8}, {"XRC_SEND", 9}, {"XRC_RECV", 10}};
constexpr Code kQpStates[] = {{"RESET", 0}, {"INIT", 1}, {"RTR", 2}, {"RTS", 3}, {"SQD", 4}, {"SQE", 5}, {"ERR", 6}};

template <std::size_t count>
std::uint8_t code_of(const Code (&codes)[count], std::string_view name) {
  for (const Code& code : codes) {
    if (code.name == name) return code.code;
  }
  return 0xff;
}

void put_queue_pair(std::string_view entry, NetlinkMessage& message) {
  const auto number = [&](std::string_view key) {
    return static_cast<std::uint32_t>(number_of(entry, key).value_or(0));
  };
  const std::uint8_t type = code_of(kQpTypes, word_of(entry, "type"));
  message.put(RDMA_NLDEV_ATTR_PORT_INDEX, std::uint32_t{1});
  if (constexpr std::uint8_t kRc = 2, kUc = 3; type == kRc || type == kUc) {
    message.put(RDMA_NLDEV_ATTR_RES_RQPN, number("destQpNum"));
    message.put(RDMA_NLDEV_ATTR_RES_RQ_PSN, number("receivedPsn"));
  }
  message.put(RDMA_NLDEV_ATTR_RES_SQ_PSN, number("sentPsn"));
  message.put(RDMA_NLDEV_ATTR_RES_TYPE, type);
  message.put(RDMA_NLDEV_ATTR_RES_STATE, code_of(kQpStates, word_of(entry, "state")));
}

// An address as the kernel has it, 128 bytes. Nothing if the entry has none of that key.
void put_address(std::string_view entry, int attribute, std::string_view key, std::string_view port_key,
                 NetlinkMessage& message) {
  TextOf<INET6_ADDRSTRLEN> text;
  text.add(word_of(entry, key));
  const auto port = htons(static_cast<std::uint16_t>(number_of(entry, port_key).value_or(0)));
  sockaddr_storage address{};
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(address);
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(address);
  if (inet_pton(AF_INET, text.c_str(), &ipv4.sin_addr) == 1) {
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = port;
  } else if (inet_pton(AF_INET6, text.c_str(), &ipv6.sin6_addr) == 1) {
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = port;
  } else {
    return;
  }
  message.put(attribute, address);
}

void put_cm_id(std::string_view entry, NetlinkMessage& message) {
  const auto number = [&](std::string_view key) { return number_of(entry, key); };
  if (const auto port = number("portNum")) {
    message.put(RDMA_NLDEV_ATTR_PORT_INDEX, static_cast<std::uint32_t>(*port));
  }
  if (const auto qp_num = number("qpNum")) {
    message.put(RDMA_NLDEV_ATTR_RES_LQPN, static_cast<std::uint32_t>(*qp_num));
    message.put(RDMA_NLDEV_ATTR_RES_TYPE, static_cast<std::uint8_t>(number("type").value_or(0)));
  }
  message.put(RDMA_NLDEV_ATTR_RES_PS, static_cast<std::uint32_t>(number("portSpace").value_or(0)));
  message.put(RDMA_NLDEV_ATTR_RES_STATE, static_cast<std::uint8_t>(number("state").value_or(0)));
  put_address(entry, RDMA_NLDEV_ATTR_RES_SRC_ADDR, "source", "sourcePort", message);
  put_address(entry, RDMA_NLDEV_ATTR_RES_DST_ADDR, "destination", "destinationPort", message);
}

struct List {
  std::uint32_t command;
  int list, entry, id;  // attributes
  std::string_view reported, number;
  Field fields[4];
};
constexpr List kLists[] = {
    {RDMA_NLDEV_CMD_RES_QP_GET,
     RDMA_NLDEV_ATTR_RES_QP,
     RDMA_NLDEV_ATTR_RES_QP_ENTRY,
     RDMA_NLDEV_ATTR_RES_LQPN,
     "queuePairs",
     "qpNum",
     {}},
    {RDMA_NLDEV_CMD_RES_CM_ID_GET,
     RDMA_NLDEV_ATTR_RES_CM_ID,
     RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY,
     RDMA_NLDEV_ATTR_RES_CM_IDN,
     "cmIds",
     "cmIdn",
     {}},
    {RDMA_NLDEV_CMD_RES_CQ_GET,
     RDMA_NLDEV_ATTR_RES_CQ,
     RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
     RDMA_NLDEV_ATTR_RES_CQN,
     "cqs",
     "cqn",
     {{RDMA_NLDEV_ATTR_RES_CQE, "cqe", 4}, {RDMA_NLDEV_ATTR_RES_USECNT, "users", 8}}},
    {RDMA_NLDEV_CMD_RES_MR_GET,
     RDMA_NLDEV_ATTR_RES_MR,
     RDMA_NLDEV_ATTR_RES_MR_ENTRY,
     RDMA_NLDEV_ATTR_RES_MRN,
     "mrs",
     "mrn",
     {{RDMA_NLDEV_ATTR_RES_RKEY, "rkey", 4},
      {RDMA_NLDEV_ATTR_RES_LKEY, "lkey", 4},
      {RDMA_NLDEV_ATTR_RES_MRLEN, "length", 8},
      {RDMA_NLDEV_ATTR_RES_PDN, "pdn", 4}}},
    {RDMA_NLDEV_CMD_RES_SRQ_GET,
     RDMA_NLDEV_ATTR_RES_SRQ,
     RDMA_NLDEV_ATTR_RES_SRQ_ENTRY,
     RDMA_NLDEV_ATTR_RES_SRQN,
     "srqs",
     "srqn",
     {{RDMA_NLDEV_ATTR_RES_TYPE, "type", 1}, {RDMA_NLDEV_ATTR_RES_PDN, "pdn", 4}, {RDMA_NLDEV_ATTR_RES_CQN, "cqn", 4}}},
    {RDMA_NLDEV_CMD_RES_CTX_GET,
     RDMA_NLDEV_ATTR_RES_CTX,
     RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
     RDMA_NLDEV_ATTR_RES_CTXN,
     "contexts",
     "ctxn",
     {}},
    {RDMA_NLDEV_CMD_RES_PD_GET,
     RDMA_NLDEV_ATTR_RES_PD,
     RDMA_NLDEV_ATTR_RES_PD_ENTRY,
     RDMA_NLDEV_ATTR_RES_PDN,
     "pds",
     "pdn",
     {{RDMA_NLDEV_ATTR_RES_USECNT, "users", 8}}},
};

// Names of counters in the order of the alphabet; a folder has them in none.
class SortedNames {
 public:
  void add(std::string_view name) {
    if (name.size() >= sizeof(Name) || !memory_.reserve(sizeof(Name))) return;
    Name* all = names();
    std::size_t place = count();
    for (; place > 0 && name < std::string_view(all[place - 1].text); --place) all[place] = all[place - 1];
    std::memcpy(all[place].text, name.data(), name.size());
    all[place].text[name.size()] = '\0';
    memory_.resize(memory_.size() + sizeof(Name));
  }
  bool empty() const { return count() == 0; }
  template <typename Visit>
  void each(const Visit& visit) {
    for (std::size_t i = 0; i < count(); ++i) visit(std::string_view(names()[i].text));
  }

 private:
  struct Name {
    char text[64];
  };
  std::size_t count() const { return memory_.size() / sizeof(Name); }
  Name* names() { return reinterpret_cast<Name*>(memory_.data()); }

  Memory memory_;
};

// One request and its answer.
class Exchange {
 public:
  Exchange(const nlmsghdr& request, std::uint32_t port, int from, int to)
      : request_(request), port_(port), from_(from), to_(to), dump_((request.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) {}

  int answer() {
    const int error = facts_.whole() ? execute(request_.nlmsg_type & 0x3ff) : ECONNREFUSED;
    if (!facts_.whole()) return error;
    if (error != 0 || (!dump_ && (request_.nlmsg_flags & NLM_F_ACK) != 0)) {
      message_.begin(request_, NLMSG_ERROR, 0, port_);
      const nlmsgerr status{.error = -error, .msg = request_};
      message_.payload(&status, sizeof status);
      send();
    } else if (dump_) {
      message_.begin(request_, NLMSG_DONE, NLM_F_MULTI, port_);
      const int none = 0;
      message_.payload(&none, sizeof none);
      send();
    }
    if (failed_ != 0) take_back();
    return failed_;
  }

 private:
  std::optional<std::uint32_t> wanted(int attribute) const { return attribute_of(request_, attribute); }

  int execute(std::uint32_t command) {
    switch (command) {
      case RDMA_NLDEV_CMD_GET:
        return each_device([this](std::string_view device) { describe(device); });
      case RDMA_NLDEV_CMD_PORT_GET:
        return each_port([this](std::string_view device, std::uint32_t port_num) { describe_port(device, port_num); });
      case RDMA_NLDEV_CMD_SYS_GET:
        begin();
        message_.put(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, std::uint8_t{1});  // shared
        send();
        return 0;
      case RDMA_NLDEV_CMD_RES_GET: {
        const Publications reports;
        return each_device([&](std::string_view device) { summarize(reports, device); });
      }
      case RDMA_NLDEV_CMD_STAT_GET:
        if (wanted(RDMA_NLDEV_ATTR_STAT_RES)) return EOPNOTSUPP;  // of single objects
        return each_port([this](std::string_view device, std::uint32_t port_num) { count(device, port_num); });
      default:
        break;
    }
    for (const List& list : kLists) {
      if (list.command == command) return dump_ ? list_objects(list) : find_object(list);
    }
    return EOPNOTSUPP;
  }

  void begin() { message_.begin(request_, type_of(request_.nlmsg_type & 0x3ff), dump_ ? NLM_F_MULTI : 0, port_); }
  void begin(std::uint32_t index, std::string_view device) {
    begin();
    message_.put(RDMA_NLDEV_ATTR_DEV_INDEX, index);
    message_.put_text(RDMA_NLDEV_ATTR_DEV_NAME, device);
  }

  void send() {
    sockaddr_nl to{};
    to.nl_family = AF_NETLINK;
    to.nl_pid = port_;
    const std::string_view bytes = message_.done();
    const auto post = [&] {
      return syscall(SYS_sendto, from_, bytes.data(), bytes.size(), MSG_DONTWAIT, &to, sizeof to) >= 0;
    };
    if (failed_ != 0 || post()) return;
    make_room();
    if (!post()) failed_ = ENOBUFS;
  }

  // The kernel gives the next part of a list when the program has taken the one before. Here all of them have to find
  // room in the socket at once.
  void make_room() const {
    constexpr int kMost = 64 << 20;
    if (syscall(SYS_setsockopt, to_, SOL_SOCKET, SO_RCVBUFFORCE, &kMost, sizeof kMost) == 0) return;
    syscall(SYS_setsockopt, to_, SOL_SOCKET, SO_RCVBUF, &kMost, sizeof kMost);
  }

  // Half a list would be read as the answer to the next request.
  void take_back() const {
    char byte;
    while (syscall(SYS_recvfrom, to_, &byte, sizeof byte, MSG_DONTWAIT, nullptr, nullptr) >= 0) continue;
  }

  // Calls visit(index, name) for the device that the request names; of a dump without one, for all. 0 or errno.
  template <typename Visit>
  int each_wanted(const Visit& visit) {
    const auto index = wanted(RDMA_NLDEV_ATTR_DEV_INDEX);
    if (!index && !dump_) return EINVAL;
    bool any = false;
    facts_.devices([&](std::uint32_t each, std::string_view device) {
      if (index && *index != each) return;
      any = true;
      visit(each, device);
    });
    return any || !index ? 0 : EINVAL;
  }

  template <typename Write>
  int each_device(const Write& write) {
    return each_wanted([&](std::uint32_t index, std::string_view device) {
      begin(index, device);
      write(device);
      send();
    });
  }

  template <typename Write>
  int each_port(const Write& write) {
    const auto port = wanted(RDMA_NLDEV_ATTR_PORT_INDEX);
    if (!dump_ && !port) return EINVAL;
    bool any = false;
    const int error = each_wanted([&](std::uint32_t index, std::string_view device) {
      const std::uint32_t ports = ports_of(device);
      for (std::uint32_t port_num = 1; port_num <= ports; ++port_num) {
        if (port && *port != port_num) continue;
        any = true;
        begin(index, device);
        message_.put(RDMA_NLDEV_ATTR_PORT_INDEX, port_num);
        write(device, port_num);
        send();
      }
    });
    return error == 0 && !any && !dump_ ? EINVAL : error;
  }

  void describe(std::string_view device) {
    FileText firmware;
    read_fact(device, "fw_ver", &firmware);
    message_.put(RDMA_NLDEV_ATTR_PORT_INDEX, ports_of(device));
    message_.put(RDMA_NLDEV_ATTR_CAP_FLAGS, std::uint64_t{0});
    message_.put_text(RDMA_NLDEV_ATTR_FW_VERSION, firmware.view());
    message_.put(RDMA_NLDEV_ATTR_NODE_GUID, guid_in(device, "node_guid"));
    message_.put(RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, guid_in(device, "sys_image_guid"));
    message_.put(RDMA_NLDEV_ATTR_DEV_NODE_TYPE, static_cast<std::uint8_t>(number_in(device, "node_type")));
    message_.put_text(RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
  }

  void describe_port(std::string_view device, std::uint32_t port_num) {
    const auto file = [&](std::string_view name, Text* path) -> std::string_view {
      return path->add("ports/").add_number(port_num).add('/').add(name).view();
    };
    TextOf<64> state, physical, attached;
    message_.put(RDMA_NLDEV_ATTR_PORT_STATE, static_cast<std::uint8_t>(number_in(device, file("state", &state))));
    message_.put(RDMA_NLDEV_ATTR_PORT_PHYS_STATE,
                 static_cast<std::uint8_t>(number_in(device, file("phys_state", &physical))));
    FileText interface;
    if (!read_fact(device, file("gid_attrs/ndevs/0", &attached), &interface)) return;
    TextOf<128> index;
    index.add("device/net/").add(interface.view()).add("/ifindex");
    message_.put(RDMA_NLDEV_ATTR_NDEV_INDEX, static_cast<std::uint32_t>(number_in(device, index.view())));
    message_.put_text(RDMA_NLDEV_ATTR_NDEV_NAME, interface.view());
  }

  void summarize(const Publications& reports, std::string_view device) {
    std::uint64_t contexts = 0, pds = 0, cqs = 0, qps = 0, cm_ids = 0, mrs = 0, srqs = 0;
    reports.of_device(device, [&](pid_t, std::string_view part) {
      contexts += number_of(part, "contextCount").value_or(0);
      pds += number_of(part, "pdCount").value_or(0);
      cqs += number_of(part, "cqCount").value_or(0);
      qps += number_of(part, "queuePairCount").value_or(0);
      cm_ids += number_of(part, "cmIdCount").value_or(0);
      mrs += number_of(part, "mrCount").value_or(0);
      srqs += number_of(part, "srqCount").value_or(0);
    });
    const std::size_t summary = message_.open(RDMA_NLDEV_ATTR_RES_SUMMARY);
    const auto add = [&](std::string_view name, std::uint64_t objects) {
      const std::size_t entry = message_.open(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
      message_.put_text(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);
      message_.put(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, objects);
      message_.close(entry);
    };
    add("pd", pds);
    add("cq", cqs);
    add("qp", qps);
    add("cm_id", cm_ids);
    add("mr", mrs);
    add("ctx", contexts);
    add("srq", srqs);
    message_.close(summary);
  }

  void put_object(const List& list, pid_t pid, std::string_view entry) {
    message_.put(list.id, static_cast<std::uint32_t>(number_of(entry, list.number).value_or(0)));
    if (list.command == RDMA_NLDEV_CMD_RES_QP_GET) put_queue_pair(entry, message_);
    if (list.command == RDMA_NLDEV_CMD_RES_CM_ID_GET) put_cm_id(entry, message_);
    for (const Field& field : list.fields) {
      const auto value = field.size == 0 ? std::nullopt : number_of(entry, field.key);
      if (!value) continue;
      if (field.size == sizeof(std::uint64_t)) {
        message_.put(field.attribute, *value);
      } else if (field.size == sizeof(std::uint8_t)) {
        message_.put(field.attribute, static_cast<std::uint8_t>(*value));
      } else {
        message_.put(field.attribute, static_cast<std::uint32_t>(*value));
      }
    }
    message_.put(RDMA_NLDEV_ATTR_RES_PID, static_cast<std::uint32_t>(pid));
  }

  // A program that asks for a port does not get identifiers of all ports, which it has asked for without one.
  bool is_of_wanted_port(const List& list, std::string_view entry) const {
    const auto port = wanted(RDMA_NLDEV_ATTR_PORT_INDEX);
    return !port || list.command != RDMA_NLDEV_CMD_RES_CM_ID_GET || number_of(entry, "portNum").value_or(0) == *port;
  }

  int list_objects(const List& list) {
    const Publications reports;
    return each_wanted([&](std::uint32_t index, std::string_view device) {
      begin(index, device);
      std::size_t start = message_.open(list.list);
      reports.entries(device, list.reported, [&](pid_t pid, std::string_view object) {
        if (!is_of_wanted_port(list, object)) return;
        if (message_.is_full()) {
          message_.close(start);
          send();
          begin(index, device);
          start = message_.open(list.list);
        }
        const std::size_t entry = message_.open(list.entry);
        put_object(list, pid, object);
        message_.close(entry);
      });
      message_.close(start);
      send();
    });
  }

  // The object with the number that the request names.
  int find_object(const List& list) {
    const auto id = wanted(list.id);
    if (!id) return EINVAL;
    const Publications reports;
    bool found = false;
    const int error = each_wanted([&](std::uint32_t index, std::string_view device) {
      reports.entries(device, list.reported, [&](pid_t pid, std::string_view object) {
        if (found || number_of(object, list.number) != *id) return;
        found = true;
        begin(index, device);
        put_object(list, pid, object);
        send();
      });
    });
    return error == 0 && !found ? ENOENT : error;
  }

  // A device with more ports than one counts for all of them together.
  void count(std::string_view device, std::uint32_t port_num) {
    TextOf<64> of_port;
    of_port.add("ports/").add_number(port_num).add("/hw_counters");
    SortedNames names;
    std::string_view folder = of_port.view();
    entries_of(device, folder, [&](std::string_view name) { names.add(name); });
    if (names.empty()) {
      folder = "hw_counters";
      entries_of(device, folder, [&](std::string_view name) { names.add(name); });
    }
    const std::size_t list = message_.open(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
    names.each([&](std::string_view name) {
      TextOf<machine::kNameRoom> file;
      file.add(folder).add('/').add(name);
      const std::size_t entry = message_.open(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
      message_.put_text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
      message_.put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, number_in(device, file.view()));
      message_.close(entry);
    });
    message_.close(list);
  }

  const nlmsghdr& request_;
  const std::uint32_t port_;
  const int from_;
  const int to_;
  const bool dump_;
  int failed_ = 0;
  Facts facts_;
  NetlinkMessage message_;
};

}  // namespace

int answer(const nlmsghdr& request, std::uint32_t port, int from, int to) {
  return Exchange(request, port, from, to).answer();
}

}  // namespace verbs::soft::system
