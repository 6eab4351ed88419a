// Flows: every check in its order, priorities, shared matches, and objects in use.
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test/support/model/ends.h"

using namespace verbs::mlx5::test;

namespace {

ibv_flow_action* encap(ibv_context* context) {
  Bytes data(50);
  data[12] = 8;
  data[14] = 0x45;
  return mlx5dv_create_flow_action_packet_reformat(context, data.size(), data.data(),
                                                   MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
                                                   MLX5DV_FLOW_TABLE_TYPE_NIC_TX);
}

ibv_flow_action* decap(ibv_context* context) {
  return mlx5dv_create_flow_action_packet_reformat(
      context, 0, nullptr, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
}

// Sets the low half of the source MAC address.
ibv_flow_action* modify(ibv_context* context, mlx5dv_flow_table_type table = MLX5DV_FLOW_TABLE_TYPE_NIC_RX) {
  Bytes entry = hex("1002 0010 0000 9999");
  std::uint64_t word = 0;
  memcpy(&word, entry.data(), 8);
  return mlx5dv_create_flow_action_modify_header(context, 8, &word, table);
}

// Removes CAP_NET_RAW from this thread while it exists.
class WithoutNetRaw {
 public:
  WithoutNetRaw() { change(false); }
  ~WithoutNetRaw() { change(true); }

 private:
  static void change(bool effective) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2]{};
    REQUIRE(syscall(SYS_capget, &header, data) == 0);
    const std::uint32_t bit = 1u << CAP_NET_RAW;
    if (effective) {
      data[0].effective |= bit & data[0].permitted;
    } else {
      data[0].effective &= ~bit;
    }
    REQUIRE(syscall(SYS_capset, &header, data) == 0);
  }
};

}  // namespace

TEST_CASE("the library's checks of a flow") {
  End end;
  Parameters none;
  const FlowMatcher matcher = make_matcher(end.context, none);
  std::uint32_t id = 0;
  mlx5dv_devx_obj* counter = make_counter(end.context, &id);
  const auto error = [&](std::vector<mlx5dv_flow_action_attr> actions) {
    return ERRNO_OF(make_flow(matcher.get(), none, std::move(actions)));
  };
  const auto drop = of_type(MLX5DV_FLOW_ACTION_DROP);
  const auto miss = of_type(MLX5DV_FLOW_ACTION_DEFAULT_MISS);
  CHECK(error({to_qp(end.qp), to_qp(end.qp)}) == EOPNOTSUPP);
  CHECK(error({to_qp(end.qp), drop}) == EOPNOTSUPP);
  CHECK(error({drop, miss}) == EOPNOTSUPP);
  CHECK(error({with_tag(1), with_tag(1), to_qp(end.qp)}) == EINVAL);
  CHECK(error({count_with(counter), count_with(counter), to_qp(end.qp)}) == EOPNOTSUPP);
  CHECK(error({of_type(MLX5DV_FLOW_ACTION_IBV_COUNTER), to_qp(end.qp)}) == EOPNOTSUPP);
  CHECK(error({of_type(static_cast<mlx5dv_flow_action_type>(8)), to_qp(end.qp)}) == EOPNOTSUPP);
  std::vector<mlx5dv_flow_action_attr> many(9, by_action(decap(end.context)));
  CHECK(error(many) == EOPNOTSUPP);
  many.resize(8);
  CHECK(error(many) == EINVAL);  // the kernel accepts two
  CHECK(ERRNO_OF(mlx5dv_create_flow(nullptr, none, 0, nullptr)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_create_flow(matcher.get(), nullptr, 0, nullptr)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_create_flow(matcher.get(), none, 1, nullptr)) == EINVAL);
}

