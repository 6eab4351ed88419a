// What rdma(8) asks the kernel, in a process with the preloaded library.
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "test/abi/support/device_pair.h"
#include "verbs_soft_cm.h"
#include "verbs_soft_extension.h"

using namespace verbs::soft::test;

namespace {

struct Answer {
  int error = -1;  // of the message that ends it; -1: there was none
  std::vector<std::vector<char>> messages;
};

constexpr std::uint16_t nldev(int command) { return static_cast<std::uint16_t>((RDMA_NL_NLDEV << 10) + command); }

class Socket {
 public:
  // `buffer`: bytes; 0 leaves it to the system.
  explicit Socket(int buffer = 0) : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA)) {
    REQUIRE(fd_ >= 0);
    if (buffer > 0) REQUIRE(setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer) == 0);
  }
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;

  // `by_message`: with sendmsg() instead of sendto().
  Answer ask(int command, std::uint16_t flags, const std::map<std::uint16_t, std::uint32_t>& numbers = {},
             bool by_message = false) {
    std::vector<char> bytes(NLMSG_HDRLEN);
    for (const auto& [type, number] : numbers) {
      const nlattr head{.nla_len = NLA_HDRLEN + sizeof number, .nla_type = type};
      bytes.insert(bytes.end(), reinterpret_cast<const char*>(&head), reinterpret_cast<const char*>(&head + 1));
      bytes.insert(bytes.end(), reinterpret_cast<const char*>(&number), reinterpret_cast<const char*>(&number + 1));
    }
    *reinterpret_cast<nlmsghdr*>(bytes.data()) = {
        .nlmsg_len = static_cast<std::uint32_t>(bytes.size()),
        .nlmsg_type = nldev(command),
        .nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags),
        .nlmsg_seq = ++sequence_,
        .nlmsg_pid = 0};
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    if (by_message) {
      iovec part{bytes.data(), bytes.size()};
      msghdr message{};
      message.msg_name = &kernel;
      message.msg_namelen = sizeof kernel;
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      CHECK(sendmsg(fd_, &message, 0) == static_cast<ssize_t>(bytes.size()));
    } else {
      CHECK(sendto(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&kernel), sizeof kernel) ==
            static_cast<ssize_t>(bytes.size()));
    }
    return receive();
  }

 private:
  Answer receive() {
    Answer answer;
    for (pollfd readable{.fd = fd_, .events = POLLIN, .revents = 0};
         answer.error < 0 && poll(&readable, 1, 1000) > 0;) {
      std::vector<char> bytes(65536);
      const ssize_t size = recv(fd_, bytes.data(), bytes.size(), 0);
      if (size < NLMSG_HDRLEN) break;
      const auto& header = *reinterpret_cast<const nlmsghdr*>(bytes.data());
      CHECK(header.nlmsg_len == static_cast<std::size_t>(size));
      CHECK(header.nlmsg_seq == sequence_);
      if (header.nlmsg_type == NLMSG_DONE) {
        answer.error = 0;
      } else if (header.nlmsg_type == NLMSG_ERROR) {
        answer.error = -*reinterpret_cast<const int*>(bytes.data() + NLMSG_HDRLEN);
      } else {
        answer.messages.emplace_back(bytes.begin() + NLMSG_HDRLEN, bytes.begin() + size);
      }
    }
    return answer;
  }

  int fd_;
  std::uint32_t sequence_ = 0;
};

// The attributes of a message, or of one of its lists.
std::multimap<int, std::string> attributes(const char* at, std::size_t left) {
  std::multimap<int, std::string> found;
  while (left >= NLA_HDRLEN) {
    const auto* head = reinterpret_cast<const nlattr*>(at);
    REQUIRE(head->nla_len >= NLA_HDRLEN);
    REQUIRE(head->nla_len <= left);
    found.emplace(head->nla_type & NLA_TYPE_MASK, std::string(at + NLA_HDRLEN, head->nla_len - NLA_HDRLEN));
    const std::size_t step = std::min<std::size_t>(NLA_ALIGN(head->nla_len), left);
    at += step;
    left -= step;
  }
  return found;
}
std::multimap<int, std::string> attributes(const std::vector<char>& bytes) {
  return attributes(bytes.data(), bytes.size());
}
std::multimap<int, std::string> attributes(const std::string& bytes) { return attributes(bytes.data(), bytes.size()); }

