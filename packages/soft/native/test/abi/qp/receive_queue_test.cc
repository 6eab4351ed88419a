// Receive work queues and receive side scaling, by the exported functions.
#include <array>
#include <vector>

#include "test/abi/support/dead_objects.h"
#include "test/abi/support/device_pair.h"
#include "test/abi/support/frame_model.h"

using namespace verbs::soft::test;

namespace {

struct Spreader {
  explicit Spreader(End& its_end, std::size_t count = 4) : end(its_end) {
    for (std::size_t i = 0; i < count; ++i) {
      ibv_wq_init_attr attr = wq_attr();
      ibv_wq* wq = ibv_create_wq(end.context.get(), &attr);
      REQUIRE(wq);
      CHECK(wq->state == IBV_WQS_RESET);
      ibv_wq_attr ready{};
      ready.attr_mask = IBV_WQ_ATTR_STATE;
      ready.wq_state = IBV_WQS_RDY;
      REQUIRE(ibv_modify_wq(wq, &ready) == 0);
      CHECK(wq->state == IBV_WQS_RDY);
      wqs.push_back(wq);
    }
    ibv_rwq_ind_table_init_attr attr{};
    attr.log_ind_tbl_size = 2;
    attr.ind_tbl = wqs.data();
    table = ibv_create_rwq_ind_table(end.context.get(), &attr);
    REQUIRE(table);
    ibv_qp_init_attr_ex init = qp_attr();
    qp = ibv_create_qp_ex(end.context.get(), &init);
    REQUIRE(qp);
  }

  ibv_wq_init_attr wq_attr() const {
    ibv_wq_init_attr attr{};
    attr.wq_type = IBV_WQT_RQ;
    attr.max_wr = 16;
    attr.max_sge = 1;
    attr.pd = end.pd;
    attr.cq = end.cq;
    return attr;
  }
  ibv_qp_init_attr_ex qp_attr() {
    ibv_qp_init_attr_ex init{};
    init.qp_type = IBV_QPT_RAW_PACKET;
    init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;
    init.pd = end.pd;
    init.rwq_ind_tbl = table;
    init.rx_hash_conf = {.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
                         .rx_hash_key_len = static_cast<std::uint8_t>(key.size()),
                         .rx_hash_key = key.data(),
                         .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4};
    return init;
  }

  End& end;
  std::array<std::uint8_t, 40> key{1, 2, 3, 4, 5};
  std::vector<ibv_wq*> wqs;
  ibv_rwq_ind_table* table = nullptr;
  ibv_qp* qp = nullptr;
};

int post(ibv_wq* wq, End& end) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(end.memory.data() + kReceiveAt), kRoom, end.mr->lkey};
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  return ibv_post_wq_recv(wq, &wr, &bad);
}

}  // namespace

