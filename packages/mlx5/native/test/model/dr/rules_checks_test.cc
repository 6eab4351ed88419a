// Direct rules: valid and invalid tables and actions, the order of actions, and objects in use.
#include <algorithm>
#include <cstdio>

#include "test/support/model/rules.h"

using namespace verbs::mlx5::test;

TEST_CASE("valid and invalid reformat and modify actions of a domain") {
  End end;
  Rules in(end, kRx), out(end, kTx);
  CHECK(ERRNO_OF(reformat(in.domain, kL2Encap, kGreTeb)) == EINVAL);
  CHECK(ERRNO_OF(reformat(out.domain, kL2Decap, {})) == EINVAL);
  CHECK(ERRNO_OF(reformat(out.domain, kL2Encap, kGreTeb, 2)) == EINVAL);
  CHECK(ERRNO_OF(reformat(out.domain, static_cast<mlx5dv_flow_action_packet_reformat_type>(4), kGreTeb)) == EINVAL);
  CHECK(ERRNO_OF(reformat(out.domain, kL2Encap, Bytes(130))) == EINVAL);
  CHECK(ERRNO_OF(reformat(in.domain, kL3Decap, Bytes(16))) == EINVAL);
  CHECK(ERRNO_OF(reformat(out.domain, kL2Encap, {}, MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL)) == ENOENT);
  CHECK(ERRNO_OF(reformat(nullptr, kL2Encap, kGreTeb)) == EINVAL);
  CHECK(ERRNO_OF(modify(in.domain, "1049 0000 00000001")) == EINVAL);   // register A is for transmit only
  CHECK(ERRNO_OF(modify(out.domain, "1050 0000 00000001")) == EINVAL);  // register B is for receive only
  CHECK(ERRNO_OF(modify(in.domain, "2002 0010 00000001")) == EINVAL);   // addresses have no add
  CHECK(ERRNO_OF(modify(in.domain, "7002 0010 00000001")) == EOPNOTSUPP);
  CHECK(ERRNO_OF(mlx5dv_dr_action_create_modify_header(in.domain, 0, 0, nullptr)) == EINVAL);
}

TEST_CASE("the order of actions") {
  End end;
  Rules in(end, kRx), out(end, kTx);
  mlx5dv_dr_action* qp = mlx5dv_dr_action_create_dest_ibv_qp(end.qp);
  mlx5dv_dr_action* tag = mlx5dv_dr_action_create_tag(1);
  mlx5dv_dr_action* pop = mlx5dv_dr_action_create_pop_vlan();
  mlx5dv_dr_action* drop = mlx5dv_dr_action_create_drop();
  mlx5dv_dr_action* decap = reformat(in.domain, kL2Decap, {});
  mlx5dv_dr_action* change = modify(in.domain, kNewSmac);
  CHECK(in.error({decap, tag, pop, pop, change, qp}) == 0);
  CHECK(in.error({tag, decap, change, qp}) == 0);
  CHECK(in.error({change, decap, qp}) == EOPNOTSUPP);
  CHECK(in.error({change, pop, qp}) == EOPNOTSUPP);
  CHECK(in.error({qp, tag}) == EOPNOTSUPP);
  CHECK(in.error({decap, drop}) == EOPNOTSUPP);
  CHECK(in.error({tag, tag, qp}) == EINVAL);
  CHECK(in.error({pop, pop, pop, qp}) == EINVAL);
  CHECK(in.error({qp, qp}) == EINVAL);
  CHECK(in.error({nullptr}) == EINVAL);
  mlx5dv_dr_action* encap = reformat(out.domain, kL2Encap, kGreTeb);
  mlx5dv_dr_action* change_out = modify(out.domain, kNewSmac);
  CHECK(out.error({change_out, encap}) == 0);
  CHECK(out.error({encap, change_out}) == EOPNOTSUPP);
  CHECK(out.error({tag}) == EOPNOTSUPP);
  CHECK(out.error({qp}) == EOPNOTSUPP);
  // Actions of another domain, or created for root tables.
  CHECK(out.error({change}) == EINVAL);
  CHECK(in.error({reformat(in.domain, kL2Decap, {}, MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL), qp}) == EINVAL);
  CHECK(ERRNO_OF(in.rule(in.root_matcher, {decap, qp})) == EINVAL);
  CHECK(mlx5dv_dr_rule_destroy(in.lead) == 0);
  CHECK(ERRNO_OF(in.rule(in.root_matcher, {pop, qp})) == EOPNOTSUPP);
}

