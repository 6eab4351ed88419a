// Flow tables that a program makes by devx commands, and the flows that lead RoCE packets there.
#include "test/support/model/queues.h"

using namespace verbs::mlx5::test;

namespace {

constexpr std::uint8_t kSend = 0x0a, kRxTable = 7, kTxTable = 8;
constexpr std::uint16_t kAllow = 1, kDrop = 2;
constexpr int kBadParam = 3, kBadResource = 5;

Bytes table_command(std::uint8_t type) {
  Bytes in(64);
  put(in, 0, 0x930, 2);
  put(in, 16, type, 1);
  put(in, 25, type == kRxTable ? 200 : 10, 1);
  return in;
}
Bytes group_command(std::uint8_t type, std::uint32_t table) {
  Bytes in(1024);
  put(in, 0, 0x933, 2);
  put(in, 16, type, 1);
  put(in, 21, table, 3);
  return in;
}
Bytes entry_command(std::uint8_t type, std::uint32_t table, std::uint32_t group, std::uint16_t action) {
  Bytes in(832);
  put(in, 0, 0x936, 2);
  put(in, 16, type, 1);
  put(in, 21, table, 3);
  put(in, 69, group, 3);
  put(in, 78, action, 2);
  return in;
}

// A table with one entry for all packets, and a flow to it.
struct Table {
  Table(ibv_context* context, std::uint8_t type, std::uint16_t action) {
    table = run_create(context, table_command(type), &table_id);
    REQUIRE((table != nullptr) == true);
    group = run_create(context, group_command(type, table_id), &group_id);
    REQUIRE((group != nullptr) == true);
    std::uint32_t none = 0;
    entry = run_create(context, entry_command(type, table_id, group_id, action), &none);
    REQUIRE((entry != nullptr) == true);
    mlx5dv_flow_matcher_attr attr{};
    attr.type = IBV_FLOW_ATTR_NORMAL;
    attr.match_mask = all;
    attr.comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE;
    attr.ft_type = type == kRxTable ? MLX5DV_FLOW_TABLE_TYPE_RDMA_RX : MLX5DV_FLOW_TABLE_TYPE_RDMA_TX;
    matcher = mlx5dv_create_flow_matcher(context, &attr);
    REQUIRE((matcher != nullptr) == true);
    mlx5dv_flow_action_attr to_table = of_type(MLX5DV_FLOW_ACTION_DEST_DEVX);
    to_table.obj = table;
    flow = make_flow(matcher, all, {to_table});
    REQUIRE(flow != nullptr);
  }
  void end() {
    CHECK(mlx5dv_devx_obj_destroy(table) == EREMOTEIO);
    CHECK(ibv_destroy_flow(flow) == 0);
    CHECK(mlx5dv_destroy_flow_matcher(matcher) == 0);
    CHECK(mlx5dv_devx_obj_destroy(table) == EREMOTEIO);
    CHECK(mlx5dv_devx_obj_destroy(group) == EREMOTEIO);
    for (mlx5dv_devx_obj* each : {entry, group, table}) CHECK(mlx5dv_devx_obj_destroy(each) == 0);
  }
  Parameters all;
  mlx5dv_devx_obj *table, *group, *entry;
  std::uint32_t table_id = 0, group_id = 0;
  mlx5dv_flow_matcher* matcher;
  ibv_flow* flow;
};

}  // namespace

TEST_CASE("RoCE packets pass the tables that flows lead them to, and only then") {
  Queues client, server;
  client.connect(server);
  server.connect(client);
  const auto send = [&] {
    server.post_receive(server.data, kMessage);
    client.post_send(kSend, {}, client.data, 64);
  };
  const auto arrives = [&](std::chrono::milliseconds patience) { return !server.poll(patience).empty(); };
  send();
  CHECK(arrives(20s));
  for (const std::uint8_t type : {kRxTable, kTxTable}) {
    CAPTURE(int{type});
    Table allows(server.end.context, type, kAllow);
    send();
    CHECK(arrives(20s));
    allows.end();
    Table drops(server.end.context, type, kDrop);
    send();
    CHECK(!arrives(100ms));
    // It is sent again, and nothing drops it now.
    drops.end();
    CHECK(arrives(20s));
  }
}