TEST_CASE("the kernel's checks of a flow") {
  End end;
  Parameters smac({{0, kSmac}}), mask({{0, kAllOnes}});
  const FlowMatcher in = make_matcher(end.context, mask);
  const FlowMatcher out = make_matcher(end.context, mask, true);
  const auto receive = [&](std::vector<mlx5dv_flow_action_attr> actions) {
    return ERRNO_OF(make_flow(in.get(), smac, std::move(actions)));
  };
  const auto transmit = [&](std::vector<mlx5dv_flow_action_attr> actions) {
    return ERRNO_OF(make_flow(out.get(), smac, std::move(actions)));
  };
  const auto drop = of_type(MLX5DV_FLOW_ACTION_DROP);
  CHECK(receive({}) == EINVAL);                               // no destination
  CHECK(receive({by_action(decap(end.context))}) == EINVAL);  // neither
  CHECK(transmit({to_qp(end.qp)}) == EINVAL);                 // queue pairs receive
  CHECK(transmit({of_type(MLX5DV_FLOW_ACTION_DEFAULT_MISS)}) == EOPNOTSUPP);
  CHECK(receive({to_qp(end.qp), with_tag(1 << 24)}) == EINVAL);
  CHECK(receive({drop, by_action(decap(end.context)), by_action(decap(end.context))}) == EINVAL);
  CHECK(transmit({by_action(encap(end.context)), by_action(encap(end.context))}) == EINVAL);
  CHECK(receive({drop, by_action(modify(end.context)), by_action(modify(end.context))}) == EINVAL);
  CHECK(receive({drop, by_action(encap(end.context))}) == EINVAL);  // for the other direction
  CHECK(transmit({by_action(decap(end.context))}) == EINVAL);
  // The value must not have bits outside of the mask.
  Parameters outside({{0, kSmac}, {6, {8, 0}}});
  CHECK(ERRNO_OF(make_flow(in.get(), outside, {drop})) == EINVAL);
  // Queue pairs of other types, and stale pointers.
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = ibv_create_cq(end.context, 8, nullptr, nullptr, 0);
  attr.qp_type = IBV_QPT_UD;
  attr.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  ibv_qp* datagrams = ibv_create_qp(end.pd, &attr);
  REQUIRE(datagrams);
  CHECK(receive({to_qp(datagrams)}) == EINVAL);
  CHECK(receive({to_qp(nullptr)}) == EINVAL);
  const ibv_qp copy = *end.qp;
  CHECK(receive({to_qp(const_cast<ibv_qp*>(&copy))}) == EINVAL);
  // There are 16 priorities; only creating a flow checks that.
  const FlowMatcher last = make_matcher(end.context, mask, false, 15);
  const FlowMatcher beyond = make_matcher(end.context, mask, false, 16);
  CHECK(ERRNO_OF(make_flow(last.get(), smac, {drop})) == 0);
  CHECK(ERRNO_OF(make_flow(beyond.get(), smac, {drop})) == ENOMEM);
}

TEST_CASE("flows need CAP_NET_RAW where the device is strict, actions do not") {
  if (geteuid() != 0) return;  // has no privilege to drop
  Parameters none;
  End strict("mlx5_strict"), plain;
  const FlowMatcher matcher = make_matcher(strict.context, none), other = make_matcher(plain.context, none);
  const WithoutNetRaw without;
  CHECK(encap(strict.context) != nullptr);
  CHECK(ERRNO_OF(make_flow(matcher.get(), none, {to_qp(strict.qp)})) == EPERM);
  CHECK(ERRNO_OF(mlx5dv_dr_domain_create(strict.context, MLX5DV_DR_DOMAIN_TYPE_NIC_RX)) == EPERM);
  ibv_flow* flow = make_flow(other.get(), none, {to_qp(plain.qp)});
  CHECK(flow != nullptr);
  CHECK(ibv_destroy_flow(flow) == 0);
}

TEST_CASE("a second flow with the same match: another destination is added, another action is EEXIST") {
  End end, sender;
  ibv_qp* second = end.add_qp();
  Parameters smac({{0, kSmac}}), mask({{0, kAllOnes}});
  const FlowMatcher matcher = make_matcher(end.context, mask), again = make_matcher(end.context, mask);
  ibv_flow* one = make_flow(matcher.get(), smac, {to_qp(end.qp), with_tag(7)});
  REQUIRE(one != nullptr);
  const auto error = [&](std::vector<mlx5dv_flow_action_attr> actions) {
    return ERRNO_OF(make_flow(again.get(), smac, std::move(actions)));
  };
  CHECK(error({of_type(MLX5DV_FLOW_ACTION_DROP)}) == EEXIST);
  CHECK(error({to_qp(second), by_action(decap(end.context))}) == EEXIST);
  CHECK(error({to_qp(second), by_action(modify(end.context))}) == EEXIST);
  CHECK(error({to_qp(second), with_tag(8)}) == EEXIST);
  ibv_flow* two = make_flow(again.get(), smac, {to_qp(second), with_tag(7)});
  REQUIRE(two != nullptr);
  end.post_receive();
  end.post_receive(second);
  sender.send(example_frame());
  CHECK(end.receive() == example_frame());
  CHECK(end.flow_tag == 7);
  const std::uint32_t first_qp = end.qp_num;
  CHECK(end.receive() == example_frame());
  CHECK(end.qp_num != first_qp);
  // Each flow is removed by itself, and the match with the last one.
  CHECK(ibv_destroy_flow(one) == 0);
  end.post_receive(second);
  sender.send(example_frame());
  CHECK(end.receive() == example_frame());
  CHECK(end.qp_num == second->qp_num);
  CHECK(ibv_destroy_flow(two) == 0);
  CHECK(error({of_type(MLX5DV_FLOW_ACTION_DROP)}) == 0);
}

