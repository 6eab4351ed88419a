// Without memory: direct rules and their actions.
#include "test/support/model/rules.h"

#include <array>
#include <cstdio>

#include "../../../../../soft/native/test/abi/support/failing_object.h"

using namespace verbs::mlx5::test;
using namespace verbs::soft::test;

namespace {

template <typename Create>
void check_action(const char* name, const Create& create) {
  check_object(name, create, "mlx5dv_dr_action_destroy", mlx5dv_dr_action_destroy);
}

struct OutFile {
  OutFile() = default;
  OutFile(const OutFile&) = delete;
  ~OutFile() { std::fclose(file); }
  std::FILE* file = std::fopen("/dev/null", "we");
};

}  // namespace

TEST_CASE("domains, tables and matchers without memory" * doctest::skip(!kAllocationsCanFail)) {
  End end;
  Parameters mask({{0, kAllOnes}}), value({{0, kSmac}});
  check_object(
      "mlx5dv_dr_domain_create", [&] { return mlx5dv_dr_domain_create(end.context, kRx); }, "mlx5dv_dr_domain_destroy",
      mlx5dv_dr_domain_destroy);
  mlx5dv_dr_domain* const domain = mlx5dv_dr_domain_create(end.context, kRx);
  REQUIRE(domain);
  until_it_has_memory("mlx5dv_dr_domain_allow_duplicate_rules",
                      [&] { mlx5dv_dr_domain_allow_duplicate_rules(domain, false); });
  until_it_has_memory("mlx5dv_dr_domain_set_reclaim_device_memory",
                      [&] { mlx5dv_dr_domain_set_reclaim_device_memory(domain, true); });
  until_it_succeeds("mlx5dv_dr_domain_sync", [&] { return mlx5dv_dr_domain_sync(domain, 7); });
  mlx5dv_dr_action* drop = mlx5dv_dr_action_create_drop();
  for (const std::uint32_t level : {0u, 1u}) {
    CAPTURE(level);
    check_object(
        "mlx5dv_dr_table_create", [&] { return mlx5dv_dr_table_create(domain, level); }, "mlx5dv_dr_table_destroy",
        mlx5dv_dr_table_destroy);
    mlx5dv_dr_table* const table = mlx5dv_dr_table_create(domain, level);
    check_object(
        "mlx5dv_dr_matcher_create", [&] { return mlx5dv_dr_matcher_create(table, 0, 1, mask); },
        "mlx5dv_dr_matcher_destroy", mlx5dv_dr_matcher_destroy);
    mlx5dv_dr_matcher* const matcher = mlx5dv_dr_matcher_create(table, 0, 1, mask);
    mlx5dv_dr_matcher_layout layout{.flags = MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE, .log_num_of_rules_hint = 5};
    if (level != 0) {
      until_it_succeeds("mlx5dv_dr_matcher_set_layout", [&] { return mlx5dv_dr_matcher_set_layout(matcher, &layout); });
    }
    // A rule that failed is in no table: another may have its match, in a domain without duplicates.
    check_object(
        "mlx5dv_dr_rule_create", [&] { return mlx5dv_dr_rule_create(matcher, value, 1, &drop); },
        "mlx5dv_dr_rule_destroy", mlx5dv_dr_rule_destroy);
    mlx5dv_dr_rule* const rule = mlx5dv_dr_rule_create(matcher, value, 1, &drop);
    const OutFile out;
    until_it_succeeds("mlx5dv_dump_dr_domain", [&] { return mlx5dv_dump_dr_domain(out.file, domain); });
    until_it_succeeds("mlx5dv_dump_dr_table", [&] { return mlx5dv_dump_dr_table(out.file, table); });
    until_it_succeeds("mlx5dv_dump_dr_matcher", [&] { return mlx5dv_dump_dr_matcher(out.file, matcher); });
    until_it_succeeds("mlx5dv_dump_dr_rule", [&] { return mlx5dv_dump_dr_rule(out.file, rule); });
    CHECK(mlx5dv_dr_rule_destroy(rule) == 0);
    CHECK(mlx5dv_dr_matcher_destroy(matcher) == 0);
    CHECK(mlx5dv_dr_table_destroy(table) == 0);
  }
  CHECK(mlx5dv_dr_action_destroy(drop) == 0);
  CHECK(mlx5dv_dr_domain_destroy(domain) == 0);
}

