// Objects that were destroyed, altered, or are of another type: every function of libmlx5 that the model has rejects
// them and nothing crashes.
#include "../../../../../soft/native/test/abi/support/dead_objects.h"
#include "test/support/model/ends.h"
#include "test/support/model/rules.h"

using namespace verbs::mlx5::test;
using namespace verbs::soft::test;

namespace {

ibv_context* closed_context() {
  ibv_device** list = ibv_get_device_list(nullptr);
  REQUIRE(list);
  ibv_context* context = mlx5dv_open_device(list[0], nullptr);
  ibv_free_device_list(list);
  REQUIRE(context);
  REQUIRE(ibv_close_device(context) == 0);
  return context;
}

struct Dead {
  explicit Dead(End& end) : pd(ibv_alloc_pd(end.context)), qp(end.add_qp()), context(closed_context()) {
    REQUIRE(pd);
    REQUIRE(ibv_dealloc_pd(pd) == 0);
    REQUIRE(ibv_destroy_qp(qp) == 0);
  }
  ibv_pd* pd;
  ibv_qp* qp;
  ibv_context* context;
};

std::uint8_t command[64], answer[64];

}  // namespace

TEST_CASE("a context that is not open is no device of the library") {
  End end;
  const Dead dead(end);
  Parameters mask;
  Bytes header = kMac;
  const auto check = [&](const auto& call) { check_addresses<ibv_context>(EOPNOTSUPP, dead.context, end.qp, call); };
  check([](ibv_context* context) {
    ibv_cq_init_attr_ex attr{};
    return mlx5dv_create_cq(context, &attr, nullptr);
  });
  check([](ibv_context* context) {
    ibv_qp_init_attr_ex attr{};
    return mlx5dv_create_qp(context, &attr, nullptr);
  });
  check([](ibv_context* context) {
    mlx5dv_clock_info info{};
    return mlx5dv_get_clock_info(context, &info);
  });
  check([](ibv_context* context) {
    mlx5dv_context attr{};
    return mlx5dv_query_device(context, &attr);
  });
  check([](ibv_context* context) {
    mlx5dv_port info{};
    return mlx5dv_query_port(context, 1, &info);
  });
  check([](ibv_context* context) {
    ibv_flow_action_esp_attr attr{};
    return mlx5dv_create_flow_action_esp(context, &attr, nullptr);
  });
  check([](ibv_context* context) {
    std::uint64_t actions[1] = {};
    return mlx5dv_create_flow_action_modify_header(context, 8, actions, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
  });
  check([&](ibv_context* context) {
    return mlx5dv_create_flow_action_packet_reformat(context, header.size(), header.data(), kL3Decap,
                                                     MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
  });
  check([&](ibv_context* context) {
    mlx5dv_flow_matcher_attr attr{};
    attr.match_mask = mask;
    return mlx5dv_create_flow_matcher(context, &attr);
  });
  check([](ibv_context* context) {
    mlx5dv_steering_anchor_attr attr{};
    return mlx5dv_create_steering_anchor(context, &attr);
  });
  check([](ibv_context* context) { return mlx5dv_dr_domain_create(context, kRx); });
  check([](ibv_context* context) {
    return mlx5dv_devx_general_cmd(context, command, sizeof command, answer, sizeof answer);
  });
  check([](ibv_context* context) {
    return mlx5dv_devx_obj_create(context, command, sizeof command, answer, sizeof answer);
  });
}

TEST_CASE("a queue pair or a domain that is not live is an error") {
  End end;
  const Dead dead(end);
  check_object(end.qp, dead.qp, end.pd, [](ibv_qp* qp) {
    mlx5dv_qp out{};
    out.comp_mask = MLX5DV_QP_MASK_RAW_QP_HANDLES;
    mlx5dv_obj object{};
    object.qp = {qp, &out};
    return mlx5dv_init_obj(&object, MLX5DV_OBJ_QP);
  });
  check_object(end.pd, dead.pd, end.qp, [](ibv_pd* pd) {
    mlx5dv_pd out{};
    mlx5dv_obj object{};
    object.pd = {pd, &out};
    return mlx5dv_init_obj(&object, MLX5DV_OBJ_PD);
  });
  check_object(end.qp, dead.qp, end.pd, [](ibv_qp* qp) { return mlx5dv_dr_action_create_dest_ibv_qp(qp); });
  Parameters mask, value;
  const FlowMatcher matcher = make_matcher(end.context, mask);
  check_object(end.qp, dead.qp, end.pd, [&](ibv_qp* qp) { return make_flow(matcher.get(), value, {to_qp(qp)}); });
  // As the inline ibv_create_flow() calls it.
  check_object(end.qp, dead.qp, end.pd, [&](ibv_qp* qp) {
    ibv_flow_attr attr{};
    attr.type = IBV_FLOW_ATTR_ALL_DEFAULT;
    attr.port = 1;
    return verbs_get_ctx(end.context)->ibv_create_flow(qp, &attr);
  });
  // They are still what they were.
  ibv_flow* flow = make_flow(matcher.get(), value, {to_qp(end.qp)});
  REQUIRE(flow);
  CHECK(ibv_destroy_flow(flow) == 0);
}

TEST_CASE("the attributes of a queue pair or queue are looked up as well") {
  End end;
  const Dead dead(end);
  const auto create_qp = [&](ibv_pd* pd, ibv_cq* cq) {
    ibv_qp_init_attr_ex attr{};
    attr.qp_type = IBV_QPT_RAW_PACKET;
    attr.comp_mask = IBV_QP_INIT_ATTR_PD;
    attr.pd = pd;
    attr.send_cq = attr.recv_cq = cq;
    return mlx5dv_create_qp(end.context, &attr, nullptr);
  };
  check_addresses<ibv_pd>(ENOENT, dead.pd, nullptr, [&](ibv_pd* pd) { return create_qp(pd, end.qp->send_cq); });
  CHECK(error_of([&] { return create_qp(reinterpret_cast<ibv_pd*>(end.qp), end.qp->send_cq); }) == EINVAL);
  check_addresses<ibv_cq>(ENOENT, nullptr, nullptr, [&](ibv_cq* cq) { return create_qp(end.pd, cq); });
}

TEST_CASE("the library's own objects are found by their address") {
  End end;
  Parameters mask, value;
  const FlowMatcher matcher = make_matcher(end.context, mask);
  mlx5dv_steering_anchor_attr anchor_attr{};
  anchor_attr.ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_RX;
  mlx5dv_steering_anchor* anchor = mlx5dv_create_steering_anchor(end.context, &anchor_attr);
  mlx5dv_dr_domain* domain = mlx5dv_dr_domain_create(end.context, kRx);
  mlx5dv_dr_table* table = mlx5dv_dr_table_create(domain, 1);
  mlx5dv_dr_matcher* dr_matcher = mlx5dv_dr_matcher_create(table, 0, 0, mask);
  mlx5dv_dr_action* drop = mlx5dv_dr_action_create_drop();
  mlx5dv_dr_rule* rule = mlx5dv_dr_rule_create(dr_matcher, value, 1, &drop);
  std::uint32_t id = 0;
  mlx5dv_devx_obj* counter = make_counter(end.context, &id);
  REQUIRE((anchor && rule && counter));
  const void* other = end.qp;

  const auto by_matcher = [&](mlx5dv_flow_matcher* wild) { return make_flow(wild, value, {}); };
  check_addresses<mlx5dv_flow_matcher>(EINVAL, nullptr, other, by_matcher);
  check_addresses<mlx5dv_flow_matcher>(EINVAL, nullptr, other, mlx5dv_destroy_flow_matcher);
  check_addresses<mlx5dv_steering_anchor>(EINVAL, nullptr, other, mlx5dv_destroy_steering_anchor);
  check_addresses<ibv_flow>(EINVAL, nullptr, other, verbs_get_ctx(end.context)->ibv_destroy_flow);
  check_addresses<ibv_flow_action>(EINVAL, nullptr, other, verbs_get_ctx(end.context)->destroy_flow_action);

  check_addresses<mlx5dv_dr_domain>(EINVAL, nullptr, other, mlx5dv_dr_domain_destroy);
  check_addresses<mlx5dv_dr_domain>(EINVAL, nullptr, other, [](auto* wild) { return mlx5dv_dr_domain_sync(wild, 1); });
  check_addresses<mlx5dv_dr_domain>(EINVAL, nullptr, other, [](auto* wild) { return mlx5dv_dr_table_create(wild, 1); });
  check_addresses<mlx5dv_dr_domain>(EINVAL, nullptr, other,
                                    [](auto* wild) { return mlx5dv_dump_dr_domain(stderr, wild); });
  check_addresses<mlx5dv_dr_domain>(EINVAL, nullptr, other, [](auto* wild) {
    mlx5dv_dr_domain_allow_duplicate_rules(wild, true);
    mlx5dv_dr_domain_set_reclaim_device_memory(wild, true);
    return mlx5dv_dr_action_create_push_vlan(wild, htobe32(0x81000001));
  });
  check_addresses<mlx5dv_dr_domain>(EINVAL, nullptr, other, [](auto* wild) {
    Bytes header = kMac;
    return mlx5dv_dr_action_create_packet_reformat(wild, 0, kL3Decap, header.size(), header.data());
  });
  check_addresses<mlx5dv_dr_domain>(EINVAL, nullptr, other, [](auto* wild) {
    __be64 entries[1] = {};
    return mlx5dv_dr_action_create_modify_header(wild, 0, sizeof entries, entries);
  });
  check_addresses<mlx5dv_dr_domain>(EINVAL, nullptr, other, [](auto* wild) {
    mlx5dv_dr_action_dest_attr* targets[2] = {};
    return mlx5dv_dr_action_create_dest_array(wild, 2, targets);
  });
  check_addresses<mlx5dv_dr_table>(EINVAL, nullptr, other, mlx5dv_dr_table_destroy);
  check_addresses<mlx5dv_dr_table>(EINVAL, nullptr, other, mlx5dv_dr_action_create_dest_table);
  check_addresses<mlx5dv_dr_table>(EINVAL, nullptr, other,
                                   [](auto* wild) { return mlx5dv_dr_action_create_dest_root_table(wild, 0); });
  check_addresses<mlx5dv_dr_table>(EINVAL, nullptr, other,
                                   [](auto* wild) { return mlx5dv_dump_dr_table(stderr, wild); });
  check_addresses<mlx5dv_dr_table>(EINVAL, nullptr, other,
                                   [&](auto* wild) { return mlx5dv_dr_matcher_create(wild, 0, 0, mask); });
  check_addresses<mlx5dv_dr_table>(EINVAL, nullptr, other, [](auto* wild) {
    mlx5dv_dr_flow_meter_attr attr{};
    attr.next_table = wild;
    return mlx5dv_dr_action_create_flow_meter(&attr);
  });
  check_addresses<mlx5dv_dr_table>(EINVAL, nullptr, other, [&](auto* wild) {
    mlx5dv_dr_flow_sampler_attr attr{};
    attr.sample_ratio = attr.num_sample_actions = 1;
    attr.sample_actions = &drop;
    attr.default_next_table = wild;
    return mlx5dv_dr_action_create_flow_sampler(&attr);
  });
  check_addresses<mlx5dv_dr_matcher>(EINVAL, nullptr, other, mlx5dv_dr_matcher_destroy);
  check_addresses<mlx5dv_dr_matcher>(EINVAL, nullptr, other,
                                     [](auto* wild) { return mlx5dv_dump_dr_matcher(stderr, wild); });
  check_addresses<mlx5dv_dr_matcher>(EINVAL, nullptr, other, [](auto* wild) {
    mlx5dv_dr_matcher_layout layout{};
    return mlx5dv_dr_matcher_set_layout(wild, &layout);
  });
  check_addresses<mlx5dv_dr_matcher>(EINVAL, nullptr, other,
                                     [&](auto* wild) { return mlx5dv_dr_rule_create(wild, value, 1, &drop); });
  check_addresses<mlx5dv_dr_action>(EINVAL, nullptr, other,
                                    [&](auto* wild) { return mlx5dv_dr_rule_create(dr_matcher, value, 1, &wild); });
  check_addresses<mlx5dv_dr_action>(EINVAL, nullptr, other, mlx5dv_dr_action_destroy);
  check_addresses<mlx5dv_dr_action>(EINVAL, nullptr, other, [](auto* wild) {
    mlx5dv_dr_flow_meter_attr attr{};
    return mlx5dv_dr_action_modify_flow_meter(wild, &attr, 0);
  });
  check_addresses<mlx5dv_dr_rule>(EINVAL, nullptr, other, mlx5dv_dr_rule_destroy);
  check_addresses<mlx5dv_dr_rule>(EINVAL, nullptr, other, [](auto* wild) { return mlx5dv_dump_dr_rule(stderr, wild); });

  check_addresses<mlx5dv_devx_obj>(EINVAL, nullptr, other, mlx5dv_devx_obj_destroy);
  check_addresses<mlx5dv_devx_obj>(EINVAL, nullptr, other, [](auto* wild) {
    return mlx5dv_devx_obj_query(wild, command, sizeof command, answer, sizeof answer);
  });
  check_addresses<mlx5dv_devx_obj>(EINVAL, nullptr, other, [](auto* wild) {
    return mlx5dv_devx_obj_modify(wild, command, sizeof command, answer, sizeof answer);
  });
  check_addresses<mlx5dv_devx_obj>(EINVAL, nullptr, other,
                                   [](auto* wild) { return mlx5dv_dr_action_create_flow_counter(wild, 0); });
  check_addresses<mlx5dv_devx_obj>(EINVAL, nullptr, other, mlx5dv_dr_action_create_dest_devx_tir);

  // Each exists once: the second call has a stale pointer.
  const auto twice = [](auto* object, auto destroy) {
    CHECK(destroy(object) == 0);
    CHECK(destroy(object) == EINVAL);
  };
  twice(anchor, mlx5dv_destroy_steering_anchor);
  twice(rule, mlx5dv_dr_rule_destroy);
  twice(drop, mlx5dv_dr_action_destroy);
  twice(dr_matcher, mlx5dv_dr_matcher_destroy);
  twice(table, mlx5dv_dr_table_destroy);
  twice(domain, mlx5dv_dr_domain_destroy);
  twice(counter, mlx5dv_devx_obj_destroy);
}
