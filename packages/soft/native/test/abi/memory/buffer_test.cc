// ibv_alloc_buf, ibv_reg_mr_ex, DMA handles, and descriptors of device memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "abi/objects/later.h"
#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;
namespace later = verbs::soft::abi::later;

namespace {

ibv_mr* reg_ex(ibv_pd* pd, later::MrInitAttr attr) {
  errno = 0;
  return ibv_reg_mr_ex(pd, reinterpret_cast<ibv_mr_init_attr*>(&attr));
}

ibv_dmah* alloc_dmah(ibv_context* context, later::DmahInitAttr attr) {
  errno = 0;
  return ibv_alloc_dmah(context, reinterpret_cast<ibv_dmah_init_attr*>(&attr));
}

}  // namespace

TEST_CASE("memory of the library is registered, written by a peer, and given back") {
  configure("m0;m1");
  End a("m0"), b("m1");
  a.connect(b);
  b.connect(a);
  ibv_buf* buf = nullptr;
  auto* memory = static_cast<std::uint8_t*>(ibv_alloc_buf(b.pd, 5000, &buf));
  REQUIRE(memory);
  REQUIRE(buf);
  CHECK(reinterpret_cast<std::uintptr_t>(memory) % 4096 == 0);
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  ibv_mr* mr = ibv_reg_buf_mr(b.pd, buf, memory + 1000, 4000, access);
  REQUIRE(mr);
  ibv_sge sge;
  ibv_send_wr wr = a.request(&sge, IBV_WR_RDMA_WRITE, 0, 4000), *bad = nullptr;
  std::memset(a.memory.data(), 'b', 4000);
  wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(memory + 1000);
  wr.wr.rdma.rkey = mr->rkey;
  REQUIRE(ibv_post_send(a.qp, &wr, &bad) == 0);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  CHECK(memory[999] == 0);
  CHECK(memory[4999] == 'b');

  CHECK(ibv_reg_buf_mr(b.pd, buf, memory + 1001, 4000, access) == nullptr);  // beyond its end
  CHECK(errno == EINVAL);
  CHECK(ibv_reg_buf_mr(b.pd, buf, memory - 1, 8, access) == nullptr);
  ibv_pd* other = ibv_alloc_pd(b.context.get());
  CHECK(ibv_reg_buf_mr(other, buf, memory, 8, access) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(ibv_export_buf_dmabuf_fd(buf) == -1);
  CHECK(errno == ENODATA);
  CHECK(ibv_alloc_buf(b.pd, 0, &buf) == nullptr);
  CHECK(ibv_alloc_buf(b.pd, SIZE_MAX - 100, &buf) == nullptr);

  ibv_mr* second = reg_ex(b.pd, {.length = 100,
                                 .access = access,
                                 .comp_mask = later::kMrAddr | later::kMrBuf,
                                 .iova = 0,
                                 .addr = memory,
                                 .fd = 0,
                                 .fd_offset = 0,
                                 .dmah = nullptr,
                                 .buf = buf});
  CHECK(second);
  CHECK(reg_ex(b.pd, {.length = 100,
                      .access = access,
                      .comp_mask = later::kMrBuf,
                      .iova = 0,
                      .addr = memory,
                      .fd = 0,
                      .fd_offset = 0,
                      .dmah = nullptr,
                      .buf = buf}) == nullptr);
  CHECK(errno == EINVAL);

  // Regions of memory that is gone fail their accesses.
  ibv_free_buf(buf);
  REQUIRE(ibv_post_send(a.qp, &wr, &bad) == 0);
  CHECK(a.poll().status == IBV_WC_REM_ACCESS_ERR);
  CHECK(ibv_export_buf_dmabuf_fd(buf) == -1);
  CHECK(errno == EINVAL);
}

TEST_CASE("a domain is busy while it has buffers, and a parent domain may allow unprotected memory") {
  configure("m0");
  const Context context = open_device("m0");
  ibv_pd* pd = ibv_alloc_pd(context.get());
  ibv_parent_domain_init_attr attr{};
  attr.pd = pd;
  attr.comp_mask = later::kParentDomainAllowUnprotected;
  ibv_pd* parent = ibv_alloc_parent_domain(context.get(), &attr);
  REQUIRE(parent);
  ibv_buf* buf = nullptr;
  void* memory = ibv_alloc_buf(parent, 64, &buf);
  REQUIRE(memory);
  CHECK(ibv_dealloc_pd(parent) == EBUSY);
  ibv_mr* mr = ibv_reg_buf_mr(parent, buf, memory, 64, 0);
  REQUIRE(mr);
  CHECK(ibv_reg_buf_mr(pd, buf, memory, 64, 0) == nullptr);  // the domain that it was allocated with
  CHECK(ibv_dereg_mr(mr) == 0);
  ibv_free_buf(buf);
  CHECK(ibv_dealloc_pd(parent) == 0);
}

TEST_CASE("ibv_reg_mr_ex takes an address or a descriptor, with an address of the peer's and a DMA handle") {
  configure("m0");
  End a("m0");
  const int access = IBV_ACCESS_LOCAL_WRITE;
  later::MrInitAttr attr{};
  attr.length = 4096;
  attr.access = access;
  attr.addr = a.memory.data();
  CHECK(reg_ex(a.pd, attr) == nullptr);  // neither
  CHECK(errno == EINVAL);
  attr.comp_mask = later::kMrAddr;
  ibv_mr* plain = reg_ex(a.pd, attr);
  REQUIRE(plain);
  CHECK(plain->addr == a.memory.data());
  CHECK(plain->length == 4096);
  attr.comp_mask = later::kMrAddr | later::kMrFd;
  CHECK(reg_ex(a.pd, attr) == nullptr);
  attr.comp_mask = later::kMrAddr | 64;
  CHECK(reg_ex(a.pd, attr) == nullptr);
  CHECK(errno == EINVAL);

  ibv_dmah* dmah = alloc_dmah(a.context.get(), {.comp_mask = 2, .cpu_id = 0, .ph = 1, .tph_mem_type = 0});
  REQUIRE(dmah);
  attr.comp_mask = later::kMrAddr | later::kMrDmah;
  attr.dmah = dmah;
  CHECK(reg_ex(a.pd, attr));
  attr.access = access | IBV_ACCESS_ON_DEMAND;
  CHECK(reg_ex(a.pd, attr) == nullptr);
  CHECK(errno == EINVAL);
  attr.access = access;
  CHECK(ibv_dealloc_dmah(dmah) == 0);
  CHECK(ibv_dealloc_dmah(dmah) == ENOENT);
  CHECK(reg_ex(a.pd, attr) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(alloc_dmah(a.context.get(), {.comp_mask = 1, .cpu_id = 0, .ph = 0, .tph_mem_type = 0}) == nullptr);
  CHECK(alloc_dmah(a.context.get(), {.comp_mask = 7, .cpu_id = 1u << 20, .ph = 0, .tph_mem_type = 0}) == nullptr);
  CHECK(alloc_dmah(a.context.get(), {.comp_mask = 3, .cpu_id = 0, .ph = 0, .tph_mem_type = 0}) == nullptr);
  CHECK(errno == EINVAL);
}

TEST_CASE("a descriptor of device memory is memory for others") {
  configure("m0");
  End a("m0");
  ibv_alloc_dm_attr attr{.length = 4096, .log_align_req = 0, .comp_mask = 0};
  ibv_dm* dm = ibv_alloc_dm(a.context.get(), &attr);
  REQUIRE(dm);
  const int fd = ibv_dm_export_dmabuf_fd(dm);
  REQUIRE(fd >= 0);
  CHECK(ibv_memcpy_to_dm(dm, 0, "12345678", 8) == 0);
  char bytes[8] = {};
  CHECK(pread(fd, bytes, sizeof bytes, 0) == 8);
  CHECK(std::memcmp(bytes, "12345678", 8) == 0);
  later::MrInitAttr mr{};
  mr.length = 4096;
  mr.access = IBV_ACCESS_LOCAL_WRITE;
  mr.comp_mask = later::kMrFd;
  mr.fd = fd;
  ibv_mr* region = reg_ex(a.pd, mr);
  CHECK(region);
  CHECK(ibv_dereg_mr(region) == 0);
  CHECK(ibv_free_dm(dm) == 0);
  CHECK(pread(fd, bytes, sizeof bytes, 0) == 8);  // until it is closed
  close(fd);
  CHECK(ibv_dm_export_dmabuf_fd(dm) == -1);
  CHECK(errno == ENOENT);
}
