// Receive work queues as destinations: by a TIR with one of them, and by a queue pair that spreads over several.
#include <array>
#include <chrono>

#include "test/support/model/ends.h"

using namespace verbs::mlx5::test;

namespace {

// Receive work queues with a CQ of their own, each with two requests.
struct WorkQueues {
  explicit WorkQueues(End& end, std::size_t count = 2) {
    mr = ibv_reg_mr(end.pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
    cq = ibv_create_cq(end.context, 16, nullptr, nullptr, 0);
    for (std::size_t i = 0; i < count; ++i) {
      ibv_wq_init_attr attr{};
      attr.wq_type = IBV_WQT_RQ;
      attr.max_wr = 4;
      attr.max_sge = 1;
      attr.pd = end.pd;
      attr.cq = cq;
      ibv_wq* wq = ibv_create_wq(end.context, &attr);
      REQUIRE((wq != nullptr) == true);
      ibv_wq_attr ready{};
      ready.attr_mask = IBV_WQ_ATTR_STATE;
      ready.wq_state = IBV_WQS_RDY;
      REQUIRE(ibv_modify_wq(wq, &ready) == 0);
      ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory.data()), 2048, mr->lkey};
      ibv_recv_wr wr{}, *bad = nullptr;
      wr.sg_list = &sge;
      wr.num_sge = 1;
      for (int each = 0; each < 2; ++each) REQUIRE(ibv_post_wq_recv(wq, &wr, &bad) == 0);
      all.push_back(wq);
    }
  }
  // The number of the queue that received the next frame; 0 if none arrives.
  std::uint32_t receive() {
    ibv_wc wc{};
    for (int round = 0; round < 3; ++round) {
      if (ibv_poll_cq(cq, 1, &wc) == 1) return wc.status == IBV_WC_SUCCESS ? wc.qp_num : 0;
    }
    return 0;
  }

  Bytes memory = Bytes(4096);
  ibv_mr* mr = nullptr;
  ibv_cq* cq = nullptr;
  std::vector<ibv_wq*> all;
};

}  // namespace

TEST_CASE("a TIR of a receive work queue receives frames, and holds the queue") {
  End sender, receiver;
  WorkQueues queues(receiver, 1);
  ibv_wq* wq = queues.all[0];
  Bytes in(32 + 240), out(16);
  in[0] = 9;
  for (int i = 0; i < 3; ++i) in[32 + 29 + i] = static_cast<std::uint8_t>(wq->wq_num >> (16 - 8 * i));
  mlx5dv_devx_obj* tir = mlx5dv_devx_obj_create(receiver.context, in.data(), in.size(), out.data(), out.size());
  REQUIRE(tir);
  Parameters none;
  const FlowMatcher matcher = make_matcher(receiver.context, none);
  mlx5dv_flow_action_attr to_tir = of_type(MLX5DV_FLOW_ACTION_DEST_DEVX);
  to_tir.obj = tir;
  ibv_flow* flow = make_flow(matcher.get(), none, {to_tir});
  REQUIRE(flow);
  sender.send(example_frame());
  CHECK(queues.receive() == wq->wq_num);
  CHECK(std::equal(queues.memory.begin(), queues.memory.begin() + 100, example_frame().begin()));
  CHECK(ibv_destroy_wq(wq) == EBUSY);
  CHECK(ibv_destroy_flow(flow) == 0);
  CHECK(mlx5dv_devx_obj_destroy(tir) == 0);
  CHECK(ibv_destroy_wq(wq) == 0);
  CHECK(verbs_get_ctx(receiver.context)->destroy_wq(wq) == EINVAL);
  // Its number is none of a queue any more, nor is that of a queue pair without one.
  CHECK(ERRNO_OF(mlx5dv_devx_obj_create(receiver.context, in.data(), in.size(), out.data(), out.size())) == EREMOTEIO);
}

TEST_CASE("flows to a queue pair that spreads frames over receive work queues") {
  End sender, receiver;
  WorkQueues queues(receiver);
  ibv_rwq_ind_table_init_attr table_attr{};
  table_attr.log_ind_tbl_size = 1;
  table_attr.ind_tbl = queues.all.data();
  ibv_rwq_ind_table* table = ibv_create_rwq_ind_table(receiver.context, &table_attr);
  REQUIRE(table);
  std::array<std::uint8_t, 40> key{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b};
  ibv_qp_init_attr_ex attr{};
  attr.qp_type = IBV_QPT_RAW_PACKET;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;
  attr.pd = receiver.pd;
  attr.rwq_ind_tbl = table;
  attr.rx_hash_conf = {.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
                       .rx_hash_key_len = 40,
                       .rx_hash_key = key.data(),
                       .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4};
  ibv_qp* qp = ibv_create_qp_ex(receiver.context, &attr);
  REQUIRE(qp);
  Parameters none;
  const FlowMatcher matcher = make_matcher(receiver.context, none);
  ibv_flow* flow = make_flow(matcher.get(), none, {to_qp(qp)});
  REQUIRE(flow);
  sender.send(example_frame());
  const std::uint32_t first = queues.receive();
  CHECK((first == queues.all[0]->wq_num || first == queues.all[1]->wq_num));
  sender.send(example_frame());
  CHECK(queues.receive() == first);
  CHECK(ibv_destroy_qp(qp) == EBUSY);
  // A TIR has one queue, and this queue pair has none.
  Bytes in(32 + 240), out(16);
  in[0] = 9;
  // One that was not destroyed is as it was.
  CHECK(ibv_destroy_wq(queues.all[0]) == EBUSY);
  for (int i = 0; i < 3; ++i) in[32 + 29 + i] = static_cast<std::uint8_t>(queues.all[0]->wq_num >> (16 - 8 * i));
  mlx5dv_devx_obj* tir = mlx5dv_devx_obj_create(receiver.context, in.data(), in.size(), out.data(), out.size());
  REQUIRE(tir);
  CHECK(mlx5dv_devx_obj_destroy(tir) == 0);
  for (int i = 0; i < 3; ++i) in[32 + 29 + i] = static_cast<std::uint8_t>(qp->qp_num >> (16 - 8 * i));
  CHECK(ERRNO_OF(mlx5dv_devx_obj_create(receiver.context, in.data(), in.size(), out.data(), out.size())) == EREMOTEIO);
  CHECK(ibv_destroy_flow(flow) == 0);
  CHECK(ibv_destroy_qp(qp) == 0);
  CHECK(ibv_destroy_rwq_ind_table(table) == 0);
}
