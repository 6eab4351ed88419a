// Contexts over one command file, and the objects that they share.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

ibv_context* import_copy(const ibv_context* context) { return ibv_import_device(dup(context->cmd_fd)); }

}  // namespace

TEST_CASE("an imported context shares domains and regions, and both transfer data") {
  configure("imp0;imp1");
  End server("imp0"), client("imp1");
  ibv_context* imported = import_copy(server.context.get());
  REQUIRE(imported);
  CHECK(imported->device == server.context->device);
  CHECK(imported->cmd_fd != server.context->cmd_fd);
  ibv_pd* pd = ibv_import_pd(imported, server.pd->handle);
  REQUIRE(pd);
  CHECK(pd->handle == server.pd->handle);
  CHECK(pd->context == imported);
  ibv_mr* mr = ibv_import_mr(pd, server.mr->handle);
  REQUIRE(mr);
  CHECK(mr->rkey == server.mr->rkey);
  CHECK(mr->lkey == server.mr->lkey);
  CHECK(mr->length == server.mr->length);
  CHECK(mr->addr == nullptr);
  CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0) == IBV_REREG_MR_ERR_INPUT);

  // A queue pair of the imported context works with the region of the first one.
  ibv_destroy_qp(server.qp);
  ibv_destroy_cq(server.cq);
  server.cq = ibv_create_cq(imported, 16, nullptr, nullptr, 0);
  REQUIRE(server.cq);
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = server.cq;
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 0};
  server.qp = ibv_create_qp(pd, &attr);
  REQUIRE(server.qp);
  client.connect(server);
  server.connect(client);
  std::memset(client.memory.data(), 'i', 5000);
  REQUIRE(client.rdma(IBV_WR_RDMA_WRITE, server, 5000) == 0);
  CHECK(client.poll().status == IBV_WC_SUCCESS);
  CHECK(std::memcmp(client.memory.data(), server.memory.data(), 5000) == 0);

  CHECK(ibv_destroy_qp(server.qp) == 0);
  CHECK(ibv_destroy_cq(server.cq) == 0);
  server.qp = nullptr;
  server.cq = nullptr;
  ibv_unimport_mr(mr);
  ibv_unimport_pd(pd);
  CHECK(ibv_close_device(imported) == 0);
  CHECK(ibv_dereg_mr(server.mr) == 0);
  CHECK(ibv_dealloc_pd(server.pd) == 0);
}

