#include <errno.h>
#include <string.h>

#include "twin/twin.h"

// An Ethernet, IPv4, UDP and VXLAN header, made up: the kernel does not look at it.
static void fill(uint8_t *data, size_t size) {
  for (size_t i = 0; i < size; ++i) data[i] = (uint8_t)(i * 7 + 1);
}

static struct ibv_flow_action *reformat(struct ibv_context *context, unsigned type, unsigned table, size_t size) {
  uint8_t data[64];
  fill(data, sizeof(data));
  return mlx5dv_create_flow_action_packet_reformat(context, size, size == 0 ? NULL : data,
                                                   (enum mlx5dv_flow_action_packet_reformat_type)type,
                                                   (enum mlx5dv_flow_table_type)table);
}

static void reformats(struct ibv_context *context) {
  const size_t sizes[4] = {0, 50, 14, 42};
  for (unsigned type = 0; type < 4; ++type) {
    for (unsigned table = 0; table < 2; ++table) {
      struct ibv_flow_action *action = reformat(context, type, table, sizes[type]);
      saw("type %u in table %u: %d", type, table, action != NULL ? 0 : errno);
      if (action != NULL) REQUIRE(ibv_destroy_flow_action(action) == 0);
    }
  }
}

static void modify_header(struct ibv_context *context) {
  uint64_t actions[2] = {__builtin_bswap64(0x1003000800000040), __builtin_bswap64(0x1001002000001234)};
  struct ibv_flow_action *action =
      mlx5dv_create_flow_action_modify_header(context, sizeof(actions), actions, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
  REQUIRE(action != NULL);
  REQUIRE(ibv_destroy_flow_action(action) == 0);
}

struct parameters {
  size_t size;
  uint8_t bytes[64];
};

static struct parameters match(uint8_t first) {
  struct parameters parameters = {.size = 64};
  parameters.bytes[0x2c] = first;
  parameters.bytes[0x2d] = first;
  return parameters;
}

static void flows(struct ibv_context *context) {
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_cq *cq = ibv_create_cq(context, 8, NULL, NULL, 0);
  struct ibv_qp_init_attr init = {.send_cq = cq,
                                  .recv_cq = cq,
                                  .qp_type = IBV_QPT_RAW_PACKET,
                                  .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
  struct ibv_qp *qp = ibv_create_qp(pd, &init);
  REQUIRE(qp != NULL);

  struct parameters mask = match(0xff);
  struct mlx5dv_flow_matcher_attr attr = {.type = IBV_FLOW_ATTR_NORMAL,
                                          .priority = 3,
                                          .match_criteria_enable = 1,
                                          .match_mask = (struct mlx5dv_flow_match_parameters *)&mask,
                                          .comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE,
                                          .ft_type = MLX5DV_FLOW_TABLE_TYPE_NIC_RX};
  struct mlx5dv_flow_matcher *matcher = mlx5dv_create_flow_matcher(context, &attr);
  REQUIRE(matcher != NULL);
  struct ibv_flow_action *decap = reformat(context, 0, 0, 0);
  REQUIRE(decap != NULL);

  struct parameters value = match(0x12);
  struct mlx5dv_flow_action_attr actions[3] = {
      {.type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION, .action = decap},
      {.type = MLX5DV_FLOW_ACTION_TAG, .tag_value = 0x4711},
      {.type = MLX5DV_FLOW_ACTION_DEST_IBV_QP, .qp = qp},
  };
  struct ibv_flow *flow = mlx5dv_create_flow(matcher, (struct mlx5dv_flow_match_parameters *)&value, 3, actions);
  REQUIRE(flow != NULL);
  struct mlx5dv_flow_action_attr drop = {.type = MLX5DV_FLOW_ACTION_DROP};
  struct parameters other = match(0x13);
  struct ibv_flow *dropping = mlx5dv_create_flow(matcher, (struct mlx5dv_flow_match_parameters *)&other, 1, &drop);
  REQUIRE(dropping != NULL);

  REQUIRE(ibv_destroy_flow(dropping) == 0);
  REQUIRE(ibv_destroy_flow(flow) == 0);
  REQUIRE(ibv_destroy_flow_action(decap) == 0);
  REQUIRE(mlx5dv_destroy_flow_matcher(matcher) == 0);
  REQUIRE(ibv_destroy_qp(qp) == 0);
  REQUIRE(ibv_destroy_cq(cq) == 0);
  REQUIRE(ibv_dealloc_pd(pd) == 0);
}

static void devx(struct ibv_context *context) {
  uint8_t in[32] = {0x09, 0x39};  // ALLOC_FLOW_COUNTER
  uint8_t out[16];
  struct mlx5dv_devx_obj *object = mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out));
  REQUIRE(object != NULL);
  uint8_t query[32] = {0x09, 0x3b};
  uint8_t answer[64];
  REQUIRE(mlx5dv_devx_obj_query(object, query, sizeof(query), answer, sizeof(answer)) == 0);
  uint8_t command[16] = {0x01, 0x00, 0, 0, 0, 0, 0, 0x0f};
  uint8_t capabilities[4112];
  REQUIRE(mlx5dv_devx_general_cmd(context, command, sizeof(command), capabilities, sizeof(capabilities)) == 0);
  uint32_t eqn;
  REQUIRE(mlx5dv_devx_query_eqn(context, 1, &eqn) == 0);
  struct ibv_pd *pd = ibv_alloc_pd(context);
  uint8_t *memory = pages(8192);
  struct ibv_mr *mr = ibv_reg_mr_iova2(pd, memory, 8192, (uintptr_t)memory, IBV_ACCESS_LOCAL_WRITE);
  REQUIRE(mr != NULL);
  struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(context, memory, 8192, IBV_ACCESS_LOCAL_WRITE);
  REQUIRE(umem != NULL);
  REQUIRE(mlx5dv_devx_umem_dereg(umem) == 0);
  REQUIRE(ibv_dereg_mr(mr) == 0);
  REQUIRE(ibv_dealloc_pd(pd) == 0);
  REQUIRE(mlx5dv_devx_obj_destroy(object) == 0);
}

const struct scenario steering_scenarios[] = {
    {"reformats", reformats}, {"modify-header", modify_header}, {"flows", flows}, {"devx", devx}, {NULL, NULL},
};
