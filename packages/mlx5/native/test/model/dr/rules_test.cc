// Direct rules: their effect on frames.
#include "test/support/model/rules.h"

#include <algorithm>

using namespace verbs::mlx5::test;

TEST_CASE("the four reformat pairs, in root tables and behind them") {
  struct Pair {
    const char* name;
    mlx5dv_flow_action_packet_reformat_type encap, decap;
    Bytes outer, inner;
  };
  const Pair pairs[] = {{"L2 GRE", kL2Encap, kL2Decap, kGreTeb, {}},
                        {"L2 GENEVE", kL2Encap, kL2Decap, kGeneve, {}},
                        {"L3 GRE", kL3Encap, kL3Decap, kGreIp, kMac},
                        {"L3 GENEVE", kL3Encap, kL3Decap, kGeneveIp, kMac}};
  for (const Pair& pair : pairs) {
    for (const bool root : {false, true}) {
      CAPTURE(pair.name);
      CAPTURE(root);
      End sender, receiver;
      Rules out(sender, kTx), in(receiver, kRx);
      const std::uint32_t flags = root ? MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL : 0;
      if (root) {
        CHECK(mlx5dv_dr_rule_destroy(out.lead) == 0);
        CHECK(mlx5dv_dr_rule_destroy(in.lead) == 0);
      }
      mlx5dv_dr_action* encap = reformat(out.domain, pair.encap, pair.outer, flags);
      mlx5dv_dr_action* decap = reformat(in.domain, pair.decap, pair.inner, flags);
      REQUIRE(encap);
      REQUIRE(decap);
      REQUIRE(out.rule(root ? out.root_matcher : out.matcher, {encap}));
      REQUIRE(in.rule(root ? in.root_matcher : in.matcher, {decap, mlx5dv_dr_action_create_dest_ibv_qp(receiver.qp)}));
      for (int i = 0; i < 3; ++i) {
        receiver.post_receive();
        sender.send(example_frame());
        CHECK(receiver.receive() == example_frame());
      }
    }
  }
}

TEST_CASE("queue pair, tag, counter, drop and default miss") {
  End sender, receiver;
  Rules in(receiver, kRx), out(sender, kTx);
  std::uint32_t id = 0;
  mlx5dv_devx_obj* counter = make_counter(receiver.context, &id, 2);
  mlx5dv_dr_action* count = mlx5dv_dr_action_create_flow_counter(counter, 3);
  mlx5dv_dr_action* tag = mlx5dv_dr_action_create_tag(0x1000123);
  mlx5dv_dr_action* to_qp_action = mlx5dv_dr_action_create_dest_ibv_qp(receiver.qp);
  mlx5dv_dr_action* drop = mlx5dv_dr_action_create_drop();
  mlx5dv_dr_action* miss = mlx5dv_dr_action_create_default_miss();
  mlx5dv_dr_rule* rule = in.rule(in.matcher, {tag, count, to_qp_action});
  REQUIRE(rule);
  receiver.post_receive();
  sender.send(example_frame());
  CHECK(receiver.receive() == example_frame());
  CHECK(receiver.flow_tag == 0x123);  // 24 bits
  CHECK(read_counter(counter, id + 3).packets == 1);
  CHECK(read_counter(counter, id + 3).bytes == 100);
  CHECK(read_counter(counter, id).packets == 0);
  // A transmitted frame that misses goes to the wire, before a drop of a higher priority number.
  mlx5dv_dr_matcher* later = mlx5dv_dr_matcher_create(out.table, 2, 1, out.mask);
  mlx5dv_dr_rule* missing = out.rule(out.matcher, {miss});
  mlx5dv_dr_rule* dropping = out.rule(later, {drop});
  REQUIRE(missing);
  REQUIRE(dropping);
  receiver.post_receive();
  sender.send(example_frame());
  CHECK(receiver.receive() == example_frame());
  CHECK(mlx5dv_dr_rule_destroy(missing) == 0);
  sender.send(example_frame());
  CHECK(read_counter(counter, id + 3).packets == 2);
  CHECK(mlx5dv_dr_rule_destroy(dropping) == 0);
  // A received frame that misses is dropped.
  CHECK(mlx5dv_dr_rule_destroy(rule) == 0);
  REQUIRE(in.rule(in.matcher, {count, miss}));
  receiver.post_receive();
  sender.send(example_frame());
  CHECK(receiver.receive().empty());
  CHECK(read_counter(counter, id + 3).packets == 3);
}

