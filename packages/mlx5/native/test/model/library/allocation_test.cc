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