TEST_CASE("tables lead to tables of higher levels of their domain") {
  End end;
  Rules in(end, kRx);
  mlx5dv_dr_table* higher = mlx5dv_dr_table_create(in.domain, 5);
  mlx5dv_dr_matcher* matcher = mlx5dv_dr_matcher_create(higher, 0, 1, in.mask);
  CHECK(ERRNO_OF(mlx5dv_dr_action_create_dest_table(in.root)) == EINVAL);
  CHECK(in.error({mlx5dv_dr_action_create_dest_table(higher)}) == 0);
  CHECK(ERRNO_OF(in.rule(matcher, {in.to_table})) == EINVAL);
  CHECK(in.error({in.to_table}) == EINVAL);  // a loop
  mlx5dv_dr_action_dest_attr destinations[2]{};
  mlx5dv_dr_action_dest_attr* pointers[] = {&destinations[0], &destinations[1]};
  destinations[0].dest = mlx5dv_dr_action_create_dest_table(higher);
  destinations[1].dest = mlx5dv_dr_action_create_dest_ibv_qp(end.qp);
  CHECK(in.error({mlx5dv_dr_action_create_dest_array(in.domain, 2, pointers)}) == 0);
  destinations[1].dest = in.to_table;
  CHECK(in.error({mlx5dv_dr_action_create_dest_array(in.domain, 2, pointers)}) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_dr_action_create_dest_root_table(higher, 0)) == EINVAL);
  CHECK(mlx5dv_dr_action_create_dest_root_table(in.root, 0) != nullptr);
  CHECK(ERRNO_OF(mlx5dv_dr_domain_create(end.context, MLX5DV_DR_DOMAIN_TYPE_FDB)) == EOPNOTSUPP);
  CHECK(ERRNO_OF(mlx5dv_dr_domain_create(end.context, static_cast<mlx5dv_dr_domain_type>(3))) == EINVAL);
}

TEST_CASE("duplicate rules, sizes of parameters, layouts, synchronization") {
  End end;
  Rules in(end, kRx);
  mlx5dv_dr_action* qp = mlx5dv_dr_action_create_dest_ibv_qp(end.qp);
  mlx5dv_dr_action* drop = mlx5dv_dr_action_create_drop();
  REQUIRE(in.rule(in.matcher, {qp}));
  CHECK(in.error({drop}) == 0);
  mlx5dv_dr_domain_allow_duplicate_rules(in.domain, false);
  CHECK(in.error({drop}) == EEXIST);
  mlx5dv_dr_domain_allow_duplicate_rules(in.domain, true);
  CHECK(in.error({drop}) == 0);
  Parameters odd({{0, kAllOnes}}, 6), outside({{0, kSmac}, {6, {8, 0}}});
  Parameters none({}, 0), long_mask({{0, kAllOnes}}, 644);
  // The size of a mask is free, that of a value is not.
  CHECK(mlx5dv_dr_matcher_create(in.table, 4, 1, odd) != nullptr);
  CHECK(mlx5dv_dr_matcher_create(in.table, 5, 0, none) != nullptr);
  CHECK(mlx5dv_dr_matcher_create(in.table, 6, 0, nullptr) != nullptr);
  CHECK(ERRNO_OF(mlx5dv_dr_matcher_create(in.table, 7, 1, long_mask)) == EINVAL);
  CHECK(mlx5dv_dr_matcher_create(in.root, 3, 1, odd) != nullptr);
  CHECK(ERRNO_OF(mlx5dv_dr_matcher_create(in.root, 3, 0, none)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_dr_matcher_create(in.root, 3, 0, nullptr)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_dr_rule_create(in.matcher, odd, 1, &qp)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_dr_rule_create(in.matcher, outside, 1, &qp)) == EINVAL);
  mlx5dv_dr_matcher_layout layout{.flags = MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE, .log_num_of_rules_hint = 5};
  CHECK(mlx5dv_dr_matcher_set_layout(in.matcher, &layout) == 0);
  layout.log_num_of_rules_hint = 40;
  CHECK(mlx5dv_dr_matcher_set_layout(in.matcher, &layout) == EINVAL);
  layout.flags = 4;
  CHECK(mlx5dv_dr_matcher_set_layout(in.matcher, &layout) == EOPNOTSUPP);
  CHECK(mlx5dv_dr_domain_sync(in.domain, 7) == 0);
  CHECK(mlx5dv_dr_domain_sync(in.domain, 8) == EOPNOTSUPP);
}