TEST_CASE("a queue pair without queues takes frames into its receive work queues") {
  configure("a;b");
  End receiver("b"), sender("a", IBV_QPT_RAW_PACKET);
  Spreader spreader(receiver);
  for (ibv_wq* wq : spreader.wqs) REQUIRE(post(wq, receiver) == 0);
  ibv_flow_attr flow_attr{};
  flow_attr.type = IBV_FLOW_ATTR_ALL_DEFAULT;
  flow_attr.port = 1;
  ibv_flow* flow = ibv_create_flow(spreader.qp, &flow_attr);
  REQUIRE(flow);
  ibv_qp_attr attr{};
  attr.port_num = 1;
  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
    attr.qp_state = state;
    REQUIRE(ibv_modify_qp(sender.qp, &attr, IBV_QP_STATE | (state == IBV_QPS_INIT ? int{IBV_QP_PORT} : 0)) == 0);
  }
  const Bytes frame = frame_of(kGroup, Address{2}, 120);
  std::ranges::copy(frame, sender.memory.begin());
  REQUIRE(sender.send(0, 120) == 0);
  const ibv_wc wc = receiver.poll();
  CHECK(wc.status == IBV_WC_SUCCESS);
  CHECK(wc.opcode == IBV_WC_RECV);
  CHECK(wc.byte_len == 120);
  CHECK(wc.qp_num == spreader.wqs[0]->wq_num);  // no IP: the hash is 0

  // The parts are held, and what is gone is an error.
  CHECK(ibv_destroy_wq(spreader.wqs[0]) == EBUSY);
  CHECK(ibv_destroy_rwq_ind_table(spreader.table) == EBUSY);
  CHECK(ibv_destroy_qp(spreader.qp) == EBUSY);
  REQUIRE(ibv_destroy_flow(flow) == 0);
  ibv_recv_wr wr{}, *bad_recv = nullptr;
  ibv_send_wr send{}, *bad_send = nullptr;
  CHECK(ibv_post_recv(spreader.qp, &wr, &bad_recv) == EINVAL);
  CHECK(ibv_post_send(spreader.qp, &send, &bad_send) == EINVAL);
  attr.qp_state = IBV_QPS_INIT;
  CHECK(ibv_modify_qp(spreader.qp, &attr, IBV_QP_STATE | IBV_QP_PORT) == EOPNOTSUPP);
  REQUIRE(ibv_destroy_qp(spreader.qp) == 0);
  ibv_qp_init_attr_ex again = spreader.qp_attr();
  const auto* verbs = verbs_get_ctx(receiver.context.get());
  const auto destroy_table = verbs->destroy_rwq_ind_table;
  const auto destroy_wq = verbs->destroy_wq;
  const auto modify_wq = verbs->modify_wq;
  REQUIRE(ibv_destroy_rwq_ind_table(spreader.table) == 0);
  check_addresses<ibv_rwq_ind_table>(ENOENT, spreader.table, nullptr, destroy_table);
  CHECK(ibv_create_qp_ex(receiver.context.get(), &again) == nullptr);
  CHECK(errno == EINVAL);
  for (ibv_wq* wq : spreader.wqs) {
    REQUIRE(ibv_destroy_wq(wq) == 0);
    check_addresses<ibv_wq>(ENOENT, wq, nullptr, destroy_wq);
    ibv_wq_attr none{};
    check_addresses<ibv_wq>(EINVAL, wq, receiver.pd, [&](ibv_wq* each) { return modify_wq(each, &none); });
  }
  ibv_rwq_ind_table_init_attr gone{};
  gone.log_ind_tbl_size = 2;
  gone.ind_tbl = spreader.wqs.data();
  CHECK(ibv_create_rwq_ind_table(receiver.context.get(), &gone) == nullptr);
}

TEST_CASE("a fatal event names the receive work queue, which is not destroyed before it is acknowledged") {
  configure("a");
  End end("a");
  Spreader spreader(end);
  ibv_wq* wq = spreader.wqs[0];
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(end.memory.data()), 8, end.mr->lkey};
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  REQUIRE(ibv_post_wq_recv(wq, &wr, &bad) == 0);
  ibv_flow_attr flow{};
  flow.type = IBV_FLOW_ATTR_ALL_DEFAULT;
  flow.port = 1;
  REQUIRE(ibv_create_flow(spreader.qp, &flow));
  End sender("a", IBV_QPT_RAW_PACKET);
  ibv_qp_attr attr{};
  attr.port_num = 1;
  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
    attr.qp_state = state;
    REQUIRE(ibv_modify_qp(sender.qp, &attr, IBV_QP_STATE | (state == IBV_QPS_INIT ? int{IBV_QP_PORT} : 0)) == 0);
  }
  std::ranges::copy(frame_of(kGroup, Address{2}, 64), sender.memory.begin());
  REQUIRE(sender.send(0, 64) == 0);
  CHECK(end.poll().status == IBV_WC_LOC_LEN_ERR);
  ibv_async_event event{};
  REQUIRE(ibv_get_async_event(end.context.get(), &event) == 0);
  CHECK(event.event_type == IBV_EVENT_WQ_FATAL);
  CHECK(event.element.wq == wq);
  ibv_ack_async_event(&event);
  CHECK(wq->events_completed == 1);
}

TEST_CASE("a model gives frames to a queue pair that spreads them, and to a receive work queue") {
  configure_frames();
  End receiver("f1");
  RawEnd sender("f0");
  Spreader spreader(receiver);
  for (ibv_wq* wq : spreader.wqs) REQUIRE(post(wq, receiver) == 0);
  add_receiver({receiver.context->device, 1, spreader.qp, {.flow_tag = 0, .wc_flags = 0, .cvlan = 0}});
  REQUIRE(sender.send_frame(frame_of(kGroup, Address{2}, 90), 0) == 0);
  const ibv_wc wc = receiver.poll();
  CHECK(wc.byte_len == 90);
  CHECK(wc.qp_num == spreader.wqs[0]->wq_num);
  remove_receiver(spreader.qp);
  // Only while the model steers a frame.
  Bytes bytes(64);
  const verbs_soft_frame frame{.data = bytes.data(), .size = 64, .headroom = 0, .tailroom = 0};
  const verbs_soft_delivery delivery{};
  CHECK(soft()->deliver_to_wq(spreader.wqs[1], &frame, &delivery) == EPERM);
}

