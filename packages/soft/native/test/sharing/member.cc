#include "test/sharing/member.h"

#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "verbs_soft.h"

namespace verbs::soft::test::sharing {
namespace {

constexpr int kHang = 60'000;          // milliseconds
constexpr std::uint32_t kSize = 3000;  // bytes of a message: several packets
constexpr int kWindow = 8;             // messages under way
// 537 ms, eight times: on a loaded machine ten processes that poll keep each other waiting for a second.
constexpr std::uint8_t kTimeout = 17;
constexpr const char* kDevice = "soft0";

enum class Command : int { kMake, kConnect, kExchange, kCounter };

struct Order {
  Command command;
  int other = 0;
  unsigned others = 0;
  int count = 0;
  std::uint32_t stamp = 0;
  Address address{};
  char name[48] = "";
};

struct Answer {
  Address address{};
  unsigned failed = 0;
  std::uint64_t value = 0;
};

void fill(std::uint8_t* at, std::uint32_t stamp, std::uint32_t number) {
  std::uint32_t word = stamp * 2654435761u ^ number;
  for (std::uint32_t i = 0; i < kSize; i += 4, word = word * 1664525u + 1013904223u) std::memcpy(at + i, &word, 4);
}

class Connection {
 public:
  Connection(ibv_context* context, ibv_pd* pd) : context_(context) {
    cq_ = ibv_create_cq(context, 4 * kWindow, nullptr, nullptr, 0);
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory_ = static_cast<std::uint8_t*>(memory);
    mr_ = cq_ ? ibv_reg_mr(pd, memory, kBytes, IBV_ACCESS_LOCAL_WRITE) : nullptr;
    ibv_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = cq_;
    attr.qp_type = IBV_QPT_RC;
    attr.sq_sig_all = 1;
    attr.cap = {
        .max_send_wr = kWindow, .max_recv_wr = 2 * kWindow, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    qp_ = mr_ ? ibv_create_qp(pd, &attr) : nullptr;
    require(qp_, "no queue pair");
  }
  ~Connection() {
    ibv_destroy_qp(qp_);
    ibv_dereg_mr(mr_);
    ibv_destroy_cq(cq_);
    munmap(memory_, kBytes);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Address address() const {
    Address address{.qpn = qp_->qp_num};
    require(ibv_query_gid(context_, 1, 0, &address.gid) == 0, "no GID");
    return address;
  }

  void connect(const Address& peer, std::uint32_t own_stamp, std::uint32_t peer_stamp) {
    own_stamp_ = own_stamp;
    peer_stamp_ = peer_stamp;
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    modify(attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    for (int i = 0; i < 2 * kWindow; ++i) receive();
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = peer.qpn;
    attr.rq_psn = peer_stamp & 0xffffff;
    attr.max_dest_rd_atomic = 1;
    attr.min_rnr_timer = 12;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.dgid = peer.gid;
    attr.ah_attr.grh.hop_limit = 64;
    modify(attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = own_stamp & 0xffffff;
    attr.timeout = kTimeout;
    attr.retry_cnt = attr.rnr_retry = 7;
    attr.max_rd_atomic = 1;
    modify(attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                     IBV_QP_MAX_QP_RD_ATOMIC);
  }

  void begin(int count) { left_to_send_ = left_to_receive_ = count, failed_ = false; }
  bool is_done() const { return failed_ || (left_to_send_ == 0 && under_way_ == 0 && left_to_receive_ <= 0); }
  bool has_failed() const { return failed_; }

  void work() {
    while (left_to_send_ > 0 && under_way_ < kWindow) send();
    ibv_wc wc[4];
    const int count = ibv_poll_cq(cq_, 4, wc);
    for (int i = 0; i < count; ++i) take(wc[i]);
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{3} * kWindow * kSize;

  void modify(ibv_qp_attr& attr, int mask) { require(ibv_modify_qp(qp_, &attr, mask) == 0, "a state is refused"); }

  void receive() {
    std::uint8_t* at = memory_ + (kWindow + next_receive_) * kSize;
    ibv_sge sge{reinterpret_cast<std::uint64_t>(at), kSize, mr_->lkey};
    ibv_recv_wr wr{}, *bad = nullptr;
    wr.wr_id = kReceives + next_receive_;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    require(ibv_post_recv(qp_, &wr, &bad) == 0, "a receive request is refused");
    next_receive_ = (next_receive_ + 1) % (2 * kWindow);
  }

  void send() {
    std::uint8_t* at = memory_ + sent_ % kWindow * kSize;
    fill(at, own_stamp_, sent_++);
    ibv_sge sge{reinterpret_cast<std::uint64_t>(at), kSize, mr_->lkey};
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_SEND;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    require(ibv_post_send(qp_, &wr, &bad) == 0, "a send request is refused");
    ++under_way_;
    --left_to_send_;
  }

  void take(const ibv_wc& wc) {
    if (wc.status != IBV_WC_SUCCESS) {
      if (!failed_) std::fprintf(stderr, "%d: qp 0x%x: %s\n", getpid(), qp_->qp_num, ibv_wc_status_str(wc.status));
      failed_ = true;
      return;
    }
    if (wc.wr_id < kReceives) {
      --under_way_;
      return;
    }
    std::uint8_t wanted[kSize];
    fill(wanted, peer_stamp_, received_++);
    require(wc.byte_len == kSize && std::memcmp(memory_ + (kWindow + wc.wr_id - kReceives) * kSize, wanted, kSize) == 0,
            "a message is another one's");
    --left_to_receive_;
    receive();
  }

  static constexpr std::uint64_t kReceives = 1000;
  ibv_context* context_;
  ibv_cq* cq_ = nullptr;
  ibv_qp* qp_ = nullptr;
  ibv_mr* mr_ = nullptr;
  std::uint8_t* memory_ = nullptr;
  std::uint32_t own_stamp_ = 0, peer_stamp_ = 0, sent_ = 0, received_ = 0;
  unsigned next_receive_ = 0;
  int left_to_send_ = 0, left_to_receive_ = 0, under_way_ = 0;
  bool failed_ = false;
};

class Process {
 public:
  Process(int place, int socket) : place_(place), socket_(socket) {
    ibv_device** list = ibv_get_device_list(nullptr);
    require(list && list[0], "there is no device");
    context_ = ibv_open_device(list[0]);
    require(context_, std::string("the device cannot be opened: ") + verbs_soft_last_error());
    ibv_free_device_list(list);
    pd_ = ibv_alloc_pd(context_);
  }

  void run() {
    reply({});
    Order order;
    while (read(socket_, &order, sizeof order) == sizeof order) obey(order);
    std::exit(0);
  }

 private:
  void reply(const Answer& answer) const { require(write(socket_, &answer, sizeof answer) == sizeof answer, "reply"); }

  void obey(const Order& order) {
    Answer answer;
    auto& connection = connections_.at(static_cast<std::size_t>(order.other));
    switch (order.command) {
      case Command::kMake:
        connection = std::make_unique<Connection>(context_, pd_);
        answer.address = connection->address();
        break;
      case Command::kConnect:
        connection->connect(order.address, stamp_of(order.stamp, place_), stamp_of(order.stamp, order.other));
        break;
      case Command::kExchange:
        answer.failed = exchange(order.others, order.count);
        break;
      case Command::kCounter:
        verbs_soft_stats(kDevice, count, &(found_ = {order.name, 0}));
        answer.value = found_.value;
        break;
    }
    reply(answer);
  }

  static std::uint32_t stamp_of(std::uint32_t stamp, int place) {
    return stamp * 31 + static_cast<std::uint32_t>(place);
  }

  struct Found {
    std::string name;
    std::uint64_t value;
  };
  static void count(void* data, const char* name, std::uint64_t value) {
    auto* found = static_cast<Found*>(data);
    if (found->name == name) found->value = value;
  }

  unsigned exchange(unsigned others, int count) {
    const auto each = [&](auto&& visit) {
      for (int i = 0; i < kMembers; ++i) {
        if ((others >> i & 1) != 0) visit(*connections_[static_cast<std::size_t>(i)], 1u << i);
      }
    };
    each([&](Connection& connection, unsigned) { connection.begin(count); });
    unsigned failed = 0;
    for (bool done = false; !done;) {
      done = true;
      each([&](Connection& connection, unsigned bit) {
        if (connection.is_done()) return;
        connection.work();
        done &= connection.is_done();
        if (connection.has_failed()) failed |= bit;
      });
    }
    return failed;
  }

  int place_;
  int socket_;
  ibv_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  std::array<std::unique_ptr<Connection>, kMembers> connections_;
  Found found_;
};

Answer hear(int socket) {
  pollfd entry{socket, POLLIN, 0};
  require(poll(&entry, 1, kHang) == 1, "a process does not answer");
  Answer answer;
  require(read(socket, &answer, sizeof answer) == sizeof answer, "a process has ended");
  return answer;
}

Answer ask(int socket, const Order& order) {
  require(send(socket, &order, sizeof order, MSG_NOSIGNAL) == sizeof order, "a process has ended");
  return hear(socket);
}

}  // namespace

Member::Member(int place, const Host& host) {
  int sockets[2];
  require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0, "no socket");
  // As fork(): this process has nothing that a handler would have to see.
  pid_ = host.contained ? static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0)) : fork();
  require(pid_ >= 0, "no process");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(sockets[0]);
    try {
      require(host.network < 0 || setns(host.network, CLONE_NEWNET) == 0, "no network namespace");
      setenv("VERBS_SOFT", host.configuration.c_str(), 1);
      Process(place, sockets[1]).run();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "member %d: %s\n", place, error.what());
      std::_Exit(1);
    }
  }
  close(sockets[1]);
  socket_ = sockets[0];
  hear(socket_);
}

Member::~Member() { kill(); }

void Member::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  close(socket_);
  pid_ = -1;
}
void Member::stop() { ::kill(pid_, SIGSTOP); }
void Member::go_on() { ::kill(pid_, SIGCONT); }

Address Member::make(int other) { return ask(socket_, {.command = Command::kMake, .other = other}).address; }

void Member::connect(int other, const Address& address, std::uint32_t stamp) {
  ask(socket_, {.command = Command::kConnect, .other = other, .stamp = stamp, .address = address});
}

void Member::exchange(unsigned others, int count) {
  const Order order{.command = Command::kExchange, .others = others, .count = count};
  require(send(socket_, &order, sizeof order, MSG_NOSIGNAL) == sizeof order, "a process has ended");
}

unsigned Member::finish() { return hear(socket_).failed; }

std::uint64_t Member::counter(const std::string& name) {
  Order order{.command = Command::kCounter};
  std::snprintf(order.name, sizeof order.name, "%s", name.c_str());
  return ask(socket_, order).value;
}

}  // namespace verbs::soft::test::sharing
