// Memory windows (IBTA 9.4.1.1, 10.6.7; ibv_alloc_mw(3), ibv_bind_mw(3)).
#include <errno.h>

#include "harness.h"

enum { kRemote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };

struct scene {
  struct bench *bench;
  struct ibv_mr *region;  // the upper half of the memory
  struct ibv_mw *window;
};

static struct scene open_scene(enum ibv_mw_type type) {
  struct scene scene = {.bench = connected(NULL)};
  struct bench *bench = scene.bench;
  const unsigned needed =
      type == IBV_MW_TYPE_1 ? IBV_DEVICE_MEM_WINDOW : IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  if ((bench->device.device_cap_flags & needed) == 0) skip_case("the device has no such windows");
  scene.region = ibv_reg_mr(bench->pd, far_at(bench, 0), kRegion / 2, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
  CHECK(scene.region != NULL);
  scene.window = ibv_alloc_mw(bench->pd, type);
  CHECK(scene.window != NULL);
  return scene;
}

static struct ibv_mw_bind_info info(const struct scene *scene, size_t offset, uint64_t length, unsigned access) {
  return (struct ibv_mw_bind_info){scene->region, address(far_at(scene->bench, offset)), length, access};
}

static int bind_1(const struct scene *scene, size_t offset, uint64_t length) {
  struct ibv_mw_bind bind = {.wr_id = 3, .send_flags = IBV_SEND_SIGNALED};
  bind.bind_info = info(scene, offset, length, kRemote);
  if (length == 0) bind.bind_info = (struct ibv_mw_bind_info){0};
  return ibv_bind_mw(scene->bench->b, scene->window, &bind);
}

// Binds a type 2 window on `qp` with that key in the request. The status of the completion.
static enum ibv_wc_status bind_2(const struct scene *scene, struct ibv_qp *qp, uint32_t rkey,
                                 struct ibv_mw_bind_info bind) {
  struct ibv_send_wr wr = {.wr_id = 3, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};
  wr.bind_mw.mw = scene->window;
  wr.bind_mw.rkey = rkey;
  wr.bind_mw.bind_info = bind;
  EQUAL(post(qp, &wr), 0);
  const struct ibv_wc wc = completion_of(scene->bench, qp);
  if (wc.status == IBV_WC_SUCCESS) {
    EQUAL(wc.opcode, IBV_WC_BIND_MW);
    scene->window->rkey = (scene->window->rkey & ~0xffu) | (rkey & 0xff);
  }
  return wc.status;
}

static enum ibv_wc_status bind_all(const struct scene *scene) {
  return bind_2(scene, scene->bench->b, ibv_inc_rkey(scene->window->rkey), info(scene, 0, 4096, kRemote));
}

static enum ibv_wc_status write_through(const struct scene *scene, uint32_t rkey, uint64_t remote, uint32_t length) {
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(scene->bench, &sge, IBV_WR_RDMA_WRITE, length);
  wr.wr.rdma.rkey = rkey;
  wr.wr.rdma.remote_addr = remote;
  EQUAL(post(scene->bench->a, &wr), 0);
  return completion_of(scene->bench, scene->bench->a).status;
}

static void type_1(void) {
  const struct scene scene = open_scene(IBV_MW_TYPE_1);
  EQUAL(bind_1(&scene, 100, 1000), 0);
  const struct ibv_wc wc = completion(scene.bench);
  STATUS(wc, IBV_WC_SUCCESS);
  EQUAL(wc.opcode, IBV_WC_BIND_MW);
  EQUAL(write_through(&scene, scene.window->rkey, address(far_at(scene.bench, 100)), 1000), IBV_WC_SUCCESS);
  CHECK(same_bytes(scene.bench, 0, kRegion / 2 + 100, 1000));
  EQUAL(write_through(&scene, scene.window->rkey, address(far_at(scene.bench, 100)), 1001), IBV_WC_REM_ACCESS_ERR);
}

static void type_1_again_and_unbound(void) {
  const struct scene scene = open_scene(IBV_MW_TYPE_1);
  EQUAL(bind_1(&scene, 0, 1000), 0);
  const uint32_t first = scene.window->rkey;
  EQUAL(bind_1(&scene, 2000, 1000), 0);
  STATUS(completion(scene.bench), IBV_WC_SUCCESS);
  STATUS(completion(scene.bench), IBV_WC_SUCCESS);
  CHECK(scene.window->rkey != first);
  EQUAL(write_through(&scene, scene.window->rkey, address(far_at(scene.bench, 2000)), 1000), IBV_WC_SUCCESS);
  EQUAL(bind_1(&scene, 0, 0), 0);
  STATUS(completion(scene.bench), IBV_WC_SUCCESS);
  EQUAL(write_through(&scene, scene.window->rkey, address(far_at(scene.bench, 2000)), 1), IBV_WC_REM_ACCESS_ERR);
}

static void type_2(void) {
  const struct scene scene = open_scene(IBV_MW_TYPE_2);
  EQUAL(bind_all(&scene), IBV_WC_SUCCESS);
  EQUAL(write_through(&scene, scene.window->rkey, address(far_at(scene.bench, 0)), 4096), IBV_WC_SUCCESS);
  EQUAL(write_through(&scene, scene.window->rkey, address(far_at(scene.bench, 1)), 4096), IBV_WC_REM_ACCESS_ERR);
}

static void only_the_low_byte_counts(void) {
  const struct scene scene = open_scene(IBV_MW_TYPE_2);
  const uint32_t key = (scene.window->rkey & ~0xffu) | ((scene.window->rkey + 0x51) & 0xff);
  EQUAL(bind_2(&scene, scene.bench->b, key & 0xff, info(&scene, 0, 4096, kRemote)), IBV_WC_SUCCESS);
  EQUAL(write_through(&scene, key, address(far_at(scene.bench, 0)), 64), IBV_WC_SUCCESS);
}

static void the_present_key_is_compared(void) {
  const struct scene scene = open_scene(IBV_MW_TYPE_2);
  const uint32_t next = ibv_inc_rkey(scene.window->rkey);
  scene.window->rkey = next;  // before the bind is posted: devices take it for the present key
  EQUAL(bind_2(&scene, scene.bench->b, next, info(&scene, 0, 4096, kRemote)), IBV_WC_MW_BIND_ERR);
}

static void invalidated_and_bound_again(void) {
  const struct scene scene = open_scene(IBV_MW_TYPE_2);
  for (int i = 0; i < 3; ++i) {
    EQUAL(bind_all(&scene), IBV_WC_SUCCESS);
    EQUAL(write_through(&scene, scene.window->rkey, address(far_at(scene.bench, 0)), 64), IBV_WC_SUCCESS);
    struct ibv_send_wr wr = {.opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED};
    wr.invalidate_rkey = scene.window->rkey;
    EQUAL(post(scene.bench->b, &wr), 0);
    const struct ibv_wc wc = completion_of(scene.bench, scene.bench->b);
    STATUS(wc, IBV_WC_SUCCESS);
    EQUAL(wc.opcode, IBV_WC_LOCAL_INV);
  }
  EQUAL(write_through(&scene, scene.window->rkey, address(far_at(scene.bench, 0)), 64), IBV_WC_REM_ACCESS_ERR);
}

static void not_bound_twice(void) {
  const struct scene scene = open_scene(IBV_MW_TYPE_2);
  EQUAL(bind_all(&scene), IBV_WC_SUCCESS);
  EQUAL(bind_all(&scene), IBV_WC_MW_BIND_ERR);
  EQUAL(state_of(scene.bench->b), IBV_QPS_ERR);
}

static void invalidated_by_the_peer(void) {
  const struct scene scene = open_scene(IBV_MW_TYPE_2);
  EQUAL(bind_all(&scene), IBV_WC_SUCCESS);
  EQUAL(post_receive(scene.bench, scene.bench->b, 64), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(scene.bench, &sge, IBV_WR_SEND_WITH_INV, 8);
  wr.invalidate_rkey = scene.window->rkey;
  EQUAL(post(scene.bench->a, &wr), 0);
  STATUS(completion_of(scene.bench, scene.bench->a), IBV_WC_SUCCESS);
  const struct ibv_wc wc = completion_of(scene.bench, scene.bench->b);
  STATUS(wc, IBV_WC_SUCCESS);
  EQUAL(wc.wc_flags & IBV_WC_WITH_INV, IBV_WC_WITH_INV);
  EQUAL(wc.invalidated_rkey, scene.window->rkey);
  EQUAL(write_through(&scene, scene.window->rkey, address(far_at(scene.bench, 0)), 8), IBV_WC_REM_ACCESS_ERR);
}

static void binds_that_are_not_allowed(void) {
  for (int way = 0; way < 4; ++way) {
    struct scene scene = open_scene(IBV_MW_TYPE_2);
    struct ibv_mw_bind_info bind = info(&scene, 0, 4096, kRemote);
    if (way == 0) bind.length = kRegion / 2 + 1;
    if (way == 1) bind.addr -= 1;
    if (way == 2) bind.length = 0;
    if (way == 3) bind.mr = scene.bench->mr;  // without the right to be bound
    EQUAL(bind_2(&scene, scene.bench->b, ibv_inc_rkey(scene.window->rkey), bind), IBV_WC_MW_BIND_ERR);
  }
}

static void a_region_with_a_window_stays(void) {
  const struct scene scene = open_scene(IBV_MW_TYPE_2);
  EQUAL(bind_all(&scene), IBV_WC_SUCCESS);
  EITHER(ibv_dereg_mr(scene.region), EBUSY, EINVAL);
  EQUAL(ibv_dealloc_mw(scene.window), 0);
  EQUAL(ibv_dereg_mr(scene.region), 0);
}

static void rights_of_the_window_count(void) {
  const struct scene scene = open_scene(IBV_MW_TYPE_2);
  EQUAL(bind_2(&scene, scene.bench->b, ibv_inc_rkey(scene.window->rkey), info(&scene, 0, 4096, IBV_ACCESS_REMOTE_READ)),
        IBV_WC_SUCCESS);
  EQUAL(write_through(&scene, scene.window->rkey, address(far_at(scene.bench, 0)), 8), IBV_WC_REM_ACCESS_ERR);
}

static void zero_based(void) {
  const struct scene scene = open_scene(IBV_MW_TYPE_2);
  EQUAL(bind_2(&scene, scene.bench->b, ibv_inc_rkey(scene.window->rkey),
               info(&scene, 500, 100, kRemote | IBV_ACCESS_ZERO_BASED)),
        IBV_WC_SUCCESS);
  EQUAL(write_through(&scene, scene.window->rkey, 0, 100), IBV_WC_SUCCESS);
  CHECK(same_bytes(scene.bench, 0, kRegion / 2 + 500, 100));
}

static void types_have_their_calls(void) {
  const struct scene one = open_scene(IBV_MW_TYPE_2);
  EQUAL(bind_1(&one, 0, 100), EINVAL);
}

static const struct test_case kCases[] = {
    {"type 1 opens a part of a region", type_1},
    {"type 1 is bound again and unbound", type_1_again_and_unbound},
    {"type 2 opens a part of a region", type_2},
    {"only the low byte of the key in a bind counts", only_the_low_byte_counts},
    {"the window's present key is compared", the_present_key_is_compared},
    {"type 2 is invalidated and bound again", invalidated_and_bound_again},
    {"type 2 is not bound twice", not_bound_twice},
    {"SEND with invalidate closes it", invalidated_by_the_peer},
    {"binds that are not allowed", binds_that_are_not_allowed},
    {"a region with a bound window stays", a_region_with_a_window_stays},
    {"the rights of the window count", rights_of_the_window_count},
    {"a zero-based window", zero_based},
    {"ibv_bind_mw is for type 1", types_have_their_calls},
};
GROUP(windows_group, "windows", kCases);