TEST_CASE("modify header, also of registers that a later matcher sees") {
  End sender, receiver;
  Rules out(sender, kTx), in(receiver, kRx);
  Parameters smac({{0, kNewSmacBytes}});
  mlx5dv_dr_action* to_qp_action = mlx5dv_dr_action_create_dest_ibv_qp(receiver.qp);
  mlx5dv_dr_action* change = modify(out.domain, kNewSmac);
  REQUIRE(change);
  REQUIRE(out.rule(out.matcher, {change}));
  // Copies register C 0 to C 1, then matches C 1 (misc2, byte 40 of 64).
  mlx5dv_dr_table* second = mlx5dv_dr_table_create(in.domain, 2);
  mlx5dv_dr_action* on = mlx5dv_dr_action_create_dest_table(second);
  mlx5dv_dr_action* registers = modify(in.domain, "1051 0000 12345678 3051 0000 00520000");
  REQUIRE(registers);
  mlx5dv_dr_action* root_args[] = {in.to_table};
  REQUIRE(mlx5dv_dr_rule_create(in.root_matcher, smac, 1, root_args));
  mlx5dv_dr_action* args[] = {registers, on};
  REQUIRE(mlx5dv_dr_rule_create(in.matcher, smac, 2, args));
  Parameters mask({{0xc0 + 40, {0xff, 0xff, 0xff, 0xff}}}), value({{0xc0 + 40, hex("12345678")}});
  mlx5dv_dr_matcher* last = mlx5dv_dr_matcher_create(second, 0, 8, mask);
  mlx5dv_dr_action* last_args[] = {to_qp_action};
  REQUIRE(mlx5dv_dr_rule_create(last, value, 1, last_args));
  receiver.post_receive();
  sender.send(example_frame());
  Bytes expected = example_frame();
  std::copy(kNewSmacBytes.begin(), kNewSmacBytes.end(), expected.begin() + 6);
  CHECK(receiver.receive() == expected);
}

TEST_CASE("VLAN tags are pushed and popped") {
  End sender, receiver;
  Rules out(sender, kTx), in(receiver, kRx);
  const Bytes tag = hex("8100bc0c");
  __be32 header = 0;
  memcpy(&header, tag.data(), 4);
  mlx5dv_dr_action* push = mlx5dv_dr_action_create_push_vlan(out.domain, header);
  REQUIRE(push);
  CHECK(ERRNO_OF(mlx5dv_dr_action_create_push_vlan(out.domain, 0)) == EINVAL);
  REQUIRE(out.rule(out.matcher, {push}));
  mlx5dv_dr_action* to_qp_action = mlx5dv_dr_action_create_dest_ibv_qp(receiver.qp);
  mlx5dv_dr_rule* plain = in.rule(in.matcher, {to_qp_action});
  receiver.post_receive();
  sender.send(example_frame());
  const Bytes frame = example_frame();
  CHECK(receiver.receive() == Bytes(frame.begin(), frame.begin() + 12) + tag + Bytes(frame.begin() + 12, frame.end()));
  CHECK(mlx5dv_dr_rule_destroy(plain) == 0);
  REQUIRE(in.rule(in.matcher, {mlx5dv_dr_action_create_pop_vlan(), to_qp_action}));
  receiver.post_receive();
  sender.send(example_frame());
  CHECK(receiver.receive() == frame);
}

TEST_CASE("an array of destinations: each queue pair and the table get the frame") {
  for (const bool root : {false, true}) {
    End sender, receiver;
    Rules in(receiver, kRx);
    std::vector<mlx5dv_dr_action_dest_attr> attrs;
    std::vector<std::uint32_t> numbers;
    for (int i = 0; i < 8; ++i) {
      ibv_qp* qp = receiver.add_qp();
      receiver.post_receive(qp);
      mlx5dv_dr_action_dest_attr attr{};
      attr.dest = mlx5dv_dr_action_create_dest_ibv_qp(qp);
      if (i == 7) {
        // The last one behind a table.
        mlx5dv_dr_table* last = mlx5dv_dr_table_create(in.domain, 0xff);
        mlx5dv_dr_matcher* matcher = mlx5dv_dr_matcher_create(last, 1, 1, in.mask);
        REQUIRE(in.rule(matcher, {attr.dest}));
        attr.dest = mlx5dv_dr_action_create_dest_table(last);
      }
      attrs.push_back(attr);
      numbers.push_back(qp->qp_num);
    }
    std::vector<mlx5dv_dr_action_dest_attr*> pointers;
    for (auto& attr : attrs) pointers.push_back(&attr);
    CHECK(ERRNO_OF(mlx5dv_dr_action_create_dest_array(in.domain, 1, pointers.data())) == EINVAL);
    mlx5dv_dr_action* array = mlx5dv_dr_action_create_dest_array(in.domain, pointers.size(), pointers.data());
    REQUIRE(array);
    if (root) CHECK(mlx5dv_dr_rule_destroy(in.lead) == 0);
    REQUIRE(in.rule(root ? in.root_matcher : in.matcher, {array}));
    sender.send(example_frame());
    std::vector<std::uint32_t> got;
    for (int i = 0; i < 8; ++i) {
      CHECK(receiver.receive() == example_frame());
      got.push_back(receiver.qp_num);
    }
    std::sort(got.begin(), got.end());
    std::sort(numbers.begin(), numbers.end());
    CHECK(got == numbers);
    CHECK(mlx5dv_dr_action_destroy(attrs[0].dest) == EBUSY);  // used by the array
  }
}

