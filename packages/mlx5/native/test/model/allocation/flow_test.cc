// Without memory: the flow actions, matchers and flows of libmlx5.
#include "../../../../../soft/native/test/abi/support/failing_object.h"
#include "test/support/model/ends.h"
#include "test/support/model/rules.h"

using namespace verbs::mlx5::test;
using namespace verbs::soft::test;

TEST_CASE("flow actions and matchers without memory" * doctest::skip(!kAllocationsCanFail)) {
  End end;
  const auto destroy = [](ibv_flow_action* action) { return ibv_destroy_flow_action(action); };
  Bytes header = kMac;
  check_object(
      "mlx5dv_create_flow_action_packet_reformat",
      [&] {
        return mlx5dv_create_flow_action_packet_reformat(end.context, header.size(), header.data(), kL3Decap,
                                                         MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
      },
      "destroy_flow_action", destroy);
  const Bytes entry = hex("1002 0010 0000 9999");
  std::uint64_t word = 0;
  memcpy(&word, entry.data(), sizeof word);
  check_object(
      "mlx5dv_create_flow_action_modify_header",
      [&] { return mlx5dv_create_flow_action_modify_header(end.context, 8, &word, MLX5DV_FLOW_TABLE_TYPE_NIC_RX); },
      "destroy_flow_action", destroy);
  // The model has no encryption: an error of its own, whatever memory there is.
  ibv_flow_action_esp_attr esp{};
  until_it_has_memory("mlx5dv_create_flow_action_esp",
                      [&] { mlx5dv_create_flow_action_esp(end.context, &esp, nullptr); });
  Parameters mask;
  mlx5dv_flow_matcher_attr attr{};
  attr.type = IBV_FLOW_ATTR_NORMAL;
  attr.match_mask = mask;
  check_object(
      "mlx5dv_create_flow_matcher", [&] { return mlx5dv_create_flow_matcher(end.context, &attr); },
      "mlx5dv_destroy_flow_matcher", mlx5dv_destroy_flow_matcher);
  mlx5dv_steering_anchor_attr anchor{};
  check_object(
      "mlx5dv_create_steering_anchor", [&] { return mlx5dv_create_steering_anchor(end.context, &anchor); },
      "mlx5dv_destroy_steering_anchor", mlx5dv_destroy_steering_anchor);
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
  // The entry needs memory for the actions of the flow that is left. Without it the flow stays, with its queue pair.
  int error = ENOMEM;
  for (Turn turn; error != 0; turn.next()) {
    const MemoryAgain memory_again;
    turn.begin();
    error = ibv_destroy_flow(second);
    const bool failed = Turn::end();
    if (error == 0) break;
    REQUIRE(failed);
    CHECK(error == ENOMEM);
    CHECK(ibv_destroy_qp(qp) == EBUSY);
  }
  CHECK(ibv_destroy_flow(first) == 0);
  // The same by the functions for newer headers, and of libibverbs.
  const auto create_flow = exported<ibv_flow*(mlx5dv_flow_matcher*, mlx5dv_flow_match_parameters*, std::size_t,
                                              mlx5dv_flow_action_attr*, std::size_t)>("__mlx5dv_create_flow");
  mlx5dv_flow_match_parameters* const match = value;
  // A flow's handle counts all flows, so that it does not tell what was left behind.
  const auto again = [&] { return create_flow(matcher.get(), match, 1, to_first, sizeof *to_first); };
  ibv_flow* const flow = until_it_succeeds("__mlx5dv_create_flow", again, ibv_destroy_flow);
  CHECK(ibv_destroy_flow(flow) == 0);
  until_it_succeeds("ibv_destroy_qp", [&] { return ibv_destroy_qp(qp); });
}

TEST_CASE("flows of libibverbs without memory" * doctest::skip(!kAllocationsCanFail)) {
  End end;
  ibv_flow_attr attr{};
  attr.type = IBV_FLOW_ATTR_ALL_DEFAULT;
  attr.size = sizeof attr;
  attr.port = 1;
  const auto create = [&] { return ibv_create_flow(end.qp, &attr); };
  CHECK(ibv_destroy_flow(until_it_succeeds("ibv_create_flow", create, ibv_destroy_flow)) == 0);
  until_it_ends("ibv_destroy_flow", create, ibv_destroy_flow);
}

TEST_CASE("a context closes without memory, and leaves nothing of its flows" * doctest::skip(!kAllocationsCanFail)) {
  End end, sender;
  Parameters none;
  const FlowMatcher matcher = make_matcher(end.context, none);
  REQUIRE(make_flow(matcher.get(), none, {to_qp(end.qp)}));
  bool failed = true;
  for (Turn turn; failed; turn.next()) {
    // Its flow shares the entry.
    End other;
    const FlowMatcher same = make_matcher(other.context, none);
    REQUIRE(make_flow(same.get(), none, {to_qp(other.qp)}));
    const MemoryAgain memory_again;
    turn.begin();
    int error = ibv_close_device(other.context);
    failed = Turn::end();
    // Before anything of it has ended.
    if (error != 0) {
      CHECK(errno == ENOMEM);
      CHECK(mlx5dv_is_supported(other.context->device));
      error = ibv_close_device(other.context);
    }
    CHECK(error == 0);
    sender.send(example_frame());
  }
  end.post_receive();
  sender.send(example_frame());
  CHECK(end.receive() == example_frame());
}
