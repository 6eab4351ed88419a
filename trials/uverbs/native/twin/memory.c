#include "twin/twin.h"

static void regions(struct ibv_context *context) {
  struct ibv_pd *pd = ibv_alloc_pd(context);
  uint8_t *memory = pages(4096);
  const unsigned rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
  struct ibv_mr *first = ibv_reg_mr_iova2(pd, memory, 4096, (uintptr_t)memory, rights);
  REQUIRE(first != NULL);
  struct ibv_mr *second = ibv_reg_mr_iova2(pd, memory + 64, 1000, (uintptr_t)(memory + 64), 0);
  REQUIRE(second != NULL);
  struct ibv_mr *moved = ibv_reg_mr_iova2(pd, pages(4096), 4096, 0x7000, rights | IBV_ACCESS_RELAXED_ORDERING);
  REQUIRE(moved != NULL);
  REQUIRE(ibv_dereg_mr(moved) == 0);
  REQUIRE(ibv_dereg_mr(second) == 0);
  REQUIRE(ibv_dereg_mr(first) == 0);
  REQUIRE(ibv_dealloc_pd(pd) == 0);
}

static void address_handles(struct ibv_context *context) {
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_ah_attr attr = address_vector();
  struct ibv_ah *ah = ibv_create_ah(pd, &attr);
  REQUIRE(ah != NULL);
  attr.src_path_bits = 1;
  attr.static_rate = IBV_RATE_10_GBPS;
  attr.dlid = 5;
  struct ibv_ah *other = ibv_create_ah(pd, &attr);
  REQUIRE(other != NULL);
  REQUIRE(ibv_destroy_ah(other) == 0);
  REQUIRE(ibv_destroy_ah(ah) == 0);
  REQUIRE(ibv_dealloc_pd(pd) == 0);
}

static void windows(struct ibv_context *context) {
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_mw *one = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
  REQUIRE(one != NULL);
  struct ibv_mw *two = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
  REQUIRE(two != NULL);
  REQUIRE(ibv_dealloc_mw(two) == 0);
  REQUIRE(ibv_dealloc_mw(one) == 0);
  REQUIRE(ibv_dealloc_pd(pd) == 0);
}

const struct scenario memory_scenarios[] = {
    {"regions", regions},
    {"address-handles", address_handles},
    {"windows", windows},
    {NULL, NULL},
};
