// Without memory every call fails with ENOMEM: the nth allocation of each call fails in turn.
#include "../../../../../soft/native/test/abi/support/failing_call.h"
#include "test/support/model/ends.h"
#include "test/support/model/rules.h"

using namespace verbs::mlx5::test;
using namespace verbs::soft::test;

TEST_CASE("a call without memory fails with ENOMEM" * doctest::skip(!kAllocationsCanFail)) {
  ibv_device** list = ibv_get_device_list(nullptr);
  REQUIRE(list);
  ibv_context* context = until_it_succeeds("mlx5dv_open_device", [&] { return mlx5dv_open_device(list[0], nullptr); });
  ibv_free_device_list(list);

  Bytes header = kMac;
  ibv_flow_action* action = until_it_succeeds("mlx5dv_create_flow_action_packet_reformat", [&] {
    return mlx5dv_create_flow_action_packet_reformat(context, header.size(), header.data(), kL3Decap,
                                                     MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
  });
  Parameters mask;
  mlx5dv_flow_matcher_attr matcher_attr{};
  matcher_attr.type = IBV_FLOW_ATTR_NORMAL;
  matcher_attr.match_mask = mask;
  mlx5dv_flow_matcher* matcher = until_it_succeeds("mlx5dv_create_flow_matcher",
                                                   [&] { return mlx5dv_create_flow_matcher(context, &matcher_attr); });
  until_it_succeeds("mlx5dv_destroy_flow_matcher", [&] { return mlx5dv_destroy_flow_matcher(matcher); });
  until_it_succeeds("ibv_destroy_flow_action", [&] { return ibv_destroy_flow_action(action); });

  mlx5dv_dr_domain* domain =
      until_it_succeeds("mlx5dv_dr_domain_create", [&] { return mlx5dv_dr_domain_create(context, kRx); });
  mlx5dv_dr_table* table =
      until_it_succeeds("mlx5dv_dr_table_create", [&] { return mlx5dv_dr_table_create(domain, 1); });
  mlx5dv_dr_matcher* dr_matcher =
      until_it_succeeds("mlx5dv_dr_matcher_create", [&] { return mlx5dv_dr_matcher_create(table, 0, 0, mask); });
  mlx5dv_dr_action* drop =
      until_it_succeeds("mlx5dv_dr_action_create_drop", [] { return mlx5dv_dr_action_create_drop(); });
  mlx5dv_dr_action* to_table = until_it_succeeds("mlx5dv_dr_action_create_dest_table",
                                                 [&] { return mlx5dv_dr_action_create_dest_table(table); });
  Parameters value;
  mlx5dv_dr_rule* rule =
      until_it_succeeds("mlx5dv_dr_rule_create", [&] { return mlx5dv_dr_rule_create(dr_matcher, value, 1, &drop); });
  until_it_succeeds("mlx5dv_dr_rule_destroy", [&] { return mlx5dv_dr_rule_destroy(rule); });
  until_it_succeeds("mlx5dv_dr_action_destroy", [&] { return mlx5dv_dr_action_destroy(to_table); });
  until_it_succeeds("mlx5dv_dr_action_destroy", [&] { return mlx5dv_dr_action_destroy(drop); });
  // Nothing was left behind that still uses them.
  until_it_succeeds("mlx5dv_dr_matcher_destroy", [&] { return mlx5dv_dr_matcher_destroy(dr_matcher); });
  until_it_succeeds("mlx5dv_dr_table_destroy", [&] { return mlx5dv_dr_table_destroy(table); });
  until_it_succeeds("mlx5dv_dr_domain_destroy", [&] { return mlx5dv_dr_domain_destroy(domain); });
  CHECK(ibv_close_device(context) == 0);
}

// A flow that failed is in no table: its frames go on to the next entry, and another flow may have its match.
TEST_CASE("a queue pair or flow without memory leaves nothing behind" * doctest::skip(!kAllocationsCanFail)) {
  End end;
  ibv_qp_init_attr attr{};
  attr.send_cq = end.qp->send_cq;
  attr.recv_cq = end.qp->recv_cq;
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  attr.qp_type = IBV_QPT_RAW_PACKET;
  ibv_qp* qp = until_it_succeeds("ibv_create_qp", [&] { return ibv_create_qp(end.pd, &attr); });
  Parameters mask({{0, kAllOnes}}), value({{0, kSmac}});
  const FlowMatcher matcher = make_matcher(end.context, mask);
  mlx5dv_flow_action_attr to_first[] = {to_qp(end.qp)}, to_second[] = {to_qp(qp)};
  // The second flow shares the entry of the first.
  ibv_flow* first =
      until_it_succeeds("mlx5dv_create_flow", [&] { return mlx5dv_create_flow(matcher.get(), value, 1, to_first); });
  ibv_flow* second =
      until_it_succeeds("mlx5dv_create_flow", [&] { return mlx5dv_create_flow(matcher.get(), value, 1, to_second); });
  CHECK(ibv_destroy_qp(qp) == EBUSY);
  CHECK(ibv_destroy_flow(second) == 0);
  until_it_succeeds("ibv_destroy_qp", [&] { return ibv_destroy_qp(qp); });
  CHECK(ibv_destroy_flow(first) == 0);

  mlx5dv_dr_domain* domain = mlx5dv_dr_domain_create(end.context, kRx);
  for (const std::uint32_t level : {0u, 1u}) {
    CAPTURE(level);
    mlx5dv_dr_table* table = mlx5dv_dr_table_create(domain, level);
    mlx5dv_dr_matcher* rules =
        until_it_succeeds("mlx5dv_dr_matcher_create", [&] { return mlx5dv_dr_matcher_create(table, 0, 1, mask); });
    mlx5dv_dr_action* drop = mlx5dv_dr_action_create_drop();
    mlx5dv_dr_rule* rule =
        until_it_succeeds("mlx5dv_dr_rule_create", [&] { return mlx5dv_dr_rule_create(rules, value, 1, &drop); });
    CHECK(mlx5dv_dr_rule_destroy(rule) == 0);
    CHECK(mlx5dv_dr_action_destroy(drop) == 0);
    CHECK(mlx5dv_dr_matcher_destroy(rules) == 0);
    CHECK(mlx5dv_dr_table_destroy(table) == 0);
  }
  CHECK(mlx5dv_dr_domain_destroy(domain) == 0);
}
