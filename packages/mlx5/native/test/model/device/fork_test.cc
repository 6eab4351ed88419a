// fork() while threads open devices and create flow actions: the model's lock is free in the child, and no fork hangs.
#include <algorithm>

#include "../../../../../soft/native/test/fork_under_load.h"
#include "test/support/model/ends.h"

namespace {

ibv_device* devices[2];

bool use(ibv_context* context) {
  ibv_flow_action* action = mlx5dv_create_flow_action_packet_reformat(
      context, 0, nullptr, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
  const bool destroyed = action && ibv_destroy_flow_action(action) == 0;
  return ibv_close_device(context) == 0 && destroyed;
}

template <int index>
void use_device() {
  if (ibv_context* context = mlx5dv_open_device(devices[index], nullptr)) use(context);
}

bool works_in_child() {
  ibv_context* context = mlx5dv_open_device(devices[0], nullptr);
  return context ? use(context) : errno == EADDRINUSE;
}

}  // namespace

TEST_CASE("a thousand forks while threads open and close devices and create flow actions") {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  REQUIRE(count >= 2);
  std::copy_n(list, 2, devices);
  CHECK(verbs::soft::test::fork_under_load(1000, {use_device<0>, use_device<1>}, works_in_child) == 0);
  ibv_free_device_list(list);
}