TEST_CASE("destroying a shared object destroys it for all contexts") {
  configure("imp0");
  const Context first = open_device("imp0");
  const Context second(import_copy(first.get()));
  REQUIRE(second);
  ibv_pd* pd = ibv_alloc_pd(first.get());
  ibv_pd* ibv = ibv_import_pd(second.get(), pd->handle);
  REQUIRE(ibv);
  char memory[64];
  ibv_mr* mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
  ibv_mr* mr_face = ibv_import_mr(ibv, mr->handle);
  REQUIRE(mr_face);
  CHECK(ibv_dealloc_pd(ibv) == EBUSY);
  CHECK(ibv_dereg_mr(mr_face) == 0);
  CHECK(ibv_dereg_mr(mr) == ENOENT);
  ibv_unimport_mr(mr);  // the other context still has its structure
  CHECK(ibv_dealloc_pd(ibv) == 0);
  CHECK(ibv_reg_mr(pd, memory, sizeof memory, 0) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(ibv_dealloc_pd(pd) == ENOENT);
  CHECK(ibv_import_pd(first.get(), pd->handle) == nullptr);
  CHECK(errno == ENOENT);
  ibv_unimport_pd(pd);
  ibv_unimport_pd(pd);  // it is gone: nothing happens
}

TEST_CASE("objects outlive the context that created them while another one is open") {
  configure("imp0");
  Context first = open_device("imp0");
  const Context second(import_copy(first.get()));
  REQUIRE(second);
  ibv_pd* pd = ibv_alloc_pd(first.get());
  const std::uint32_t handle = pd->handle;
  first.reset();
  CHECK(ibv_alloc_pd(first.get()) == nullptr);
  ibv_pd* ibv = ibv_import_pd(second.get(), handle);
  REQUIRE(ibv);
  char memory[64];
  ibv_mr* mr = ibv_reg_mr(ibv, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
  CHECK(mr);
  CHECK(ibv_dereg_mr(mr) == 0);
}

TEST_CASE("only a command file of this process can be imported") {
  configure("imp0");
  CHECK(ibv_import_device(-1) == nullptr);
  CHECK(errno == EBADF);
  const int other = open("/dev/null", O_RDONLY);
  CHECK(ibv_import_device(other) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(fcntl(other, F_GETFD) >= 0);  // still the caller's
  close(other);

  Context context = open_device("imp0");
  ibv_cq* cq = ibv_create_cq(context.get(), 1, nullptr, nullptr, 0);
  REQUIRE(cq);
  CHECK(ibv_import_pd(context.get(), cq->handle) == nullptr);
  CHECK(errno == ENOENT);
  CHECK(ibv_import_pd(context.get(), 0xffffffff) == nullptr);

  // In a child the device is the parent's.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(import_copy(context.get()) == nullptr && errno == EOPNOTSUPP ? 0 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);

  const int copy = dup(context->cmd_fd);
  context.reset();
  CHECK(ibv_import_device(copy) == nullptr);
  CHECK(errno == EOPNOTSUPP);
  close(copy);
}

TEST_CASE("destroyed objects and objects of another device are rejected without being read") {
  configure("imp0;imp1");
  const Context context = open_device("imp0"), other = open_device("imp1");
  ibv_pd* pd = ibv_alloc_pd(context.get());
  ibv_pd* foreign_pd = ibv_alloc_pd(other.get());
  ibv_comp_channel* channel = ibv_create_comp_channel(context.get());
  ibv_cq* cq = ibv_create_cq(context.get(), 16, nullptr, channel, 0);
  ibv_cq* foreign_cq = ibv_create_cq(other.get(), 16, nullptr, nullptr, 0);
  REQUIRE(cq);
  REQUIRE(foreign_cq);
  char memory[64];
  ibv_mr* mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
  ibv_gid gid;
  REQUIRE(ibv_query_gid(context.get(), 1, 0, &gid) == 0);
  ibv_ah_attr address{};
  address.is_global = 1;
  address.port_num = 1;
  address.grh.dgid = gid;
  ibv_ah* ah = ibv_create_ah(pd, &address);
  REQUIRE(ah);
  const auto create = [&](ibv_pd* domain, ibv_cq* send, ibv_cq* receive) {
    ibv_qp_init_attr attr{};
    attr.send_cq = send;
    attr.recv_cq = receive;
    attr.qp_type = IBV_QPT_RC;
    attr.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    errno = 0;
    return ibv_create_qp(domain, &attr);
  };
  CHECK(create(pd, cq, foreign_cq) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(create(foreign_pd, cq, cq) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(create(pd, cq, nullptr) == nullptr);
  CHECK(ibv_create_cq(other.get(), 16, nullptr, channel, 0) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, foreign_pd, nullptr, 0, 0) == IBV_REREG_MR_ERR_INPUT);
  ibv_qp* qp = create(pd, cq, cq);
  REQUIRE(qp);

  CHECK(ibv_destroy_cq(cq) == EBUSY);
  CHECK(ibv_dealloc_pd(pd) == EBUSY);
  CHECK(ibv_destroy_comp_channel(channel) == EBUSY);
  CHECK(ibv_destroy_qp(qp) == 0);
  CHECK(ibv_destroy_cq(cq) == 0);
  CHECK(ibv_destroy_comp_channel(channel) == 0);
  CHECK(ibv_dealloc_pd(pd) == EBUSY);
  CHECK(ibv_destroy_ah(ah) == 0);
  CHECK(ibv_dereg_mr(mr) == 0);
  CHECK(ibv_dealloc_pd(pd) == 0);

  // Each pointer is stale now; sanitizers see it if one is read.
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  CHECK(ibv_destroy_qp(qp) == ENOENT);
  CHECK(ibv_modify_qp(qp, &attr, 0) == EINVAL);
  CHECK(ibv_query_qp(qp, &attr, 0, &init) == EINVAL);
  CHECK(ibv_destroy_cq(cq) == ENOENT);
  CHECK(ibv_destroy_comp_channel(channel) == ENOENT);
  CHECK(ibv_destroy_ah(ah) == ENOENT);
  CHECK(ibv_dereg_mr(mr) == ENOENT);
  CHECK(ibv_dealloc_pd(pd) == ENOENT);
  CHECK(create(pd, foreign_cq, foreign_cq) == nullptr);
  CHECK(ibv_reg_mr(pd, memory, sizeof memory, 0) == nullptr);
  CHECK(ibv_alloc_null_mr(foreign_pd));
  CHECK(ibv_dealloc_pd(nullptr) == ENOENT);
}
