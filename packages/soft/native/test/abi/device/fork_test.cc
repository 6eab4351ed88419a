// A forked child cannot use its parent's contexts, does not disturb them, and can open the device for itself.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "test/abi/support/device_pair.h"
#include "test/fork_under_load.h"

using namespace verbs::soft::test;

namespace {

#ifdef __SANITIZE_THREAD__
// ThreadSanitizer ends a forked child that starts a thread, as an open device does.
int open_for_itself(std::uint32_t) { return 0; }
#else
int open_for_itself(std::uint32_t parents) {
  ibv_device** list = ibv_get_device_list(nullptr);
  if (!list) return 7;
  ibv_context* mine = ibv_open_device(list[0]);
  if (!mine) return 8;
  // They share the address, and not the numbers.
  ibv_pd* pd = ibv_alloc_pd(mine);
  ibv_cq* cq = ibv_create_cq(mine, 4, nullptr, nullptr, 0);
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq;
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  ibv_qp* qp = ibv_create_qp(pd, &attr);
  if (!qp) return 9;
  if (qp->qp_num == parents) return 10;
  if (ibv_destroy_qp(qp) != 0 || ibv_destroy_cq(cq) != 0 || ibv_dealloc_pd(pd) != 0) return 13;
  ibv_free_device_list(list);
  return ibv_close_device(mine) == 0 ? 0 : 11;
}
#endif

// What the child finds, as an exit status; 0 is right.
int child(End& end) {
  ibv_wc wc;
  if (ibv_poll_cq(end.cq, 1, &wc) >= 0) return 1;
  if (end.post_recv(0, 64) != EIO) return 2;
  if (end.send(0, 64) != EIO) return 3;
  if (ibv_alloc_pd(end.context.get()) != nullptr || errno != EIO) return 4;
  if (std::string(verbs_soft_last_error()).find("forked") == std::string::npos) return 5;
  if (ibv_destroy_qp(end.qp) != EIO) return 6;
  if (const int wrong = open_for_itself(end.qp->qp_num)) return wrong;
  if (ibv_close_device(end.context.release()) != 0) return 12;
  return 0;
}

}  // namespace

TEST_CASE("fork") {
  configure("fork0;fork1");
  End a("fork0"), b("fork1");
  a.connect(b);
  b.connect(a);
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) _exit(child(a));
  int status = -1;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  REQUIRE(b.post_recv(0, 64) == 0);
  REQUIRE(a.send(0, 64) == 0);
  CHECK(b.poll().status == IBV_WC_SUCCESS);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
}

#ifndef __SANITIZE_THREAD__
namespace {

ibv_device* listed[2];

// Opens, creates, destroys and closes.
template <int index>
void use_device() {
  ibv_context* context = ibv_open_device(listed[index]);
  if (!context) return;
  ibv_pd* pd = ibv_alloc_pd(context);
  ibv_cq* cq = ibv_create_cq(context, 4, nullptr, nullptr, 0);
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq;
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  ibv_qp* qp = ibv_create_qp(pd, &attr);
  if (qp) ibv_destroy_qp(qp);
  if (cq) ibv_destroy_cq(cq);
  if (pd) ibv_dealloc_pd(pd);
  ibv_close_device(context);
}

void list_devices() { ibv_free_device_list(ibv_get_device_list(nullptr)); }

bool works_in_child() {
  ibv_context* context = ibv_open_device(listed[0]);
  if (!context) return errno == EADDRINUSE;
  ibv_pd* pd = ibv_alloc_pd(context);
  return pd && ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0;
}

}  // namespace

TEST_CASE("a thousand forks while threads open, create, destroy and close") {
  configure("fork0;fork1");
  ibv_device** list = ibv_get_device_list(nullptr);
  REQUIRE(list);
  std::copy_n(list, 2, listed);
  CHECK(fork_under_load(1000, {use_device<0>, use_device<1>, list_devices}, works_in_child) == 0);
  ibv_free_device_list(list);
}
#endif
