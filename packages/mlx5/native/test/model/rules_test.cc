// Direct rules: domains, tables by level, matchers, rules, the order of actions, and what they do to frames.
#include <algorithm>
#include <cstdio>

#include "ends.h"

using namespace verbs::mlx5::test;

namespace {

// A domain with a table of level 1 that frames with our source address are led to.
struct Rules {
  Rules(End& its_end, mlx5dv_dr_domain_type type) : end(its_end) {
    domain = mlx5dv_dr_domain_create(end.context, type);
    REQUIRE(domain);
    root = mlx5dv_dr_table_create(domain, 0);
    table = mlx5dv_dr_table_create(domain, 1);
    root_matcher = mlx5dv_dr_matcher_create(root, 0, 1, mask);
    matcher = mlx5dv_dr_matcher_create(table, 1, 1, mask);
    to_table = mlx5dv_dr_action_create_dest_table(table);
    lead = rule(root_matcher, {to_table});
    REQUIRE(lead);
  }
  mlx5dv_dr_rule* rule(mlx5dv_dr_matcher* where, std::vector<mlx5dv_dr_action*> actions) {
    return mlx5dv_dr_rule_create(where, value, actions.size(), actions.data());
  }
  int error(std::vector<mlx5dv_dr_action*> actions) {
    errno = 0;
    mlx5dv_dr_rule* made = rule(matcher, std::move(actions));
    if (!made) return errno;
    CHECK(mlx5dv_dr_rule_destroy(made) == 0);
    return 0;
  }

  End& end;
  Parameters mask{{{0, kAllOnes}}}, value{{{0, kSmac}}};
  mlx5dv_dr_domain* domain;
  mlx5dv_dr_table *root, *table;
  mlx5dv_dr_matcher *root_matcher, *matcher;
  mlx5dv_dr_action* to_table;
  mlx5dv_dr_rule* lead;
};

constexpr auto kRx = MLX5DV_DR_DOMAIN_TYPE_NIC_RX;
constexpr auto kTx = MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
constexpr auto kL2Decap = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2;
constexpr auto kL2Encap = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL;
constexpr auto kL3Decap = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2;
constexpr auto kL3Encap = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL;

const Bytes kMac = hex("0150561920a7 248a07a528c8 0800");
const Bytes kGreTeb = hex("0150561920a7248a07a528c80800 4500000000004000402f00000101010102020202 2000655812345678");
const Bytes kGreIp = hex("0150561920a7248a07a528c80800 4500000000004000402f00000101010102020202 2000080012345678");
const Bytes kGeneve =
    hex("0150561920a7248a07a528c80800 4500000000004000401100000101010102020202 000017c100000000 0000655800000200");
const Bytes kGeneveIp =
    hex("0150561920a7248a07a528c80800 4500000000004000401100000101010102020202 000017c100000000 0000080000000200");

mlx5dv_dr_action* reformat(mlx5dv_dr_domain* domain, mlx5dv_flow_action_packet_reformat_type type, Bytes data,
                           std::uint32_t flags = 0) {
  return mlx5dv_dr_action_create_packet_reformat(domain, flags, type, data.size(),
                                                 data.empty() ? nullptr : data.data());
}

mlx5dv_dr_action* modify(mlx5dv_dr_domain* domain, const std::string& entries, std::uint32_t flags = 0) {
  const Bytes bytes = hex(entries);
  std::vector<__be64> words(bytes.size() / 8);
  memcpy(words.data(), bytes.data(), bytes.size());
  return mlx5dv_dr_action_create_modify_header(domain, flags, bytes.size(), words.data());
}

// Source address 88:88:88:88:88:88.
constexpr const char* kNewSmac = "1001 0000 88888888 1002 0010 00008888";
const Bytes kNewSmacBytes = {0x88, 0x88, 0x88, 0x88, 0x88, 0x88};

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

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
  // On the transmit side a miss goes to the wire, before a drop of a higher number.
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
  // On the receive side it goes nowhere.
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
  // Register C 0 to C 1, then a table that asks for C 1 (misc2, byte 40 in its 64).
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

TEST_CASE("VLAN tags are put on and taken off") {
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
        // The last behind a table.
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
    CHECK(mlx5dv_dr_action_destroy(attrs[0].dest) == EBUSY);  // the array's
  }
}

TEST_CASE("a sampler passes all frames on and samples some, a meter colours them") {
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

  // A meter whose buckets hold nothing makes every frame red; switched off it makes them green.
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

TEST_CASE("what a reformat or modify action of a domain may be") {
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
  CHECK(ERRNO_OF(modify(in.domain, "1049 0000 00000001")) == EINVAL);   // register A is the transmit side's
  CHECK(ERRNO_OF(modify(out.domain, "1050 0000 00000001")) == EINVAL);  // and B the receive side's
  CHECK(ERRNO_OF(modify(in.domain, "2002 0010 00000001")) == EINVAL);   // nothing is added to an address
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
  // Of another domain, or made for root tables.
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
  CHECK(ERRNO_OF(mlx5dv_dr_matcher_create(in.table, 0, 1, odd)) == EINVAL);
  CHECK(mlx5dv_dr_matcher_create(in.root, 3, 1, odd) != nullptr);
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

TEST_CASE("what is in use cannot go, in any order; what is gone is EINVAL") {
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