TEST_CASE("packets that a table does not match pass; what is in use stays") {
  Queues client, server;
  client.connect(server);
  server.connect(client);
  ibv_context* context = server.end.context;
  std::uint32_t table = 0, group = 0, none = 0;
  REQUIRE(run_create(context, table_command(kRxTable), &table) != nullptr);
  // By the destination port of UDP, which is not this one.
  Bytes in = group_command(kRxTable, table);
  in[63] = 1;
  put(in, 64 + 30, 0xffff, 2);
  REQUIRE(run_create(context, in, &group) != nullptr);
  in = entry_command(kRxTable, table, group, kDrop);
  put(in, 128 + 30, 4792, 2);
  REQUIRE(run_create(context, in, &none) != nullptr);
  mlx5dv_devx_obj* handle = nullptr;
  for (int i = 0; i < 2; ++i) handle = run_create(context, table_command(kRxTable), &none);
  CHECK(mlx5dv_devx_obj_destroy(handle) == 0);
  server.post_receive(server.data, kMessage);
  client.post_send(kSend, {}, client.data, 64);
  CHECK(!server.poll().empty());
}

TEST_CASE("commands of tables that are refused") {
  End end;
  std::uint32_t table = 0, group = 0, id = 0;
  REQUIRE(run_create(end.context, table_command(kRxTable), &table) != nullptr);
  REQUIRE(run_create(end.context, group_command(kRxTable, table), &group) != nullptr);
  const auto refused = [&](Bytes command, std::size_t at, std::uint64_t value, std::size_t size) {
    put(command, at, value, size);
    int status = 0;
    CHECK(ERRNO_OF(run_create(end.context, command, &id, &status)) == EREMOTEIO);
    return status;
  };
  CHECK(refused(table_command(kRxTable), 16, 4, 1) == kBadParam);                  // the e-switch's
  CHECK(refused(table_command(1), 25, 65, 1) == kBadParam);                        // a level too many
  CHECK(refused(table_command(kRxTable), 24, 0x20, 1) == kBadParam);               // in the program's memory
  CHECK(refused(group_command(kRxTable, table), 21, 0xfffff, 3) == kBadResource);  // no such table
  CHECK(refused(group_command(kRxTable, table), 16, kTxTable, 1) == kBadParam);    // of another type
  const Bytes entry = entry_command(kRxTable, table, group, kDrop);
  CHECK(refused(entry, 69, 0xfffff, 3) == kBadResource);  // no such group
  CHECK(refused(entry, 78, 4, 2) == kBadParam);           // forwards
  CHECK(refused(entry, 78, 0, 2) == kBadParam);           // nothing
  CHECK(refused(entry, 81, 1, 3) == kBadParam);           // with a destination
  CHECK(refused(entry, 128 + 30, 1, 1) == kBadParam);     // outside of the mask
  int status = 0;
  CHECK(ERRNO_OF(run_create(end.context, Bytes(40, 0), &id, &status)) == EREMOTEIO);
  // A flow of another table type may not lead there, nor may one for RoCE drop by itself when it receives.
  Parameters none;
  mlx5dv_devx_obj* const other = run_create(end.context, table_command(0), &id);
  REQUIRE((other != nullptr) == true);
  const FlowMatcher frames = make_matcher(end.context, none);
  mlx5dv_flow_action_attr action = of_type(MLX5DV_FLOW_ACTION_DEST_DEVX);
  action.obj = other;
  ibv_flow* flow = make_flow(frames.get(), none, {action});
  REQUIRE(flow != nullptr);
  CHECK(ibv_destroy_flow(flow) == 0);
  mlx5dv_flow_matcher_attr attr{};
  attr.type = IBV_FLOW_ATTR_NORMAL;
  attr.match_mask = none;
  attr.comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE;
  attr.ft_type = MLX5DV_FLOW_TABLE_TYPE_RDMA_RX;
  mlx5dv_flow_matcher* const roce = mlx5dv_create_flow_matcher(end.context, &attr);
  REQUIRE((roce != nullptr) == true);
  CHECK(ERRNO_OF(make_flow(roce, none, {action})) == EINVAL);
  CHECK(ERRNO_OF(make_flow(roce, none, {of_type(MLX5DV_FLOW_ACTION_DROP)})) == EINVAL);
  CHECK(ERRNO_OF(make_flow(roce, none, {})) == EINVAL);
}

TEST_CASE("objects of one context that use those of another one of its command file end before these") {
  for (const bool by_first : {false, true}) {
    std::uint32_t table = 0, group = 0, none = 0;
    ibv_context* second = nullptr;
    {
      End first;
      second = ibv_import_device(first.context->cmd_fd);
      REQUIRE(second);
      ibv_context *owner = by_first ? first.context : second, *user = by_first ? second : first.context;
      REQUIRE((run_create(owner, table_command(kRxTable), &table) != nullptr) == true);
      REQUIRE((run_create(user, group_command(kRxTable, table), &group) != nullptr) == true);
      REQUIRE((run_create(owner, entry_command(kRxTable, table, group, kDrop), &none) != nullptr) == true);
    }
    CHECK(ibv_close_device(second) == 0);
  }
}
