// Without memory: protection domains, memory regions, memory windows and device memory.
#include <fcntl.h>
#include <sys/mman.h>

#include "abi/objects/later.h"
#include "include/verbs_soft_extension.h"
#include "test/abi/support/device_pair.h"
#include "test/abi/support/failing_object.h"

using namespace verbs::soft::test;

namespace {

constexpr std::size_t kPages = 4 * 4096;

struct MemoryFile {
  MemoryFile() {
    REQUIRE(ftruncate(fd, kPages) == 0);
    REQUIRE(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  }
  MemoryFile(const MemoryFile&) = delete;
  ~MemoryFile() { close(fd); }
  int fd = memfd_create("region", MFD_CLOEXEC | MFD_ALLOW_SEALING);
};

struct Pages {
  Pages() = default;
  Pages(const Pages&) = delete;
  ~Pages() { munmap(at, kPages); }
  void* at = mmap(nullptr, kPages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

}  // namespace

TEST_CASE("domains without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(1));
  const Context owner = open_device("x0");
  ibv_context* const context = owner.get();
  check_object("ibv_alloc_pd", [&] { return ibv_alloc_pd(context); }, "ibv_dealloc_pd", ibv_dealloc_pd);
  ibv_pd* const pd = ibv_alloc_pd(context);
  REQUIRE(pd);
  ibv_td_init_attr td_attr{};
  check_object(
      "alloc_td", [&] { return ibv_alloc_td(context, &td_attr); }, "dealloc_td",
      [](ibv_td* td) { return ibv_dealloc_td(td); });
  ibv_td* const td = ibv_alloc_td(context, &td_attr);
  ibv_parent_domain_init_attr domain_attr{};
  domain_attr.pd = pd;
  domain_attr.td = td;
  check_object(
      "alloc_parent_domain", [&] { return ibv_alloc_parent_domain(context, &domain_attr); }, "ibv_dealloc_pd",
      ibv_dealloc_pd);
  CHECK(ibv_dealloc_td(td) == 0);
  check_object(
      "ibv_import_pd", [&] { return ibv_import_pd(context, pd->handle); }, "ibv_unimport_pd",
      [](ibv_pd* imported) { return ibv_unimport_pd(imported), 0; });
  CHECK(ibv_dealloc_pd(pd) == 0);
}

TEST_CASE("regions and windows without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(1));
  const Context owner = open_device("x0");
  ibv_context* const context = owner.get();
  ibv_pd *const pd = ibv_alloc_pd(context), *const other = ibv_alloc_pd(context);
  REQUIRE((pd && other));
  const Pages pages;
  const MemoryFile file;
  const auto start = reinterpret_cast<std::uintptr_t>(pages.at);
  const int access = IBV_ACCESS_LOCAL_WRITE;
  const auto check = [&](const char* name, const auto& create) {
    check_object(name, create, "ibv_dereg_mr", ibv_dereg_mr);
  };
  check("ibv_reg_mr", [&] { return (ibv_reg_mr)(pd, pages.at, kPages, access); });
  check("ibv_reg_mr_iova", [&] { return (ibv_reg_mr_iova)(pd, pages.at, kPages, 4096, access); });
  check("ibv_reg_mr_iova2", [&] { return ibv_reg_mr_iova2(pd, pages.at, kPages, 4096, access); });
  check("ibv_reg_dmabuf_mr", [&] { return ibv_reg_dmabuf_mr(pd, 0, kPages, 4096, file.fd, access); });
  check("alloc_null_mr", [&] { return ibv_alloc_null_mr(pd); });

  ibv_mr* const mr = ibv_reg_mr(pd, pages.at, 4096, access | IBV_ACCESS_ON_DEMAND);
  REQUIRE(mr);
  CHECK(without_allocating("verbs_soft_keep_mapped", [&] { return verbs_soft_keep_mapped(mr); }) == 0);
  check_object(
      "ibv_import_mr", [&] { return ibv_import_mr(pd, mr->handle); }, "ibv_unimport_mr",
      [](ibv_mr* imported) { return ibv_unimport_mr(imported), 0; });
  ibv_sge sge{.addr = start, .length = 4096, .lkey = mr->lkey};
  until_it_succeeds("advise_mr", [&] {
    return ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
  });

  // All or nothing: in another domain, at another place, with other rights.
  bool unchanged = true;
  until_it_succeeds("ibv_rereg_mr", [&] {
    const int flags = IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS;
    const int result = ibv_rereg_mr(mr, flags, other, static_cast<char*>(pages.at) + 4096, 8192, 0);
    if (result != 0) unchanged &= mr->pd == pd && mr->addr == pages.at && mr->length == 4096;
    return result;
  });
  CHECK(unchanged);
  CHECK(mr->pd == other);
  CHECK(mr->length == 8192);
  CHECK(ibv_dealloc_pd(other) == EBUSY);
  CHECK(ibv_dereg_mr(mr) == 0);
  CHECK(ibv_dealloc_pd(other) == 0);

  for (const ibv_mw_type type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
    check_object("alloc_mw", [&] { return ibv_alloc_mw(pd, type); }, "dealloc_mw", ibv_dealloc_mw);
  }
  CHECK(ibv_dealloc_pd(pd) == 0);
}

TEST_CASE("device memory without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(1));
  const Context owner = open_device("x0");
  ibv_context* const context = owner.get();
  ibv_pd* const pd = ibv_alloc_pd(context);
  // More often than there is memory for, so that what was left behind is noticed.
  ibv_device_attr_ex device{};
  REQUIRE(ibv_query_device_ex(context, nullptr, &device) == 0);
  ibv_alloc_dm_attr attr{.length = device.max_dm_size, .log_align_req = 0, .comp_mask = 0};
  const auto free_dm = [](ibv_dm* dm) { return ibv_free_dm(dm); };
  check_object("alloc_dm", [&] { return ibv_alloc_dm(context, &attr); }, "free_dm", free_dm);
  ibv_dm* const dm = ibv_alloc_dm(context, &attr);
  REQUIRE(dm);
  check_object(
      "reg_dm_mr", [&] { return ibv_reg_dm_mr(pd, dm, 0, 64, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE); },
      "ibv_dereg_mr", ibv_dereg_mr);
  char bytes[8] = {};
  until_it_succeeds("memcpy_to_dm", [&] { return ibv_memcpy_to_dm(dm, 0, bytes, sizeof bytes); });
  until_it_succeeds("memcpy_from_dm", [&] { return ibv_memcpy_from_dm(bytes, dm, 0, sizeof bytes); });
  check_object(
      "ibv_import_dm", [&] { return ibv_import_dm(context, dm->handle); }, "ibv_unimport_dm",
      [](ibv_dm* imported) { return ibv_unimport_dm(imported), 0; });
  const int fd = without_allocating("ibv_dm_export_dmabuf_fd", [&] { return ibv_dm_export_dmabuf_fd(dm); });
  REQUIRE(fd >= 0);
  close(fd);
  CHECK(ibv_free_dm(dm) == 0);
  CHECK(ibv_dealloc_pd(pd) == 0);
}

TEST_CASE("the library's buffers and DMA handles without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(1));
  const Context owner = open_device("x0");
  ibv_context* const context = owner.get();
  ibv_pd* const pd = ibv_alloc_pd(context);
  ibv_buf* buf = nullptr;
  const auto alloc = [&] { return ibv_alloc_buf(pd, kPages, &buf) ? buf : nullptr; };
  const auto free = [](ibv_buf* made) { return ibv_free_buf(made), 0; };
  free(until_it_succeeds("ibv_alloc_buf", alloc, free));
  until_it_ends("ibv_free_buf", alloc, free);
  void* const memory = ibv_alloc_buf(pd, kPages, &buf);
  REQUIRE(memory);
  check_object(
      "ibv_reg_buf_mr", [&] { return ibv_reg_buf_mr(pd, buf, memory, kPages, 0); }, "ibv_dereg_mr", ibv_dereg_mr);
  CHECK(without_allocating("ibv_export_buf_dmabuf_fd", [&] { return ibv_export_buf_dmabuf_fd(buf); }) == -1);
  namespace later = verbs::soft::abi::later;
  later::DmahInitAttr hint{.comp_mask = 2, .cpu_id = 0, .ph = 0, .tph_mem_type = 0};
  const auto alloc_dmah = [&] { return ibv_alloc_dmah(context, reinterpret_cast<ibv_dmah_init_attr*>(&hint)); };
  ibv_dealloc_dmah(until_it_succeeds("ibv_alloc_dmah", alloc_dmah, ibv_dealloc_dmah));
  until_it_ends("ibv_dealloc_dmah", alloc_dmah, ibv_dealloc_dmah);
  later::MrInitAttr attr{};
  attr.length = kPages;
  attr.addr = memory;
  attr.comp_mask = later::kMrAddr | later::kMrBuf | later::kMrDmah;
  attr.buf = buf;
  attr.dmah = alloc_dmah();
  check_object(
      "ibv_reg_mr_ex", [&] { return ibv_reg_mr_ex(pd, reinterpret_cast<ibv_mr_init_attr*>(&attr)); }, "ibv_dereg_mr",
      ibv_dereg_mr);
  CHECK(ibv_dealloc_dmah(attr.dmah) == 0);
  ibv_free_buf(buf);
  CHECK(ibv_dealloc_pd(pd) == 0);
}