std::uint64_t number(const std::multimap<int, std::string>& in, int type) {
  const auto found = in.find(type);
  REQUIRE(found != in.end());
  std::uint64_t value = 0;
  std::memcpy(&value, found->second.data(), std::min(found->second.size(), sizeof value));
  return value;
}
std::string text(const std::multimap<int, std::string>& in, int type) {
  const auto found = in.find(type);
  REQUIRE(found != in.end());
  return found->second.c_str();
}

}  // namespace

TEST_CASE("devices and ports, one by one and all") {
  configure("net0;net1,ports=2");
  Socket socket;
  for (const bool by_message : {false, true}) {
    const Answer all = socket.ask(RDMA_NLDEV_CMD_GET, NLM_F_DUMP, {}, by_message);
    REQUIRE(all.messages.size() == 2);
    CHECK(all.error == 0);
    const auto second = attributes(all.messages[1]);
    CHECK(text(second, RDMA_NLDEV_ATTR_DEV_NAME) == "net1");
    CHECK(number(second, RDMA_NLDEV_ATTR_DEV_INDEX) == 1);
    CHECK(number(second, RDMA_NLDEV_ATTR_PORT_INDEX) == 2);
    CHECK(number(second, RDMA_NLDEV_ATTR_DEV_NODE_TYPE) == 1);
    int count = 0;
    ibv_device** list = ibv_get_device_list(&count);
    REQUIRE(count == 2);
    CHECK(number(second, RDMA_NLDEV_ATTR_NODE_GUID) == be64toh(ibv_get_device_guid(list[1])));
    ibv_free_device_list(list);
  }
  CHECK(socket.ask(RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP).messages.size() == 3);
  const Answer port =
      socket.ask(RDMA_NLDEV_CMD_PORT_GET, 0, {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}, {RDMA_NLDEV_ATTR_PORT_INDEX, 1}});
  REQUIRE(port.messages.size() == 1);
  CHECK(port.error == 0);
  const auto facts = attributes(port.messages[0]);
  CHECK(number(facts, RDMA_NLDEV_ATTR_PORT_STATE) == IBV_PORT_ACTIVE);
  CHECK(text(facts, RDMA_NLDEV_ATTR_NDEV_NAME) == "lo");
  CHECK(number(facts, RDMA_NLDEV_ATTR_NDEV_INDEX) == 1);
}

