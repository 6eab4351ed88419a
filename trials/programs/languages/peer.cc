// README.md says what it does.
#include <arpa/inet.h>
#include <infiniband/verbs.h>

#include <array>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kSize = 1024;
constexpr std::uint64_t kSent = ~std::uint64_t{0};

unsigned char pattern(int from, int to, int round, int i) {
  return static_cast<unsigned char>(31 * from + 17 * to + 7 * round + i);
}

template <typename T>
T* must(T* made, const char* what) {
  if (made == nullptr) throw std::runtime_error(what);
  return made;
}

void must(int error, const char* what) {
  if (error != 0) throw std::runtime_error(what);
}

class Connection {
 public:
  Connection(ibv_pd* pd, ibv_cq* cq, int self, int peer)
      : self_(self),
        peer_(peer),
        mr_(must(ibv_reg_mr(pd, memory_->data(), sizeof *memory_, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr")) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.qp_type = IBV_QPT_RC;
    init.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    qp_ = must(ibv_create_qp(pd, &init), "ibv_create_qp");
  }

  std::uint32_t number() const { return qp_->qp_num; }
  int came() const { return came_; }

  void connect(std::uint32_t number, const union ibv_gid& gid, int index) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    must(ibv_modify_qp(qp_, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
    receive(0);
    receive(1);
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = number;
    attr.max_dest_rd_atomic = 1;
    attr.min_rnr_timer = 12;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.dgid = gid;
    attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(index);
    attr.ah_attr.grh.hop_limit = 64;
    must(ibv_modify_qp(qp_, &attr,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
         "RTR");
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 7;
    attr.max_rd_atomic = 1;
    must(ibv_modify_qp(qp_, &attr,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                           IBV_QP_MAX_QP_RD_ATOMIC),
         "RTS");
  }

  void send(int round) {
    auto& bytes = (*memory_)[2];
    for (int i = 0; i < kSize; ++i) bytes[static_cast<std::size_t>(i)] = pattern(self_, peer_, round, i);
    ibv_sge sge = slot(2);
    ibv_send_wr wr{}, *bad = nullptr;
    wr.wr_id = kSent;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = IBV_SEND_SIGNALED;
    must(ibv_post_send(qp_, &wr, &bad), "ibv_post_send");
  }

  // A message has come: checks it, and returns its round.
  int take() {
    const int round = came_++;
    const auto& bytes = (*memory_)[static_cast<std::size_t>(round % 2)];
    for (int i = 0; i < kSize; ++i) {
      if (bytes[static_cast<std::size_t>(i)] != pattern(peer_, self_, round, i))
        throw std::runtime_error("a byte is wrong");
    }
    receive(round % 2);
    return round;
  }

 private:
  // Two to receive into, one to send from.
  using Memory = std::array<std::array<unsigned char, kSize>, 3>;

  ibv_sge slot(int which) {
    return {.addr = reinterpret_cast<std::uintptr_t>((*memory_)[static_cast<std::size_t>(which)].data()),
            .length = kSize,
            .lkey = mr_->lkey};
  }

  void receive(int which) {
    ibv_sge sge = slot(which);
    ibv_recv_wr wr{}, *bad = nullptr;
    wr.wr_id = static_cast<std::uint64_t>(peer_);
    wr.sg_list = &sge;
    wr.num_sge = 1;
    must(ibv_post_recv(qp_, &wr, &bad), "ibv_post_recv");
  }

  int self_, peer_, came_ = 0;
  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  ibv_mr* mr_;
  ibv_qp* qp_ = nullptr;
};

void run(int self, int count, int index, int rounds) {
  ibv_device** list = ibv_get_device_list(nullptr);
  ibv_context* context = must(list && list[0] ? ibv_open_device(list[0]) : nullptr, "no device");
  ibv_pd* pd = must(ibv_alloc_pd(context), "ibv_alloc_pd");
  ibv_cq* cq = must(ibv_create_cq(context, 4 * count, nullptr, nullptr, 0), "ibv_create_cq");
  union ibv_gid gid{};
  must(ibv_query_gid(context, 1, index, &gid), "ibv_query_gid");
  std::array<char, INET6_ADDRSTRLEN> text{};
  std::cout << "ready " << inet_ntop(AF_INET6, gid.raw, text.data(), text.size());
  std::vector<std::unique_ptr<Connection>> peers(static_cast<std::size_t>(count));
  for (int peer = 0; peer < count; ++peer) {
    auto& connection = peers[static_cast<std::size_t>(peer)];
    if (peer != self) connection = std::make_unique<Connection>(pd, cq, self, peer);
    std::cout << ' ' << (connection ? connection->number() : 0);
  }
  std::cout << std::endl;
  std::string word;
  std::cin >> word;
  for (const auto& connection : peers) {
    std::uint32_t number = 0;
    std::cin >> number;
    if (connection) connection->connect(number, gid, index);
  }
  std::cout << "connected" << std::endl;
  std::cin >> word;
  int messages = 0;
  for (int round = 0; round < rounds; ++round) {
    int awaited = 0;  // completions: of what it sends, and of the messages of this round that have not come before
    for (const auto& connection : peers) {
      if (!connection) continue;
      connection->send(round);
      awaited += connection->came() == round ? 2 : 1;
    }
    while (awaited > 0) {
      ibv_wc wc{};
      if (ibv_poll_cq(cq, 1, &wc) == 0) {
        std::this_thread::yield();
        continue;
      }
      must(wc.status, ibv_wc_status_str(wc.status));
      if (wc.wr_id == kSent) {
        --awaited;
        continue;
      }
      if (peers[static_cast<std::size_t>(wc.wr_id)]->take() == round) --awaited;
      ++messages;
    }
  }
  std::cout << "done " << messages << std::endl;
  while (std::cin >> word) continue;
}

}  // namespace

int main(int, char** argv) {
  try {
    run(std::stoi(argv[1]), std::stoi(argv[2]), std::stoi(argv[3]), std::stoi(argv[4]));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
