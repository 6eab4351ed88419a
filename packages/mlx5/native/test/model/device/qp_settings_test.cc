// What a queue pair is set to beside its attributes: the UDP source port, the port of a bond. And its end.
#include <dlfcn.h>

#include <chrono>
#include <future>

#include "include/verbs_soft_extension.h"
#include "test/support/model/ends.h"

using namespace verbs::mlx5::test;

namespace {

// An RC queue pair that is connected with itself.
ibv_qp* connected(End& end) {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = end.qp->send_cq;
  init.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  init.qp_type = IBV_QPT_RC;
  ibv_qp* qp = ibv_create_qp(end.pd, &init);
  REQUIRE(qp != nullptr);
  CHECK(mlx5dv_modify_qp_udp_sport(qp, 55555) == EOPNOTSUPP);  // not yet in RTS
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = qp->qp_num;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  REQUIRE(ibv_query_gid(end.context, 1, 0, &attr.ah_attr.grh.dgid) == 0);
  REQUIRE(ibv_modify_qp(qp, &attr,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  attr.retry_cnt = 7;
  REQUIRE(ibv_modify_qp(qp, &attr,
                        IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                            IBV_QP_MAX_QP_RD_ATOMIC) == 0);
  return qp;
}

}  // namespace

TEST_CASE("the UDP source port of a connected queue pair, where its link is not a socket") {
  End inside("mlx5_bond"), outside;
  ibv_qp* qp = connected(inside);
  CHECK(mlx5dv_modify_qp_udp_sport(qp, 55555) == 0);
  ibv_send_wr wr{};
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  REQUIRE(ibv_post_send(qp, &wr, &bad) == 0);
  ibv_wc wc{};
  for (int i = 0; i < 1'000'000 && ibv_poll_cq(qp->send_cq, 1, &wc) == 0; ++i) continue;
  CHECK(wc.qp_num == qp->qp_num);
  CHECK(mlx5dv_modify_qp_udp_sport(inside.qp, 55555) == EOPNOTSUPP);
  // Packets to other processes have the port of the device's socket.
  CHECK(mlx5dv_modify_qp_udp_sport(connected(outside), 55555) == EOPNOTSUPP);
  CHECK(mlx5dv_modify_qp_udp_sport(nullptr, 55555) == EINVAL);
}

TEST_CASE("the queue pairs of a bond have one of its ports each") {
  End bond("mlx5_bond"), single;
  mlx5dv_context device{};
  device.comp_mask = MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS;
  REQUIRE(mlx5dv_query_device(bond.context, &device) == 0);
  CHECK(device.num_lag_ports == 2);
  ibv_qp* second = bond.add_qp();
  std::uint8_t port = 0, active = 0, other = 0;
  REQUIRE(mlx5dv_query_qp_lag_port(bond.qp, &port, &active) == 0);
  CHECK(active == port);
  REQUIRE(mlx5dv_query_qp_lag_port(second, &other, &active) == 0);
  CHECK(port + other == 3);  // in turn
  REQUIRE(mlx5dv_modify_qp_lag_port(second, port) == 0);
  REQUIRE(mlx5dv_query_qp_lag_port(second, &other, &active) == 0);
  CHECK(other == port);
  CHECK(mlx5dv_modify_qp_lag_port(second, 0) == EINVAL);
  CHECK(mlx5dv_modify_qp_lag_port(second, 3) == EINVAL);
  CHECK(mlx5dv_query_qp_lag_port(nullptr, &port, &active) == EINVAL);
  CHECK(mlx5dv_query_qp_lag_port(single.qp, &port, &active) == EOPNOTSUPP);
  CHECK(mlx5dv_modify_qp_lag_port(single.qp, 1) == EOPNOTSUPP);
}

TEST_CASE("who destroys a queue pair waits for its events to be acknowledged, and holds up nobody else") {
  using namespace std::chrono_literals;
  End end;
  const auto extension = reinterpret_cast<verbs_soft_extension_function>(dlsym(RTLD_DEFAULT, "verbs_soft_extension"));
  REQUIRE((extension != nullptr) == true);
  const verbs_soft_extension_table* const soft = extension(VERBS_SOFT_EXTENSION_VERSION);
  REQUIRE(soft);
  for (const ibv_qp_type type : {IBV_QPT_RAW_PACKET, IBV_QPT_RC}) {
    CAPTURE(type);
    ibv_qp* const qp = type == IBV_QPT_RC ? connected(end) : end.add_qp();
    ibv_async_event event{};
    event.event_type = IBV_EVENT_QP_FATAL;
    event.element.qp = qp;
    soft->raise_event(end.context, &event);
    ibv_async_event taken{};
    REQUIRE(ibv_get_async_event(end.context, &taken) == 0);
    auto destroyed = std::async(std::launch::async, [&] { return ibv_destroy_qp(qp); });
    CHECK((destroyed.wait_for(100ms) == std::future_status::timeout));
    mlx5dv_clock_info clock{};
    auto other = std::async(std::launch::async, [&] { return mlx5dv_get_clock_info(end.context, &clock); });
    const bool held_up = other.wait_for(5s) != std::future_status::ready;
    ibv_ack_async_event(&taken);
    CHECK_FALSE(held_up);
    CHECK(other.get() == 0);
    CHECK(destroyed.get() == 0);
  }
}