TEST_CASE("objects and counters are those of the processes that have the device open") {
  configure("net0;net1");
  Socket socket;
  const auto summary = [&] {
    std::map<std::string, std::uint64_t> counts;
    const Answer answer = socket.ask(RDMA_NLDEV_CMD_RES_GET, 0, {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}});
    REQUIRE(answer.messages.size() == 1);
    const auto list = attributes(answer.messages[0]);
    for (const auto& [type, entry] : attributes(list.find(RDMA_NLDEV_ATTR_RES_SUMMARY)->second)) {
      const auto fields = attributes(entry);
      counts[text(fields, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME)] =
          number(fields, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR);
    }
    return counts;
  };
  const auto listed = [&](int command, int list, int id) {
    std::vector<std::uint64_t> ids;
    const Answer answer = socket.ask(command, NLM_F_DUMP, {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}});
    REQUIRE(answer.messages.size() == 1);
    CHECK(answer.error == 0);
    const auto outer = attributes(answer.messages[0]);
    for (const auto& [type, entry] : attributes(outer.find(list)->second)) {
      const auto fields = attributes(entry);
      CHECK(number(fields, RDMA_NLDEV_ATTR_RES_PID) == static_cast<std::uint64_t>(getpid()));
      ids.push_back(number(fields, id));
    }
    return ids;
  };
  CHECK(summary()["qp"] == 0);
  End a("net0"), b("net1");
  a.connect(b);
  b.connect(a);
  REQUIRE(b.post_recv(0, 64) == 0);
  REQUIRE(a.send(0, 64) == 0);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  auto counts = summary();
  CHECK(counts["ctx"] == 1);
  CHECK(counts["qp"] == 1);
  CHECK(counts["cq"] == 1);
  CHECK(counts["mr"] == 1);
  CHECK(counts["pd"] == 1);

  const Answer qps = socket.ask(RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP, {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}});
  REQUIRE(qps.messages.size() == 1);
  const auto outer = attributes(qps.messages[0]);
  const auto list = attributes(outer.find(RDMA_NLDEV_ATTR_RES_QP)->second);
  REQUIRE(list.size() == 1);
  const auto qp = attributes(list.begin()->second);
  CHECK(number(qp, RDMA_NLDEV_ATTR_RES_LQPN) == a.qp->qp_num);
  CHECK(number(qp, RDMA_NLDEV_ATTR_RES_RQPN) == b.qp->qp_num);
  CHECK(number(qp, RDMA_NLDEV_ATTR_RES_TYPE) == IBV_QPT_RC);
  CHECK(number(qp, RDMA_NLDEV_ATTR_RES_STATE) == IBV_QPS_RTS);
  CHECK(number(qp, RDMA_NLDEV_ATTR_RES_PID) == static_cast<std::uint64_t>(getpid()));

  const Answer one = socket.ask(RDMA_NLDEV_CMD_RES_QP_GET, 0,
                                {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}, {RDMA_NLDEV_ATTR_RES_LQPN, a.qp->qp_num}});
  REQUIRE(one.messages.size() == 1);
  CHECK(number(attributes(one.messages[0]), RDMA_NLDEV_ATTR_RES_RQPN) == b.qp->qp_num);
  const std::map<std::uint16_t, std::uint32_t> other = {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}, {RDMA_NLDEV_ATTR_RES_LQPN, 1}};
  CHECK(socket.ask(RDMA_NLDEV_CMD_RES_QP_GET, 0, other).error == ENOENT);
  CHECK(listed(RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_LKEY) ==
        std::vector<std::uint64_t>{a.mr->lkey});
  CHECK(listed(RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQE) ==
        std::vector<std::uint64_t>{static_cast<std::uint64_t>(a.cq->cqe)});
  CHECK(listed(RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_USECNT) ==
        std::vector<std::uint64_t>{2});  // the queue pair and the region
  CHECK(listed(RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQN).empty());
  ibv_srq_init_attr init{};
  init.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
  ibv_srq* srq = ibv_create_srq(a.pd, &init);
  REQUIRE(srq);
  std::uint32_t srqn = 0;
  REQUIRE(ibv_get_srq_num(srq, &srqn) == 0);
  CHECK(listed(RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQN) ==
        std::vector<std::uint64_t>{srqn});
  CHECK(listed(RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_TYPE) ==
        std::vector<std::uint64_t>{IBV_SRQT_BASIC});
  REQUIRE(ibv_destroy_srq(srq) == 0);
  CHECK(listed(RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTXN).size() == 1);
  {
    const Context second = open_device("net0");
    CHECK(listed(RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTXN).size() == 2);
    CHECK(summary()["ctx"] == 2);
  }

  const Answer statistic =
      socket.ask(RDMA_NLDEV_CMD_STAT_GET, 0, {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}, {RDMA_NLDEV_ATTR_PORT_INDEX, 1}});
  REQUIRE(statistic.messages.size() == 1);
  const auto statistics = attributes(statistic.messages[0]);
  std::map<std::string, std::uint64_t> values;
  for (const auto& [type, entry] : attributes(statistics.find(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS)->second)) {
    const auto fields = attributes(entry);
    values[text(fields, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME)] =
        number(fields, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
  }
  CHECK(values["sent_pkts"] >= counter("net0", "sent_pkts"));  // of other processes, too
  CHECK(values["sent_pkts"] > 0);
  CHECK(values.size() > 20);
}

