#include "test/abi/support/frame_model.h"

#include <algorithm>

namespace verbs::soft::test {
namespace {

void send(void*, ibv_device* device, std::uint8_t port_num, ibv_qp*, verbs_soft_frame* frame) {
  FrameModel& model = frame_model();
  const std::lock_guard guard(model.mutex);
  if (model.pushed <= frame->headroom) {
    frame->data -= model.pushed;
    frame->size += static_cast<std::uint32_t>(model.pushed);
    frame->headroom -= static_cast<std::uint32_t>(model.pushed);
    std::fill_n(frame->data, model.pushed, 0xff);
  }
  model.transmitted = soft()->transmit_frame(device, model.send_port != 0 ? model.send_port : port_num, frame);
}

void receive(void*, ibv_device* device, std::uint8_t port_num, verbs_soft_frame* frame) {
  FrameModel& model = frame_model();
  const std::lock_guard guard(model.mutex);
  ++*model.seen.at(device);
  for (const FrameReceiver& receiver : model.receivers) {
    if (receiver.device != device || receiver.port_num != port_num) continue;
    soft()->deliver_frame(receiver.qp, frame, &receiver.delivery);
  }
}

int init_device(void*, ibv_device* device, verbs_soft_identity*) {
  const std::lock_guard guard(frame_model().mutex);
  frame_model().seen[device] = soft()->counter(device, "frames_seen");
  return 0;
}

}  // namespace

FrameModel& frame_model() {
  static FrameModel model;
  return model;
}

void register_frame_model() {
  static const verbs_soft_model model{.kind = "frames",
                                      .default_device = "frames0",
                                      .defaults = nullptr,
                                      .option_names = nullptr,
                                      .data = nullptr,
                                      .init_device = init_device,
                                      .open_context = nullptr,
                                      .close_context = nullptr,
                                      .egress = nullptr,
                                      .ingress = nullptr,
                                      .reopen_context = nullptr,
                                      .keep_context = nullptr,
                                      .tunnels = 0,
                                      .raw_send = send,
                                      .raw_receive = receive,
                                      .raw_packet_caps = IBV_RAW_PACKET_CAP_IP_CSUM};
  static const verbs_soft_model without = [] {
    verbs_soft_model made{};
    made.kind = "frameless";
    return made;
  }();
  static const int registered = soft()->register_model(&model) + soft()->register_model(&without);
  REQUIRE(registered == 0);
}

void configure_frames(const std::string& options) {
  register_frame_model();
  configure("f0,kind=frames" + options + ";f1,kind=frames,ports=2" + options + ";plain0,kind=frameless");
}

ibv_qp_state state_of(ibv_qp* qp) {
  ibv_qp_attr attr;
  ibv_qp_init_attr init;
  REQUIRE(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0);
  return attr.qp_state;
}

void add_receiver(const FrameReceiver& receiver) {
  REQUIRE(soft()->lock_device(receiver.qp->context) == 0);
  {
    const std::lock_guard guard(frame_model().mutex);
    frame_model().receivers.push_back(receiver);
  }
  soft()->unlock_device(receiver.qp->context);
}

void remove_receiver(const ibv_qp* qp) {
  REQUIRE(soft()->lock_device(qp->context) == 0);
  {
    const std::lock_guard guard(frame_model().mutex);
    std::erase_if(frame_model().receivers, [&](const FrameReceiver& receiver) { return receiver.qp == qp; });
  }
  soft()->unlock_device(qp->context);
}

RawEnd::RawEnd(const std::string& device, std::uint8_t port_num, bool events)
    : End(device, IBV_QPT_RAW_PACKET, events), port(port_num) {
  start({});
}

RawEnd::~RawEnd() {
  if (qp) remove_receiver(qp);
}

void RawEnd::replace_qp(ibv_qp* by, const verbs_soft_delivery& delivery) {
  if (qp) {
    remove_receiver(qp);
    REQUIRE(ibv_destroy_qp(qp) == 0);
  }
  qp = by;
  if (qp) start(delivery);
}

void RawEnd::start(const verbs_soft_delivery& delivery) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = port;
  REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT) == 0);
  for (const ibv_qp_state state : {IBV_QPS_RTR, IBV_QPS_RTS}) {
    attr.qp_state = state;
    REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
  }
  add_receiver({context->device, port, qp, delivery});
}

int RawEnd::send_frame(const Bytes& frame, unsigned flags) {
  std::ranges::copy(frame, memory.begin());
  ibv_sge sge;
  ibv_send_wr wr = request(&sge, IBV_WR_SEND, 0, static_cast<std::uint32_t>(frame.size())), *bad = nullptr;
  wr.send_flags = flags;
  return ibv_post_send(qp, &wr, &bad);
}

Bytes RawEnd::receive_frame() {
  const ibv_wc wc = poll();
  REQUIRE(wc.status == IBV_WC_SUCCESS);
  REQUIRE(wc.opcode == IBV_WC_RECV);
  const auto from = memory.begin() + kReceiveAt;
  return {from, from + wc.byte_len};
}

}  // namespace verbs::soft::test
