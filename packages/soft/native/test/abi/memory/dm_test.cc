// Device memory.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

constexpr unsigned kZeroBased = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED;

ibv_dm* alloc(ibv_context* context, std::size_t length, std::uint32_t log_align = 0, std::uint32_t comp_mask = 0) {
  ibv_alloc_dm_attr attr{.length = length, .log_align_req = log_align, .comp_mask = comp_mask};
  errno = 0;
  return ibv_alloc_dm(context, &attr);
}

}  // namespace

TEST_CASE("a peer writes to device memory and reads from it, by offsets") {
  configure("dm0;dm1");
  End a("dm0"), b("dm1");
  a.connect(b);
  b.connect(a);
  ibv_dm* dm = alloc(b.context.get(), 4096, 6);
  REQUIRE(dm);
  std::vector<char> bytes(4096, 'x');
  CHECK(ibv_memcpy_from_dm(bytes.data(), dm, 0, bytes.size()) == 0);
  CHECK(std::vector<char>(4096) == bytes);  // new memory is zeros
  ibv_mr* mr = ibv_reg_dm_mr(b.pd, dm, 1024, 2048, kZeroBased | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  REQUIRE(mr);
  CHECK(mr->length == 2048);
  CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 1) == IBV_REREG_MR_ERR_INPUT);

  const auto rdma = [&](ibv_wr_opcode opcode, std::uint64_t offset, std::uint32_t length) {
    ibv_sge sge;
    ibv_send_wr wr = a.request(&sge, opcode, 0, length), *bad = nullptr;
    wr.wr.rdma.remote_addr = offset;
    wr.wr.rdma.rkey = mr->rkey;
    REQUIRE(ibv_post_send(a.qp, &wr, &bad) == 0);
    return a.poll().status;
  };
  std::memset(a.memory.data(), 'd', 2048);
  CHECK(rdma(IBV_WR_RDMA_WRITE, 0, 2048) == IBV_WC_SUCCESS);
  CHECK(ibv_memcpy_from_dm(bytes.data(), dm, 1020, 2056) == 0);
  CHECK(std::string(bytes.data(), 4) == std::string(4, '\0'));
  CHECK(std::string(bytes.data() + 4, 2048) == std::string(2048, 'd'));
  CHECK(std::string(bytes.data() + 2052, 4) == std::string(4, '\0'));
  CHECK(ibv_memcpy_to_dm(dm, 1024, "from the host...", 16) == 0);
  CHECK(rdma(IBV_WR_RDMA_READ, 0, 16) == IBV_WC_SUCCESS);
  CHECK(std::memcmp(a.memory.data(), "from the host...", 16) == 0);
  CHECK(rdma(IBV_WR_RDMA_WRITE, 1, 2048) == IBV_WC_REM_ACCESS_ERR);

  CHECK(ibv_free_dm(dm) == EBUSY);
  CHECK(ibv_dereg_mr(mr) == 0);
  CHECK(ibv_free_dm(dm) == 0);
}

TEST_CASE("device memory ends, and its rules are kept") {
  configure("dm0,max_dm_size=8192;dm1");
  const Context context = open_device("dm0"), other = open_device("dm1");
  ibv_device_attr_ex attr{};
  REQUIRE(ibv_query_device_ex(context.get(), nullptr, &attr) == 0);
  CHECK(attr.max_dm_size == 8192);
  CHECK(alloc(context.get(), 8193) == nullptr);
  CHECK(errno == ENOMEM);
  CHECK(alloc(context.get(), 0) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(alloc(context.get(), 64, 13) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(alloc(context.get(), 64, 0, 1) == nullptr);
  CHECK(errno == EINVAL);
  ibv_dm* most = alloc(context.get(), 8000);
  REQUIRE(most);
  CHECK(alloc(context.get(), 200) == nullptr);
  CHECK(errno == ENOMEM);
  ibv_dm* rest = alloc(context.get(), 100);
  REQUIRE(rest);
  CHECK(ibv_free_dm(most) == 0);
  most = alloc(context.get(), 8000);
  CHECK(most);

  char host[256] = {};
  CHECK(ibv_memcpy_to_dm(rest, 3, host, 4) == EINVAL);
  CHECK(ibv_memcpy_from_dm(host, rest, 4, 3) == EINVAL);
  CHECK(ibv_memcpy_to_dm(rest, 104, host, 4) == EFAULT);
  CHECK(ibv_memcpy_to_dm(rest, 0, host, 104) == EFAULT);
  CHECK(ibv_memcpy_from_dm(host, rest, UINT64_MAX - 3, 8) == EFAULT);
  CHECK(ibv_memcpy_from_dm(reinterpret_cast<void*>(16), rest, 0, 8) == EFAULT);

  ibv_pd* pd = ibv_alloc_pd(context.get());
  ibv_pd* foreign = ibv_alloc_pd(other.get());
  const auto rejected = [&](ibv_pd* domain, std::uint64_t offset, std::size_t length, unsigned access) {
    errno = 0;
    return ibv_reg_dm_mr(domain, rest, offset, length, access) == nullptr && errno == EINVAL;
  };
  CHECK(rejected(pd, 0, 104, kZeroBased));
  CHECK(rejected(pd, 104, 1, kZeroBased));
  CHECK(ibv_reg_dm_mr(pd, rest, 0, 0, kZeroBased));  // of nothing, as libmlx5 allows
  CHECK(rejected(pd, 0, 100, IBV_ACCESS_LOCAL_WRITE));
  CHECK(rejected(pd, 0, 100, kZeroBased | IBV_ACCESS_ON_DEMAND));
  CHECK(rejected(pd, 0, 100, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE));
  CHECK(rejected(foreign, 0, 100, kZeroBased));
  CHECK(ibv_reg_dm_mr(pd, rest, 0, 100, kZeroBased));
}

TEST_CASE("an imported device memory is the same memory, and a child shares it") {
  configure("dm0");
  const Context context = open_device("dm0");
  const Context imported(ibv_import_device(dup(context->cmd_fd)));
  REQUIRE(imported);
  ibv_dm* dm = alloc(context.get(), 64);
  REQUIRE(dm);
  auto* same = ibv_import_dm(imported.get(), dm->handle);
  REQUIRE(same);
  char bytes[8] = {};
  CHECK(ibv_memcpy_to_dm(dm, 8, "abcdefgh", 8) == 0);
  CHECK(ibv_memcpy_from_dm(bytes, same, 8, 8) == 0);
  CHECK(std::string(bytes, 8) == "abcdefgh");

  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ibv_dm* own = alloc(context.get(), 64);
    const bool works = own && ibv_memcpy_to_dm(own, 0, "child", 4) == 0 && ibv_free_dm(own) == 0 &&
                       ibv_memcpy_to_dm(dm, 0, "from a c", 8) == 0;
    _exit(works ? 0 : 1);
  }
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(ibv_memcpy_from_dm(bytes, dm, 0, 8) == 0);
  CHECK(std::string(bytes, 8) == "from a c");

  CHECK(ibv_free_dm(same) == 0);
  CHECK(ibv_free_dm(dm) == ENOENT);
  ibv_unimport_dm(dm);
  CHECK(ibv_import_dm(imported.get(), 12345) == nullptr);
  CHECK(errno == ENOENT);
}