TEST_CASE("a list may be longer than the buffer of the socket") {
  configure("net0");
  const End end("net0");
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = end.cq;
  init.qp_type = IBV_QPT_RC;
  init.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  std::vector<ibv_qp*> pairs(600);
  for (ibv_qp*& pair : pairs) REQUIRE((pair = ibv_create_qp(end.pd, &init)) != nullptr);
  Socket socket(4096);
  std::size_t listed = 0;
  const Answer answer = socket.ask(RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP, {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}});
  CHECK(answer.error == 0);
  CHECK(answer.messages.size() > 1);
  for (const auto& message : answer.messages) {
    const auto outer = attributes(message);
    listed += attributes(outer.find(RDMA_NLDEV_ATTR_RES_QP)->second).size();
  }
  CHECK(listed == pairs.size() + 1);
  for (ibv_qp* pair : pairs) CHECK(ibv_destroy_qp(pair) == 0);
}

TEST_CASE("signals take no objects away") {
  configure("net0;net1");
  Socket socket;
  End a("net0"), b("net1");
  struct sigaction action{}, old{};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  REQUIRE(sigaction(SIGALRM, &action, &old) == 0);
  const itimerval often{.it_interval = {0, 50}, .it_value = {0, 50}};
  REQUIRE(setitimer(ITIMER_REAL, &often, nullptr) == 0);
  int whole = 0;
  for (int i = 0; i < 50; ++i) {
    whole += socket
                 .ask(RDMA_NLDEV_CMD_RES_QP_GET, 0,
                      {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}, {RDMA_NLDEV_ATTR_RES_LQPN, a.qp->qp_num}})
                 .messages.size() == 1;
  }
  const itimerval never{};
  REQUIRE(setitimer(ITIMER_REAL, &never, nullptr) == 0);
  REQUIRE(sigaction(SIGALRM, &old, nullptr) == 0);
  CHECK(whole == 50);
}

