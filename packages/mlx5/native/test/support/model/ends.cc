#include "test/support/model/ends.h"

#include <infiniband/verbs.h>

#include <array>
#include <chrono>
#include <cstring>

namespace verbs::mlx5::test {

namespace {

constexpr std::size_t kSlot = 4608;
constexpr std::size_t kSlots = 64;  // slot 0 is for sending

ibv_context* open(const char* name) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  REQUIRE(list != nullptr);
  ibv_context* context = nullptr;
  for (int i = 0; i < count; ++i) {
    if (std::string(name) == ibv_get_device_name(list[i])) context = mlx5dv_open_device(list[i], nullptr);
  }
  ibv_free_device_list(list);
  REQUIRE(context != nullptr);
  return context;
}

}  // namespace

Bytes hex(const std::string& digits) {
  Bytes bytes;
  std::string pair;
  for (const char digit : digits) {
    if (digit == ' ') continue;
    pair += digit;
    if (pair.size() < 2) continue;
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(pair, nullptr, 16)));
    pair.clear();
  }
  return bytes;
}

Parameters::Parameters(std::initializer_list<Field> fields, std::size_t size) : words_(1 + (size + 7) / 8) {
  words_[0] = size;
  auto* bytes = reinterpret_cast<std::uint8_t*>(&words_[1]);
  for (const Field& field : fields) std::memcpy(bytes + field.at, field.bytes.data(), field.bytes.size());
}

End::End(const char* device) : context(open(device)), memory_(kSlot * kSlots) {
  pd = ibv_alloc_pd(context);
  mr_ = ibv_reg_mr(pd, memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE);
  send_cq_ = ibv_create_cq(context, 64, nullptr, nullptr, 0);
  ibv_cq_init_attr_ex attr{};
  attr.cqe = 256;
  attr.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_FLOW_TAG;
  receive_cq_ = ibv_create_cq_ex(context, &attr);
  REQUIRE(receive_cq_ != nullptr);
  qp = add_qp();
}

End::~End() { ibv_close_device(context); }

ibv_qp* End::add_qp() {
  ibv_qp_init_attr attr{};
  attr.send_cq = send_cq_;
  attr.recv_cq = ibv_cq_ex_to_cq(receive_cq_);
  attr.qp_type = IBV_QPT_RAW_PACKET;
  attr.cap = {.max_send_wr = 16, .max_recv_wr = 64, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 0};
  ibv_qp* added = ibv_create_qp(pd, &attr);
  REQUIRE(added != nullptr);
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_INIT;
  to.port_num = 1;
  REQUIRE(ibv_modify_qp(added, &to, IBV_QP_STATE | IBV_QP_PORT) == 0);
  to.qp_state = IBV_QPS_RTR;
  REQUIRE(ibv_modify_qp(added, &to, IBV_QP_STATE) == 0);
  to.qp_state = IBV_QPS_RTS;
  REQUIRE(ibv_modify_qp(added, &to, IBV_QP_STATE) == 0);
  return added;
}

void End::post_receive(ibv_qp* on) {
  const std::uint64_t slot = 1 + posted_++ % (kSlots - 1);
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(&memory_[slot * kSlot]), kSlot, mr_->lkey};
  ibv_recv_wr wr{};
  wr.wr_id = slot;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  REQUIRE(ibv_post_recv(on ? on : qp, &wr, &bad) == 0);
}

void End::send(const Bytes& frame, unsigned flags) {
  std::memcpy(memory_.data(), frame.data(), frame.size());
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory_.data()), static_cast<std::uint32_t>(frame.size()), mr_->lkey};
  ibv_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_SIGNALED | flags;
  ibv_send_wr* bad = nullptr;
  REQUIRE(ibv_post_send(qp, &wr, &bad) == 0);
  ibv_wc wc{};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int polled = 0;
  while (polled == 0 && std::chrono::steady_clock::now() < deadline) polled = ibv_poll_cq(send_cq_, 1, &wc);
  REQUIRE(polled == 1);
  REQUIRE(wc.status == IBV_WC_SUCCESS);
}