TEST_CASE("the actions of rules without memory" * doctest::skip(!kAllocationsCanFail)) {
  End end;
  Rules in(end, kRx), out(end, kTx);
  check_action("mlx5dv_dr_action_create_drop", [] { return mlx5dv_dr_action_create_drop(); });
  check_action("mlx5dv_dr_action_create_default_miss", [] { return mlx5dv_dr_action_create_default_miss(); });
  check_action("mlx5dv_dr_action_create_tag", [] { return mlx5dv_dr_action_create_tag(1); });
  check_action("mlx5dv_dr_action_create_pop_vlan", [] { return mlx5dv_dr_action_create_pop_vlan(); });
  check_action("mlx5dv_dr_action_create_push_vlan",
               [&] { return mlx5dv_dr_action_create_push_vlan(out.domain, htobe32(0x81000005)); });
  check_action("mlx5dv_dr_action_create_dest_table", [&] { return mlx5dv_dr_action_create_dest_table(in.table); });
  check_action("mlx5dv_dr_action_create_dest_root_table",
               [&] { return mlx5dv_dr_action_create_dest_root_table(in.root, 0); });
  check_action("mlx5dv_dr_action_create_dest_ibv_qp", [&] { return mlx5dv_dr_action_create_dest_ibv_qp(end.qp); });
  Bytes header = kGreTeb;
  check_action("mlx5dv_dr_action_create_packet_reformat", [&] {
    return mlx5dv_dr_action_create_packet_reformat(out.domain, 0, kL2Encap, header.size(), header.data());
  });
  const Bytes entries = hex(kNewSmac);
  std::vector<__be64> words(entries.size() / 8);
  memcpy(words.data(), entries.data(), entries.size());
  check_action("mlx5dv_dr_action_create_modify_header",
               [&] { return mlx5dv_dr_action_create_modify_header(in.domain, 0, entries.size(), words.data()); });

  std::uint32_t id = 0;
  mlx5dv_devx_obj* const counter = make_counter(end.context, &id);
  check_action("mlx5dv_dr_action_create_flow_counter",
               [&] { return mlx5dv_dr_action_create_flow_counter(counter, 0); });
  Bytes command(32 + 240), answer(16);
  command[0] = 9;
  for (int i = 0; i < 3; ++i) command[32 + 29 + i] = static_cast<std::uint8_t>(end.qp->qp_num >> (16 - 8 * i));
  mlx5dv_devx_obj* const tir =
      mlx5dv_devx_obj_create(end.context, command.data(), command.size(), answer.data(), answer.size());
  REQUIRE(tir);
  check_action("mlx5dv_dr_action_create_dest_devx_tir", [&] { return mlx5dv_dr_action_create_dest_devx_tir(tir); });

  mlx5dv_dr_action* const to_qps[] = {mlx5dv_dr_action_create_dest_ibv_qp(end.qp),
                                      mlx5dv_dr_action_create_dest_ibv_qp(end.add_qp())};
  mlx5dv_dr_action_dest_attr destinations[2]{};
  mlx5dv_dr_action_dest_attr* pointers[] = {&destinations[0], &destinations[1]};
  for (int i = 0; i < 2; ++i) destinations[i].dest = to_qps[i];
  check_action("mlx5dv_dr_action_create_dest_array",
               [&] { return mlx5dv_dr_action_create_dest_array(in.domain, 2, pointers); });

  mlx5dv_dr_table* const next = mlx5dv_dr_table_create(in.domain, 2);
  mlx5dv_dr_action* samples[] = {mlx5dv_dr_action_create_flow_counter(counter, 0)};
  mlx5dv_dr_flow_sampler_attr sampler{};
  sampler.sample_ratio = 4;
  sampler.default_next_table = next;
  sampler.num_sample_actions = 1;
  sampler.sample_actions = samples;
  check_action("mlx5dv_dr_action_create_flow_sampler", [&] { return mlx5dv_dr_action_create_flow_sampler(&sampler); });
  Bytes parameters(32);
  mlx5dv_dr_flow_meter_attr meter_attr{};
  meter_attr.next_table = next;
  meter_attr.active = 1;
  meter_attr.reg_c_index = 1;
  meter_attr.flow_meter_parameter = parameters.data();
  meter_attr.flow_meter_parameter_sz = parameters.size();
  check_action("mlx5dv_dr_action_create_flow_meter", [&] { return mlx5dv_dr_action_create_flow_meter(&meter_attr); });
  mlx5dv_dr_action* const meter = mlx5dv_dr_action_create_flow_meter(&meter_attr);
  until_it_succeeds("mlx5dv_dr_action_modify_flow_meter",
                    [&] { return mlx5dv_dr_action_modify_flow_meter(meter, &meter_attr, htobe64(1)); });
  CHECK(mlx5dv_dr_action_destroy(meter) == 0);

  // Nothing was left behind that still uses them.
  CHECK(mlx5dv_dr_action_destroy(samples[0]) == 0);
  for (mlx5dv_dr_action* action : to_qps) CHECK(mlx5dv_dr_action_destroy(action) == 0);
  CHECK(mlx5dv_devx_obj_destroy(tir) == 0);
  CHECK(mlx5dv_devx_obj_destroy(counter) == 0);
  CHECK(mlx5dv_dr_table_destroy(next) == 0);
}

