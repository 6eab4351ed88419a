// Parent domains and thread domains.
#include <doctest/doctest.h>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

ibv_pd* parent_of(ibv_pd* pd, ibv_td* td = nullptr) {
  ibv_parent_domain_init_attr attr{};
  attr.pd = pd;
  attr.td = td;
  return ibv_alloc_parent_domain(pd->context, &attr);
}

void* no_allocator(ibv_pd*, void*, std::size_t, std::size_t, std::uint64_t) { return nullptr; }
void no_free(ibv_pd*, void*, void*, std::uint64_t) {}

}  // namespace

TEST_CASE("objects of a parent domain work with objects of its protection domain") {
  configure("pd0;pd1");
  End a("pd0"), b("pd1");
  ibv_td_init_attr td_attr{};
  ibv_td* td = ibv_alloc_td(a.context.get(), &td_attr);
  REQUIRE(td);
  ibv_pd* parent = parent_of(a.pd, td);
  REQUIRE(parent);
  CHECK(parent->handle == a.pd->handle);
  CHECK(ibv_destroy_qp(a.qp) == 0);
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = a.cq;
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 0};
  a.qp = ibv_create_qp(parent, &attr);
  REQUIRE(a.qp);
  CHECK(a.qp->pd == parent);
  a.connect(b);
  b.connect(a);
  std::memset(a.memory.data(), 'p', 3000);
  REQUIRE(a.rdma(IBV_WR_RDMA_WRITE, b, 3000) == 0);  // with a region of the domain below
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  CHECK(b.memory[2999] == 'p');

  CHECK(ibv_dealloc_pd(parent) == EBUSY);
  CHECK(ibv_dealloc_td(td) == EBUSY);
  CHECK(ibv_destroy_qp(a.qp) == 0);
  a.qp = nullptr;
  // A region that moves to the parent domain keeps it busy.
  CHECK(ibv_rereg_mr(a.mr, IBV_REREG_MR_CHANGE_PD, parent, nullptr, 0, 0) == 0);
  CHECK(ibv_dealloc_pd(parent) == EBUSY);
  CHECK(ibv_rereg_mr(a.mr, IBV_REREG_MR_CHANGE_PD, a.pd, nullptr, 0, 0) == 0);
  CHECK(ibv_dereg_mr(a.mr) == 0);
  CHECK(ibv_dealloc_pd(a.pd) == EBUSY);
  CHECK(ibv_dealloc_pd(parent) == 0);
  CHECK(ibv_dealloc_pd(parent) == ENOENT);
  CHECK(ibv_dealloc_td(td) == 0);
  CHECK(ibv_dealloc_pd(a.pd) == 0);
}

TEST_CASE("a parent domain needs a domain of the same device, and both allocators or none") {
  configure("pd0;pd1");
  const Context context = open_device("pd0"), other = open_device("pd1");
  ibv_pd* pd = ibv_alloc_pd(context.get());
  ibv_pd* foreign = ibv_alloc_pd(other.get());
  ibv_parent_domain_init_attr attr{};
  const auto rejected = [&] {
    errno = 0;
    return ibv_alloc_parent_domain(context.get(), &attr) == nullptr && errno == EINVAL;
  };
  CHECK(rejected());
  attr.pd = foreign;
  CHECK(rejected());
  attr.pd = pd;
  attr.comp_mask = 1 << 3;
  CHECK(rejected());
  attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
  attr.alloc = no_allocator;
  CHECK(rejected());
  attr.free = no_free;
  attr.comp_mask |= IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
  ibv_pd* parent = ibv_alloc_parent_domain(context.get(), &attr);
  REQUIRE(parent);
  attr.pd = parent;
  CHECK(rejected());
  ibv_td_init_attr td{};
  td.comp_mask = 1;
  CHECK(ibv_alloc_td(context.get(), &td) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(ibv_create_cq(context.get(), 1, nullptr, nullptr, 0));
  // The contexts destroy the remaining objects, in a valid order.
}