TEST_CASE("identifiers of the connection manager: those of a process, in the state that they were shown last") {
  configure("net0;net1");
  Socket socket;
  const verbs_soft_cm_table* cm =
      verbs_soft_extension(VERBS_SOFT_EXTENSION_VERSION)->connection_manager(VERBS_SOFT_CM_VERSION);
  REQUIRE(cm);
  const Context context = open_device("net0");
  const auto entries = [&] {
    std::vector<std::multimap<int, std::string>> all;
    const Answer answer = socket.ask(RDMA_NLDEV_CMD_RES_CM_ID_GET, NLM_F_DUMP, {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}});
    CHECK(answer.error == 0);
    for (const auto& message : answer.messages) {
      CHECK(message.size() + NLMSG_HDRLEN <= 4096);
      const auto outer = attributes(message);
      for (const auto& [type, entry] : attributes(outer.find(RDMA_NLDEV_ATTR_RES_CM_ID)->second)) {
        all.push_back(attributes(entry));
      }
    }
    return all;
  };
  CHECK(entries().empty());
  verbs_soft_cm_id id{};
  id.state = VERBS_SOFT_CM_ID_LISTEN;
  id.port_space = 0x106;  // TCP
  id.qp_type = IBV_QPT_RC;
  auto& source = reinterpret_cast<sockaddr_in&>(id.source);
  source = {.sin_family = AF_INET, .sin_port = htons(7174), .sin_addr = {htonl(INADDR_ANY)}, .sin_zero = {}};
  int keys[64];
  REQUIRE(cm->show(context.get(), &keys[0], &id) == 0);
  auto all = entries();
  REQUIRE(all.size() == 1);
  CHECK(number(all[0], RDMA_NLDEV_ATTR_RES_STATE) == 8);
  CHECK(number(all[0], RDMA_NLDEV_ATTR_RES_PS) == 0x106);
  CHECK(number(all[0], RDMA_NLDEV_ATTR_RES_PID) == static_cast<std::uint64_t>(getpid()));
  CHECK(all[0].count(RDMA_NLDEV_ATTR_RES_LQPN) == 0);
  CHECK(all[0].count(RDMA_NLDEV_ATTR_PORT_INDEX) == 0);
  CHECK(all[0].count(RDMA_NLDEV_ATTR_RES_DST_ADDR) == 0);
  const std::map<std::uint16_t, std::uint32_t> of_port = {{RDMA_NLDEV_ATTR_DEV_INDEX, 0},
                                                          {RDMA_NLDEV_ATTR_PORT_INDEX, 1}};
  const auto of_one_port = [&] {
    const Answer answer = socket.ask(RDMA_NLDEV_CMD_RES_CM_ID_GET, NLM_F_DUMP, of_port);
    REQUIRE(answer.messages.size() == 1);
    return attributes(attributes(answer.messages[0]).find(RDMA_NLDEV_ATTR_RES_CM_ID)->second).size();
  };
  CHECK(of_one_port() == 0);
  const std::string& bytes = all[0].find(RDMA_NLDEV_ATTR_RES_SRC_ADDR)->second;
  REQUIRE(bytes.size() == sizeof(sockaddr_storage));
  CHECK(std::memcmp(bytes.data(), &id.source, sizeof id.source) == 0);

  // Of IPv6, in another state, with a queue pair.
  id.state = VERBS_SOFT_CM_ID_CONNECT;
  id.port_num = 1;
  id.qp_num = 4711;
  auto& destination = reinterpret_cast<sockaddr_in6&>(id.destination);
  destination.sin6_family = AF_INET6;
  destination.sin6_port = htons(18515);
  REQUIRE(inet_pton(AF_INET6, "fd77::1", &destination.sin6_addr) == 1);
  const auto cm_idn = static_cast<std::uint32_t>(number(all[0], RDMA_NLDEV_ATTR_RES_CM_IDN));
  REQUIRE(cm->show(context.get(), &keys[0], &id) == 0);
  const std::map<std::uint16_t, std::uint32_t> wanted = {{RDMA_NLDEV_ATTR_DEV_INDEX, 0},
                                                         {RDMA_NLDEV_ATTR_RES_CM_IDN, cm_idn}};
  const Answer one = socket.ask(RDMA_NLDEV_CMD_RES_CM_ID_GET, 0, wanted);
  REQUIRE(one.messages.size() == 1);
  const auto connected = attributes(one.messages[0]);
  CHECK(number(connected, RDMA_NLDEV_ATTR_RES_STATE) == 5);
  CHECK(number(connected, RDMA_NLDEV_ATTR_RES_LQPN) == 4711);
  CHECK(number(connected, RDMA_NLDEV_ATTR_RES_TYPE) == IBV_QPT_RC);
  CHECK(number(connected, RDMA_NLDEV_ATTR_PORT_INDEX) == 1);
  CHECK(of_one_port() == 1);
  const std::string& to = connected.find(RDMA_NLDEV_ATTR_RES_DST_ADDR)->second;
  REQUIRE(to.size() == sizeof(sockaddr_storage));
  CHECK(std::memcmp(to.data(), &id.destination, sizeof id.destination) == 0);

  for (const int& key : keys) REQUIRE(cm->show(context.get(), &key, &id) == 0);
  CHECK(entries().size() == 64);  // in messages that receivers have room for
  for (const int& key : keys) cm->hide(context.get(), &key);
  CHECK(entries().empty());
  CHECK(socket.ask(RDMA_NLDEV_CMD_RES_CM_ID_GET, 0, wanted).error == ENOENT);
}

TEST_CASE("what cannot be answered is an error, and other sockets are the kernel's") {
  configure("net0");
  Socket socket;
  CHECK(socket.ask(RDMA_NLDEV_CMD_RES_MR_GET_RAW, NLM_F_DUMP, {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}}).error == EOPNOTSUPP);
  CHECK(socket.ask(RDMA_NLDEV_CMD_GET, 0, {{RDMA_NLDEV_ATTR_DEV_INDEX, 7}}).error == EINVAL);
  CHECK(socket.ask(RDMA_NLDEV_CMD_GET, 0).error == EINVAL);
  CHECK(
      socket.ask(RDMA_NLDEV_CMD_PORT_GET, 0, {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}, {RDMA_NLDEV_ATTR_PORT_INDEX, 9}}).error ==
      EINVAL);
  const int route = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  REQUIRE(route >= 0);
  int protocol = -1;
  socklen_t size = sizeof protocol;
  CHECK(getsockopt(route, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0);
  CHECK(protocol == NETLINK_ROUTE);
  close(route);
}