TEST_CASE("a sampler forwards all frames and samples some, a meter colours them") {
  End sender, receiver;
  Rules in(receiver, kRx);
  std::uint32_t sampled_id = 0, all_id = 0;
  mlx5dv_devx_obj* sampled = make_counter(receiver.context, &sampled_id);
  mlx5dv_devx_obj* all = make_counter(receiver.context, &all_id);
  mlx5dv_dr_table* next = mlx5dv_dr_table_create(in.domain, 2);
  mlx5dv_dr_matcher* matcher = mlx5dv_dr_matcher_create(next, 0, 1, in.mask);
  mlx5dv_dr_rule* counting = in.rule(matcher, {mlx5dv_dr_action_create_flow_counter(all, 0)});
  REQUIRE(counting);
  mlx5dv_dr_action* samples[] = {mlx5dv_dr_action_create_flow_counter(sampled, 0)};
  mlx5dv_dr_flow_sampler_attr attr{};
  attr.sample_ratio = 4;
  attr.default_next_table = next;
  attr.num_sample_actions = 1;
  attr.sample_actions = samples;
  mlx5dv_dr_action* sampler = mlx5dv_dr_action_create_flow_sampler(&attr);
  REQUIRE(sampler);
  mlx5dv_dr_rule* sampling = in.rule(in.matcher, {sampler});
  REQUIRE(sampling);
  for (int i = 0; i < 400; ++i) sender.send(example_frame());
  CHECK(read_counter(all, all_id).packets == 400);
  const std::uint64_t share = read_counter(sampled, sampled_id).packets;
  CHECK(share >= 80);
  CHECK(share <= 120);
  attr.sample_ratio = 0;
  CHECK(ERRNO_OF(mlx5dv_dr_action_create_flow_sampler(&attr)) == EINVAL);
  CHECK(mlx5dv_dr_rule_destroy(sampling) == 0);

  // A meter with empty buckets makes every frame red; an inactive one makes them green.
  Bytes parameters(32);
  parameters[0] = 0x80;
  mlx5dv_dr_flow_meter_attr meter_attr{};
  meter_attr.next_table = next;
  meter_attr.active = 1;
  meter_attr.reg_c_index = 1;
  meter_attr.flow_meter_parameter = parameters.data();
  meter_attr.flow_meter_parameter_sz = parameters.size();
  mlx5dv_dr_action* meter = mlx5dv_dr_action_create_flow_meter(&meter_attr);
  REQUIRE(meter);
  REQUIRE(in.rule(in.matcher, {meter}));
  CHECK(mlx5dv_dr_rule_destroy(counting) == 0);
  Parameters colour_mask({{0xc0 + 43, {0xff}}}), red({{0xc0 + 43, {0}}}), green({{0xc0 + 43, {2}}});
  mlx5dv_dr_matcher* by_colour = mlx5dv_dr_matcher_create(next, 1, 8, colour_mask);
  std::uint32_t id = 0;
  mlx5dv_devx_obj* colours = make_counter(receiver.context, &id, 1);
  for (unsigned i = 0; i < 2; ++i) {
    mlx5dv_dr_action* count[] = {mlx5dv_dr_action_create_flow_counter(colours, i)};
    REQUIRE(mlx5dv_dr_rule_create(by_colour, i == 0 ? red : green, 1, count));
  }
  sender.send(example_frame());
  CHECK(read_counter(colours, id).packets == 1);
  meter_attr.active = 0;
  CHECK(mlx5dv_dr_action_modify_flow_meter(meter, &meter_attr, htobe64(1)) == 0);
  sender.send(example_frame());
  CHECK(read_counter(colours, id).packets == 1);
  CHECK(read_counter(colours, id + 1).packets == 1);
  CHECK(mlx5dv_dr_action_modify_flow_meter(sampler, &meter_attr, htobe64(1)) == EINVAL);
}

TEST_CASE("a TIR of devx is a destination, in root tables too") {
  for (const bool root : {false, true}) {
    End sender, receiver;
    Rules in(receiver, kRx);
    Bytes command(32 + 240), out(16);
    command[0] = 9;
    const std::uint32_t rqn = receiver.qp->qp_num;
    for (int i = 0; i < 3; ++i) command[32 + 29 + i] = static_cast<std::uint8_t>(rqn >> (16 - 8 * i));
    mlx5dv_devx_obj* tir =
        mlx5dv_devx_obj_create(receiver.context, command.data(), command.size(), out.data(), out.size());
    REQUIRE(tir);
    CHECK(ibv_destroy_qp(receiver.qp) == EBUSY);
    mlx5dv_dr_action* action = mlx5dv_dr_action_create_dest_devx_tir(tir);
    REQUIRE(action);
    if (root) CHECK(mlx5dv_dr_rule_destroy(in.lead) == 0);
    REQUIRE(in.rule(root ? in.root_matcher : in.matcher, {action}));
    receiver.post_receive();
    sender.send(example_frame());
    CHECK(receiver.receive() == example_frame());
  }
}