TEST_CASE("a lower priority number matches first, and multicast destinations last") {
  End end, sender;
  ibv_qp* second = end.add_qp();
  Parameters smac({{0, kSmac}}), mask({{0, kAllOnes}});
  const Bytes dmac = {0x01, 0x50, 0x56, 0x19, 0x20, 0xa7};
  Parameters multicast({{8, dmac}}), multicast_mask({{8, kAllOnes}});
  const FlowMatcher to_group = make_matcher(end.context, multicast_mask);
  REQUIRE(make_flow(to_group.get(), multicast, {to_qp(end.qp)}));
  end.post_receive();
  end.post_receive(second);
  sender.send(example_frame());
  CHECK(end.receive() == example_frame());
  CHECK(end.qp_num == end.qp->qp_num);
  const FlowMatcher late = make_matcher(end.context, mask, false, 9), early = make_matcher(end.context, mask, false, 3);
  REQUIRE(make_flow(late.get(), smac, {to_qp(second)}));
  sender.send(example_frame());
  CHECK(end.receive() == example_frame());
  CHECK(end.qp_num == second->qp_num);
  std::uint32_t id = 0;
  mlx5dv_devx_obj* counter = make_counter(end.context, &id);
  REQUIRE(make_flow(early.get(), smac, {of_type(MLX5DV_FLOW_ACTION_DROP), count_with(counter)}));
  sender.send(example_frame());
  CHECK(end.receive().empty());
  CHECK(read_counter(counter, id).packets == 1);
}

TEST_CASE("only the enabled criteria of a mask take effect") {
  End end, sender;
  Parameters mask({{0, kAllOnes}}), value({{0, {1, 2, 3, 4, 5, 6}}});
  const FlowMatcher matcher = make_matcher(end.context, mask, false, 0, 2);  // misc, not the outer headers
  REQUIRE(make_flow(matcher.get(), value, {to_qp(end.qp)}));
  end.post_receive();
  sender.send(example_frame());
  CHECK(end.receive() == example_frame());
}

TEST_CASE("objects in use cannot be destroyed: matchers, queue pairs, counters, actions") {
  End end;
  Parameters none;
  FlowMatcher matcher = make_matcher(end.context, none);
  std::uint32_t id = 0;
  mlx5dv_devx_obj* counter = make_counter(end.context, &id);
  ibv_flow_action* change = modify(end.context);
  ibv_flow* flow = make_flow(matcher.get(), none, {to_qp(end.qp), count_with(counter), by_action(change)});
  REQUIRE(flow != nullptr);
  CHECK(mlx5dv_destroy_flow_matcher(matcher.get()) == EBUSY);
  CHECK(ibv_destroy_qp(end.qp) == EBUSY);
  CHECK(ibv_destroy_flow_action(change) == EBUSY);
  CHECK(mlx5dv_devx_obj_destroy(counter) == EREMOTEIO);
  CHECK(ibv_destroy_flow(flow) == 0);
  CHECK(ibv_destroy_flow_action(change) == 0);
  CHECK(mlx5dv_devx_obj_destroy(counter) == 0);
  CHECK(mlx5dv_destroy_flow_matcher(matcher.release()) == 0);
  CHECK(ibv_destroy_qp(end.qp) == 0);
}

TEST_CASE("an entry that flows of two contexts share outlives the context that made it") {
  Parameters none;
  End sender, later;
  const FlowMatcher matcher = make_matcher(later.context, none);
  ibv_flow* flow = nullptr;
  {
    End first;
    mlx5dv_flow_matcher* const same = make_matcher(first.context, none).release();
    REQUIRE(make_flow(same, none, {to_qp(first.qp)}) != nullptr);
    flow = make_flow(matcher.get(), none, {to_qp(later.qp)});
    REQUIRE(flow != nullptr);
  }
  later.post_receive();
  sender.send(example_frame());
  CHECK(later.receive() == example_frame());
  CHECK(ibv_destroy_flow(flow) == 0);
  sender.send(example_frame());
  CHECK(later.receive().empty());
}