// Polling makes the progress: every frame sent has arrived afterwards.
Bytes End::receive() {
  ibv_poll_cq_attr attr{};
  for (int round = 0; round < 3; ++round) {
    if (ibv_start_poll(receive_cq_, &attr) != 0) continue;
    REQUIRE(receive_cq_->status == IBV_WC_SUCCESS);
    qp_num = ibv_wc_read_qp_num(receive_cq_);
    flow_tag = ibv_wc_read_flow_tag(receive_cq_);
    wc_flags = ibv_wc_read_wc_flags(receive_cq_);
    const auto* data = &memory_[receive_cq_->wr_id * kSlot];
    Bytes frame(data, data + ibv_wc_read_byte_len(receive_cq_));
    ibv_end_poll(receive_cq_);
    return frame;
  }
  return {};
}

FlowMatcher make_matcher(ibv_context* context, Parameters& mask, bool egress, std::uint16_t priority,
                         std::uint8_t criteria) {
  mlx5dv_flow_matcher_attr attr{};
  attr.type = IBV_FLOW_ATTR_NORMAL;
  attr.flags = egress ? IBV_FLOW_ATTR_FLAGS_EGRESS : 0;
  attr.priority = priority;
  attr.match_criteria_enable = criteria;
  attr.match_mask = mask;
  FlowMatcher matcher(mlx5dv_create_flow_matcher(context, &attr));
  REQUIRE(matcher != nullptr);
  return matcher;
}

mlx5dv_flow_action_attr to_qp(ibv_qp* qp) {
  mlx5dv_flow_action_attr attr{};
  attr.type = MLX5DV_FLOW_ACTION_DEST_IBV_QP;
  attr.qp = qp;
  return attr;
}

mlx5dv_flow_action_attr by_action(ibv_flow_action* action) {
  mlx5dv_flow_action_attr attr{};
  attr.type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION;
  attr.action = action;
  return attr;
}

mlx5dv_flow_action_attr of_type(mlx5dv_flow_action_type type) {
  mlx5dv_flow_action_attr attr{};
  attr.type = type;
  return attr;
}

mlx5dv_flow_action_attr with_tag(std::uint32_t tag) {
  mlx5dv_flow_action_attr attr = of_type(MLX5DV_FLOW_ACTION_TAG);
  attr.tag_value = tag;
  return attr;
}

mlx5dv_flow_action_attr count_with(mlx5dv_devx_obj* counter) {
  mlx5dv_flow_action_attr attr = of_type(MLX5DV_FLOW_ACTION_COUNTERS_DEVX);
  attr.obj = counter;
  return attr;
}

ibv_flow* make_flow(mlx5dv_flow_matcher* matcher, Parameters& value, std::vector<mlx5dv_flow_action_attr> actions) {
  return mlx5dv_create_flow(matcher, value, actions.size(), actions.data());
}

mlx5dv_devx_obj* make_counter(ibv_context* context, std::uint32_t* id, std::uint8_t log_bulk) {
  Bytes in = hex("0939 0000 0000 0000 00000000 00000000"), out(16);
  in[14] = log_bulk;
  mlx5dv_devx_obj* counter = mlx5dv_devx_obj_create(context, in.data(), in.size(), out.data(), out.size());
  REQUIRE(counter != nullptr);
  *id = static_cast<std::uint32_t>(out[8] << 24 | out[9] << 16 | out[10] << 8 | out[11]);
  return counter;
}

Count read_counter(mlx5dv_devx_obj* counter, std::uint32_t id) {
  Bytes in = hex("093b 0000 0000 0000"), out(32);
  in.resize(32);
  for (int i = 0; i < 4; ++i) in[28 + i] = static_cast<std::uint8_t>(id >> (24 - 8 * i));
  REQUIRE(mlx5dv_devx_obj_query(counter, in.data(), in.size(), out.data(), out.size()) == 0);
  Count count{};
  for (int i = 0; i < 8; ++i) count.packets = count.packets << 8 | out[16 + i];
  for (int i = 0; i < 8; ++i) count.bytes = count.bytes << 8 | out[24 + i];
  return count;
}

Bytes export_of(mlx5dv_devx_obj* object) {
  std::array<std::uint32_t, 3> sizes{};  // of VARs, of memory, of objects
  _mlx5dv_get_export_sizes(reinterpret_cast<mlx5dv_export_sizes*>(sizes.data()), sizeof sizes);
  Bytes data(sizes[2]);
  CHECK(mlx5dv_devx_obj_export(object, data.data()) == 0);
  return data;
}

Bytes example_frame() {
  Bytes frame = hex("0150561920a7248a07a528c80800 4500005600004000401100000101010102020202 04d2162e00420000");
  frame.resize(100, 'a');
  return frame;
}

}  // namespace verbs::mlx5::test