TEST_CASE("objects in use cannot be destroyed, in any order; destroyed ones are EINVAL") {
  End end;
  Rules in(end, kRx);
  mlx5dv_dr_action* qp = mlx5dv_dr_action_create_dest_ibv_qp(end.qp);
  mlx5dv_dr_rule* rule = in.rule(in.matcher, {qp});
  CHECK(mlx5dv_dr_action_destroy(qp) == EBUSY);
  CHECK(ibv_destroy_qp(end.qp) == EBUSY);
  CHECK(mlx5dv_dr_matcher_destroy(in.matcher) == EBUSY);
  CHECK(mlx5dv_dr_table_destroy(in.table) == EBUSY);
  CHECK(mlx5dv_dr_domain_destroy(in.domain) == EBUSY);
  CHECK(mlx5dv_dr_rule_destroy(rule) == 0);
  CHECK(mlx5dv_dr_rule_destroy(rule) == EINVAL);
  CHECK(mlx5dv_dr_action_destroy(qp) == 0);
  CHECK(mlx5dv_dr_action_destroy(qp) == EINVAL);
  CHECK(mlx5dv_dr_matcher_destroy(in.matcher) == 0);
  CHECK(mlx5dv_dr_table_destroy(in.table) == EBUSY);  // a destination
  CHECK(mlx5dv_dr_rule_destroy(in.lead) == 0);
  CHECK(mlx5dv_dr_action_destroy(in.to_table) == 0);
  CHECK(mlx5dv_dr_table_destroy(in.table) == 0);
  CHECK(mlx5dv_dr_matcher_destroy(in.root_matcher) == 0);
  CHECK(mlx5dv_dr_table_destroy(in.root) == 0);
  CHECK(mlx5dv_dr_domain_destroy(in.domain) == 0);
  CHECK(mlx5dv_dr_domain_destroy(in.domain) == EINVAL);
  CHECK(ibv_destroy_qp(end.qp) == 0);
  CHECK(ERRNO_OF(mlx5dv_dr_table_create(in.domain, 0)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_dr_action_create_dest_ibv_qp(nullptr)) == EINVAL);
}

TEST_CASE("a dump has a line for each object") {
  End end;
  Rules in(end, kRx);
  REQUIRE(in.rule(in.matcher, {mlx5dv_dr_action_create_tag(1), mlx5dv_dr_action_create_dest_ibv_qp(end.qp)}));
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  CHECK(mlx5dv_dump_dr_domain(out, in.domain) == 0);
  std::fclose(out);
  const std::string dump(text, size);
  free(text);
  CHECK(dump.find("type=nic_rx") != std::string::npos);
  CHECK(dump.find("level=1") != std::string::npos);
  CHECK(dump.find("0:ff 1:ff 2:ff 3:ff 4:ff 5:ff") != std::string::npos);
  CHECK(dump.find(",tag,qp") != std::string::npos);
  CHECK(std::count(dump.begin(), dump.end(), '\n') == 7);
  CHECK(mlx5dv_dump_dr_domain(nullptr, in.domain) == EINVAL);
  CHECK(mlx5dv_dump_dr_rule(stdout, nullptr) == EINVAL);
}

TEST_CASE("a rule counts with a counter of another context, and ends with it") {
  End end;
  Rules in(end, kRx);
  mlx5dv_dr_action* const qp = mlx5dv_dr_action_create_dest_ibv_qp(end.qp);
  mlx5dv_dr_rule* rule = nullptr;
  {
    End other;
    std::uint32_t id = 0;
    mlx5dv_devx_obj* const counter = make_counter(other.context, &id);
    rule = in.rule(in.matcher, {mlx5dv_dr_action_create_flow_counter(counter, 0), qp});
    REQUIRE(rule != nullptr);
    end.post_receive();
    other.send(example_frame());
    CHECK(end.receive() == example_frame());
    CHECK(read_counter(counter, id).packets == 1);
    // A queue pair is its context's.
    CHECK(in.error({mlx5dv_dr_action_create_dest_ibv_qp(other.qp)}) == EINVAL);
  }
  CHECK(mlx5dv_dr_rule_destroy(rule) == EINVAL);
  CHECK(in.error({qp}) == 0);
}
