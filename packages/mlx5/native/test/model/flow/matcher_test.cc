// Valid and invalid matchers, match parameters, modify-header actions, ESP actions and steering anchors.
#include <cstring>

#include "test/support/model/ends.h"

using namespace verbs::mlx5::test;

namespace {

struct MatcherAttr : mlx5dv_flow_matcher_attr {
  MatcherAttr() : mlx5dv_flow_matcher_attr{} { match_mask = mask; }
  Parameters mask;
};

int failure(ibv_context* context, mlx5dv_flow_matcher_attr& attr) {
  errno = 0;
  mlx5dv_flow_matcher* matcher = mlx5dv_create_flow_matcher(context, &attr);
  const int error = matcher ? 0 : errno;
  if (matcher) CHECK(mlx5dv_destroy_flow_matcher(matcher) == 0);
  return error;
}

}  // namespace

TEST_CASE("valid and invalid matchers") {
  End end;
  MatcherAttr attr;
  CHECK(failure(end.context, attr) == 0);
  CHECK(failure(nullptr, attr) == EINVAL);
  attr.comp_mask = 4;
  CHECK(failure(end.context, attr) == EOPNOTSUPP);
  attr.comp_mask = 0;
  attr.type = IBV_FLOW_ATTR_SNIFFER;
  CHECK(failure(end.context, attr) == EOPNOTSUPP);
  attr.type = IBV_FLOW_ATTR_NORMAL;
  // Newer table types need an IB port, even when the type is ignored.
  attr.ft_type = static_cast<mlx5dv_flow_table_type>(5);
  CHECK(failure(end.context, attr) == EINVAL);
  // Any other type is ignored without its bit.
  attr.ft_type = MLX5DV_FLOW_TABLE_TYPE_FDB;
  CHECK(failure(end.context, attr) == 0);
  attr.comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE;
  CHECK(failure(end.context, attr) == EINVAL);
  attr.ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_TX;
  CHECK(failure(end.context, attr) == 0);
  attr.flags = IBV_FLOW_ATTR_FLAGS_EGRESS;
  CHECK(failure(end.context, attr) == EINVAL);  // given twice
  attr.comp_mask = 0;
  CHECK(failure(end.context, attr) == 0);
  attr.flags = 1 << 9;
  CHECK(failure(end.context, attr) == EINVAL);
  attr.flags = 0;
  attr.match_mask = nullptr;
  CHECK(failure(end.context, attr) == EINVAL);
}

TEST_CASE("match parameters have 1 to 640 bytes") {
  End end;
  for (const auto& [size, error] : {std::pair(0, EINVAL), {1, 0}, {6, 0}, {0x180, 0}, {640, 0}, {641, EINVAL}}) {
    MatcherAttr attr;
    Parameters mask({}, static_cast<std::size_t>(size));
    attr.match_mask = mask;
    CHECK(failure(end.context, attr) == error);
  }
  Parameters none;
  const FlowMatcher matcher = make_matcher(end.context, none);
  Parameters empty({}, 0), long_value({}, 641);
  CHECK(ERRNO_OF(make_flow(matcher.get(), empty, {to_qp(end.qp)})) == EINVAL);
  CHECK(ERRNO_OF(make_flow(matcher.get(), long_value, {to_qp(end.qp)})) == EINVAL);
}

TEST_CASE("modify header entries: the size, the table, the number and the fields") {
  End end;
  std::vector<std::uint64_t> entries(40);
  const Bytes ttl = hex("100a 0008 0000 0007");
  for (auto& entry : entries) memcpy(&entry, ttl.data(), 8);
  const auto error = [&](std::size_t size, unsigned table) {
    return ERRNO_OF(mlx5dv_create_flow_action_modify_header(end.context, size, entries.data(),
                                                            static_cast<mlx5dv_flow_table_type>(table)));
  };
  CHECK(error(7, MLX5DV_FLOW_TABLE_TYPE_NIC_RX) == EINVAL);
  CHECK(error(0, MLX5DV_FLOW_TABLE_TYPE_NIC_RX) == EINVAL);
  CHECK(error(8, MLX5DV_FLOW_TABLE_TYPE_NIC_RX) == 0);
  CHECK(error(8, MLX5DV_FLOW_TABLE_TYPE_NIC_TX) == 0);
  CHECK(error(16 * 8, MLX5DV_FLOW_TABLE_TYPE_NIC_RX) == 0);
  CHECK(error(17 * 8, MLX5DV_FLOW_TABLE_TYPE_NIC_RX) == EOPNOTSUPP);
  CHECK(error(8, MLX5DV_FLOW_TABLE_TYPE_RDMA_RX) == EOPNOTSUPP);
  CHECK(error(8, 7) == EINVAL);
  entries[0] = 0;
  CHECK(error(8, MLX5DV_FLOW_TABLE_TYPE_NIC_RX) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_create_flow_action_modify_header(end.context, 8, nullptr, MLX5DV_FLOW_TABLE_TYPE_NIC_RX)) ==
        EINVAL);
}

TEST_CASE("ESP actions are not in the kernel any more, but their attributes are checked") {
  End end;
  ibv_flow_action_esp_attr attr{};
  mlx5dv_flow_action_esp mlx5_attr{};
  CHECK(ERRNO_OF(mlx5dv_create_flow_action_esp(end.context, &attr, nullptr)) == EPROTONOSUPPORT);
  mlx5_attr.comp_mask = 2;
  CHECK(ERRNO_OF(mlx5dv_create_flow_action_esp(end.context, &attr, &mlx5_attr)) == EOPNOTSUPP);
  mlx5_attr.comp_mask = MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS;
  mlx5_attr.action_flags = 2;
  CHECK(ERRNO_OF(mlx5dv_create_flow_action_esp(end.context, &attr, &mlx5_attr)) == EOPNOTSUPP);
}

TEST_CASE("steering anchors number the root tables") {
  End end;
  mlx5dv_steering_anchor_attr attr{};
  attr.priority = 2;
  mlx5dv_steering_anchor* one = mlx5dv_create_steering_anchor(end.context, &attr);
  mlx5dv_steering_anchor* same = mlx5dv_create_steering_anchor(end.context, &attr);
  attr.ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_TX;
  mlx5dv_steering_anchor* other = mlx5dv_create_steering_anchor(end.context, &attr);
  REQUIRE(one);
  REQUIRE(same);
  REQUIRE(other);
  CHECK(one->id == same->id);
  CHECK(one->id != other->id);
  attr.priority = 16;
  CHECK(ERRNO_OF(mlx5dv_create_steering_anchor(end.context, &attr)) == ENOMEM);
  attr.comp_mask = 1;
  CHECK(ERRNO_OF(mlx5dv_create_steering_anchor(end.context, &attr)) == EOPNOTSUPP);
  for (mlx5dv_steering_anchor* anchor : {one, same, other}) CHECK(mlx5dv_destroy_steering_anchor(anchor) == 0);
  mlx5dv_steering_anchor none{};
  CHECK(mlx5dv_destroy_steering_anchor(&none) == EINVAL);
}
