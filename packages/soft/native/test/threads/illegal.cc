// Objects in slots that all threads use without any agreement: one destroys what others post to, poll and query, also
// twice, and calls go on with the pointers of objects that are gone.
#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include "test/threads/games.h"
#include "test/threads/link.h"

namespace verbs::soft::test::threads {
namespace {

constexpr std::size_t kPlaces = 6;

struct Mess {
  Side side;
  std::array<std::atomic<ibv_cq*>, kPlaces> cqs{};
  std::array<std::atomic<ibv_qp*>, kPlaces> qps{};
  std::array<std::atomic<ibv_srq*>, kPlaces> srqs{};
  std::array<std::atomic<ibv_mr*>, kPlaces> mrs{};
  std::array<std::atomic<ibv_ah*>, kPlaces> ahs{};
  // Never freed: regions and requests of any time refer to it.
  std::unique_ptr<std::uint8_t[]> memory = std::make_unique<std::uint8_t[]>(4096);
};

template <typename Object>
Object* any(Player& player, std::array<std::atomic<Object*>, kPlaces>& places) {
  return places[player.below(kPlaces)];
}

// The one that was there is lost, or destroyed by a thread that still has it.
template <typename Object>
void put(Player& player, std::array<std::atomic<Object*>, kPlaces>& places, Object* object, int (*destroy)(Object*),
         const char* call) {
  if (object == nullptr) return;
  Object* before = places[player.below(kPlaces)].exchange(object);
  if (before != nullptr) player.count(call, destroy(before));
}

ibv_mr* reg(Mess& mess) {
  return ibv_reg_mr(mess.side.pd, mess.memory.get(), 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

void create(Mess& mess, Player& player) {
  switch (player.below(5)) {
    case 0: {
      ibv_comp_channel* channel = player.one_in(2) ? mess.side.channel : nullptr;
      ibv_cq* cq = player.count("ibv_create_cq", ibv_create_cq(mess.side.context, 64, nullptr, channel, 0));
      return put(player, mess.cqs, cq, ibv_destroy_cq, "ibv_destroy_cq");
    }
    case 1: {
      ibv_srq_init_attr attr{.srq_context = nullptr, .attr = {.max_wr = 16, .max_sge = 1, .srq_limit = 0}};
      ibv_srq* srq = player.count("ibv_create_srq", ibv_create_srq(mess.side.pd, &attr));
      return put(player, mess.srqs, srq, ibv_destroy_srq, "ibv_destroy_srq");
    }
    case 2:
      return put(player, mess.mrs, player.count("ibv_reg_mr", reg(mess)), ibv_dereg_mr, "ibv_dereg_mr");
    case 3: {
      ibv_ah_attr attr = address_of(mess.side);
      ibv_ah* ah = player.count("ibv_create_ah", ibv_create_ah(mess.side.pd, &attr));
      return put(player, mess.ahs, ah, ibv_destroy_ah, "ibv_destroy_ah");
    }
    default: {
      ibv_qp_init_attr init{};
      init.send_cq = any(player, mess.cqs);
      init.recv_cq = any(player, mess.cqs);
      init.srq = player.one_in(2) ? any(player, mess.srqs) : nullptr;
      init.qp_type = player.one_in(2) ? IBV_QPT_RC : IBV_QPT_UD;
      init.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 64};
      ibv_qp* qp = player.count("ibv_create_qp", ibv_create_qp(mess.side.pd, &init));
      return put(player, mess.qps, qp, ibv_destroy_qp, "ibv_destroy_qp");
    }
  }
}

// The slot keeps the pointer: others use it afterwards, and destroy it again.
void destroy(Mess& mess, Player& player) {
  const auto one = [&](auto& places, auto call, const char* name) {
    auto* object = any(player, places);
    if (object != nullptr) player.count(name, call(object));
  };
  switch (player.below(5)) {
    case 0:
      return one(mess.cqs, ibv_destroy_cq, "ibv_destroy_cq");
    case 1:
      return one(mess.srqs, ibv_destroy_srq, "ibv_destroy_srq");
    case 2:
      return one(mess.mrs, ibv_dereg_mr, "ibv_dereg_mr");
    case 3:
      return one(mess.ahs, ibv_destroy_ah, "ibv_destroy_ah");
    default:
      return one(mess.qps, ibv_destroy_qp, "ibv_destroy_qp");
  }
}

void post(Mess& mess, Player& player) {
  ibv_qp* qp = any(player, mess.qps);
  ibv_mr* mr = any(player, mess.mrs);
  ibv_ah* ah = any(player, mess.ahs);
  ibv_srq* srq = any(player, mess.srqs);
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(mess.memory.get()), 1 + player.below(256), mr != nullptr ? mr->lkey : 0};
  ibv_recv_wr receive{}, *bad_receive = nullptr;
  receive.sg_list = &sge;
  receive.num_sge = 1;
  if (srq != nullptr && player.one_in(3)) {
    player.count("ibv_post_srq_recv", ibv_post_srq_recv(srq, &receive, &bad_receive));
  }
  if (qp == nullptr) return;
  if (player.one_in(2)) {
    player.count("ibv_post_recv", ibv_post_recv(qp, &receive, &bad_receive));
    return;
  }
  ibv_send_wr send{}, *bad_send = nullptr;
  send.opcode = IBV_WR_SEND;
  send.sg_list = &sge;
  send.num_sge = 1;
  send.send_flags = IBV_SEND_SIGNALED;
  if (ah != nullptr) send.wr.ud = {ah, qp->qp_num, 0x1234};
  if (ah != nullptr) player.count("ibv_post_send", ibv_post_send(qp, &send, &bad_send));
}

// Whatever type it is of: a datagram queue pair becomes ready to send, a connected one is initialized.
void modify(Mess& mess, Player& player) {
  ibv_qp* qp = any(player, mess.qps);
  if (qp == nullptr) return;
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  player.count("ibv_query_qp", ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
  static constexpr ibv_qp_state next[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_ERR, IBV_QPS_RESET};
  attr = {};
  attr.qp_state = next[player.below(5)];
  attr.port_num = 1;
  attr.qkey = 0x1234;
  int mask = IBV_QP_STATE;
  if (attr.qp_state == IBV_QPS_INIT) mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
  if (attr.qp_state == IBV_QPS_RTS) mask |= IBV_QP_SQ_PSN;
  player.count("ibv_modify_qp", ibv_modify_qp(qp, &attr, mask));
}

void use_queue(Mess& mess, Player& player) {
  ibv_cq* cq = any(player, mess.cqs);
  if (cq == nullptr) return;
  ibv_wc wcs[4];
  switch (player.below(4)) {
    case 0:
      player.count("ibv_req_notify_cq", ibv_req_notify_cq(cq, 0));
      return;
    case 1:
      player.count("ibv_resize_cq", ibv_resize_cq(cq, static_cast<int>(1 + player.below(100))));
      return;
    default:
      player.count("ibv_poll_cq", ibv_poll_cq(cq, 4, wcs) < 0 ? 1 : 0);
  }
}

void play(Mess& mess, Player& player) {
  while (player.playing()) {
    switch (player.below(8)) {
      case 0:
        create(mess, player);
        break;
      case 1:
        destroy(mess, player);
        break;
      case 2:
        modify(mess, player);
        break;
      case 3:
      case 4:
        post(mess, player);
        break;
      default:
        use_queue(mess, player);
    }
  }
}

}  // namespace

std::vector<Player> play_illegal(const Options& options) {
  static Mess mess;
  mess.side = Side::open("a");
  std::vector<Player> players;
  for (int i = 0; i < options.threads; ++i) players.emplace_back(options.seed, i, options.seconds);
  std::vector<std::thread> threads;
  for (Player& player : players) threads.emplace_back([&player] { play(mess, player); });
  for (std::thread& thread : threads) thread.join();
  // The device still works, and closing it destroys what was lost.
  std::array<Side, 2> sides = {Side::open("a"), Side::open("b")};
  static Link link;
  link.make(sides, IBV_QPT_RC);
  for (int i = 0; i < 1000; ++i) link.act(players[0]);
  link.destroy();
  for (Side& side : sides) side.close();
  THREADS_CHECK(ibv_close_device(mess.side.context) == 0);
  return players;
}

}  // namespace verbs::soft::test::threads