TEST_CASE("the limits are told, and wrong requests are refused") {
  configure_frames();
  {
    End end("plain0");
    ibv_wq_init_attr attr{};
    attr.max_wr = 1;
    attr.pd = end.pd;
    attr.cq = end.cq;
    CHECK(ibv_create_wq(end.context.get(), &attr) == nullptr);
    CHECK(errno == EOPNOTSUPP);
    ibv_device_attr_ex device{};
    REQUIRE(ibv_query_device_ex(end.context.get(), nullptr, &device) == 0);
    CHECK(device.max_wq_type_rq == 0);
    CHECK(device.rss_caps.supported_qpts == 0);
  }
  configure("a");
  End end("a");
  ibv_device_attr_ex device{};
  REQUIRE(ibv_query_device_ex(end.context.get(), nullptr, &device) == 0);
  CHECK(device.max_wq_type_rq > 0);
  CHECK(device.rss_caps.supported_qpts == 1u << IBV_QPT_RAW_PACKET);
  CHECK(device.rss_caps.max_rwq_indirection_table_size == 1024);
  CHECK(device.rss_caps.rx_hash_function == IBV_RX_HASH_FUNC_TOEPLITZ);

  Spreader spreader(end);
  const auto refused = [&](auto&& change, int error) {
    ibv_qp_init_attr_ex init = spreader.qp_attr();
    change(init);
    CHECK(ibv_create_qp_ex(end.context.get(), &init) == nullptr);
    CHECK(errno == error);
  };
  refused([](ibv_qp_init_attr_ex& init) { init.comp_mask &= ~std::uint32_t{IBV_QP_INIT_ATTR_RX_HASH}; }, EINVAL);
  refused([](ibv_qp_init_attr_ex& init) { init.comp_mask &= ~std::uint32_t{IBV_QP_INIT_ATTR_IND_TABLE}; }, EINVAL);
  refused([](ibv_qp_init_attr_ex& init) { init.comp_mask &= ~std::uint32_t{IBV_QP_INIT_ATTR_PD}; }, EINVAL);
  refused([](ibv_qp_init_attr_ex& init) { init.qp_type = IBV_QPT_UD; }, EINVAL);
  refused([](ibv_qp_init_attr_ex& init) { init.cap.max_recv_wr = 1; }, EINVAL);
  refused([](ibv_qp_init_attr_ex& init) { init.cap.max_send_wr = 1; }, EINVAL);
  refused([](ibv_qp_init_attr_ex& init) { init.rwq_ind_tbl = nullptr; }, EINVAL);
  refused([](ibv_qp_init_attr_ex& init) { init.rx_hash_conf.rx_hash_key_len = 16; }, EINVAL);
  refused([](ibv_qp_init_attr_ex& init) { init.rx_hash_conf.rx_hash_key = nullptr; }, EINVAL);
  refused([](ibv_qp_init_attr_ex& init) { init.rx_hash_conf.rx_hash_function = 0; }, EOPNOTSUPP);
  refused([](ibv_qp_init_attr_ex& init) { init.rx_hash_conf.rx_hash_fields_mask = IBV_RX_HASH_IPSEC_SPI; }, EOPNOTSUPP);

  std::vector<ibv_wq*> some = spreader.wqs;
  ibv_rwq_ind_table_init_attr attr{};
  attr.ind_tbl = some.data();
  for (const std::uint32_t size : {11u, 31u, 32u, UINT32_MAX}) {
    attr.log_ind_tbl_size = size;
    CHECK(ibv_create_rwq_ind_table(end.context.get(), &attr) == nullptr);
    CHECK(errno == EINVAL);
  }
  attr.log_ind_tbl_size = 1;
  some[1] = nullptr;
  CHECK(ibv_create_rwq_ind_table(end.context.get(), &attr) == nullptr);
  some[1] = reinterpret_cast<ibv_wq*>(end.qp);
  CHECK(ibv_create_rwq_ind_table(end.context.get(), &attr) == nullptr);
  some[1] = some[0];
  ibv_rwq_ind_table* twice = ibv_create_rwq_ind_table(end.context.get(), &attr);
  REQUIRE(twice);
  CHECK(ibv_destroy_rwq_ind_table(twice) == 0);
  ibv_wq_init_attr wq = spreader.wq_attr();
  wq.pd = nullptr;
  CHECK(ibv_create_wq(end.context.get(), &wq) == nullptr);
  wq = spreader.wq_attr();
  wq.cq = reinterpret_cast<ibv_cq*>(end.pd);
  CHECK(ibv_create_wq(end.context.get(), &wq) == nullptr);
}