// Their errors are their own, whatever memory there is.
TEST_CASE("actions that the model has not for these arguments" * doctest::skip(!kAllocationsCanFail)) {
  End end;
  Rules in(end, kRx);
  mlx5dv_dr_action* const drop = mlx5dv_dr_action_create_drop();
  std::uint32_t id = 0;
  mlx5dv_devx_obj* const counter = make_counter(end.context, &id);
  until_it_has_memory("mlx5dv_dr_action_create_dest_ib_port",
                      [&] { mlx5dv_dr_action_create_dest_ib_port(in.domain, 1); });
  until_it_has_memory("mlx5dv_dr_action_create_dest_vport", [&] { mlx5dv_dr_action_create_dest_vport(in.domain, 1); });
  until_it_has_memory("mlx5dv_dr_action_create_aso", [&] { mlx5dv_dr_action_create_aso(in.domain, counter, 0, 0, 0); });
  until_it_has_memory("mlx5dv_dr_action_modify_aso", [&] { mlx5dv_dr_action_modify_aso(drop, 0, 0, 0); });
  until_it_has_memory("mlx5dv_dr_aso_other_domain_link",
                      [&] { mlx5dv_dr_aso_other_domain_link(counter, in.domain, in.domain, 0, 0); });
  until_it_has_memory("mlx5dv_dr_aso_other_domain_unlink",
                      [&] { mlx5dv_dr_aso_other_domain_unlink(counter, in.domain); });
}

TEST_CASE("devx objects without memory" * doctest::skip(!kAllocationsCanFail)) {
  End end;
  Bytes answer(16), block(0x1010), in = hex("0100 0000 0000 0001 00000000 00000000");
  until_it_succeeds("mlx5dv_devx_general_cmd", [&] {
    return mlx5dv_devx_general_cmd(end.context, in.data(), in.size(), block.data(), block.size());
  });
  const Bytes create = hex("0939 0000 0000 0000 00000000 00000000");
  const auto create_counter = [&] {
    return mlx5dv_devx_obj_create(end.context, create.data(), create.size(), answer.data(), answer.size());
  };
  check_object("mlx5dv_devx_obj_create", create_counter, "mlx5dv_devx_obj_destroy", mlx5dv_devx_obj_destroy);
  Bytes tir(32 + 240);
  tir[0] = 9;
  for (int i = 0; i < 3; ++i) tir[32 + 29 + i] = static_cast<std::uint8_t>(end.qp->qp_num >> (16 - 8 * i));
  check_object(
      "mlx5dv_devx_obj_create",
      [&] { return mlx5dv_devx_obj_create(end.context, tir.data(), tir.size(), answer.data(), answer.size()); },
      "mlx5dv_devx_obj_destroy", mlx5dv_devx_obj_destroy);
  mlx5dv_devx_obj* const counter = create_counter();
  Bytes query = hex("093b 0000 0000 0000"), out(32);
  query.resize(32);
  for (int i = 0; i < 4; ++i) query[28 + i] = answer[8 + i];
  until_it_succeeds("mlx5dv_devx_obj_query",
                    [&] { return mlx5dv_devx_obj_query(counter, query.data(), query.size(), out.data(), out.size()); });
  // A counter has nothing to modify.
  until_it_has_memory("mlx5dv_devx_obj_modify",
                      [&] { mlx5dv_devx_obj_modify(counter, query.data(), query.size(), out.data(), out.size()); });
  Bytes data = export_of(counter);
  until_it_succeeds("mlx5dv_devx_obj_export", [&] { return mlx5dv_devx_obj_export(counter, data.data()); });
  std::array<std::uint32_t, 3> sizes{};
  until_it_has_memory("_mlx5dv_get_export_sizes", [&] {
    _mlx5dv_get_export_sizes(reinterpret_cast<mlx5dv_export_sizes*>(sizes.data()), sizeof sizes);
  });
  const auto import = [&] { return mlx5dv_devx_obj_import(end.context, data.data()); };
  mlx5dv_devx_obj* const imported = until_it_succeeds("mlx5dv_devx_obj_import", import, mlx5dv_devx_obj_unimport);
  until_it_has_memory("mlx5dv_devx_obj_unimport", [&] { mlx5dv_devx_obj_unimport(imported); });
  CHECK(mlx5dv_devx_obj_destroy(counter) == 0);
}
