// Regions of memory files, which ibv_reg_dmabuf_mr() takes in place of dma-bufs.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/abi/support/dead_objects.h"
#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

constexpr int kWritable = IBV_ACCESS_LOCAL_WRITE;
constexpr std::uint32_t kFileSize = 1 << 20;

struct RegionFile {
  explicit RegionFile(int seals = F_SEAL_SHRINK) : fd(memfd_create("region", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    REQUIRE(ftruncate(fd, kFileSize) == 0);
    REQUIRE(fcntl(fd, F_ADD_SEALS, seals) == 0);
    const bool writable = (seals & F_SEAL_WRITE) == 0;
    void* at =
        mmap(nullptr, kFileSize, PROT_READ | (writable ? PROT_WRITE : 0), writable ? MAP_SHARED : MAP_PRIVATE, fd, 0);
    REQUIRE(at != MAP_FAILED);
    data = static_cast<std::uint8_t*>(at);
  }
  ~RegionFile() {
    munmap(data, kFileSize);
    close(fd);
  }
  RegionFile(const RegionFile&) = delete;
  RegionFile& operator=(const RegionFile&) = delete;

  int fd;
  std::uint8_t* data;
};

// With the address of the region that the program chooses.
struct FileRegion {
  FileRegion(End& owner, const RegionFile& file, std::uint64_t start, int access) : end(owner), iova(start) {
    mr = ibv_reg_dmabuf_mr(end.pd, 0, kFileSize, iova, file.fd, access);
    REQUIRE(mr);
  }
  ~FileRegion() {
    if (mr) CHECK(ibv_dereg_mr(mr) == 0);
  }
  FileRegion(const FileRegion&) = delete;
  FileRegion& operator=(const FileRegion&) = delete;

  End& end;
  std::uint64_t iova;
  ibv_mr* mr;
};

int post_all(ibv_wr_opcode opcode, const FileRegion& local, const FileRegion& remote) {
  ibv_sge sge{local.iova, kFileSize, local.mr->lkey};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = opcode;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma.remote_addr = remote.iova;
  wr.wr.rdma.rkey = remote.mr->rkey;
  return ibv_post_send(local.end.qp, &wr, &bad);
}

int write_all(const FileRegion& from, const FileRegion& to) { return post_all(IBV_WR_RDMA_WRITE, from, to); }
int read_all(const FileRegion& to, const FileRegion& from) { return post_all(IBV_WR_RDMA_READ, to, from); }

}  // namespace

TEST_CASE("a region of a memory file is that memory at the address that the program chooses") {
  configure("file0");
  const Context context = open_device("file0");
  ibv_pd* pd = ibv_alloc_pd(context.get());
  const RegionFile file;
  ibv_mr* mr = ibv_reg_dmabuf_mr(pd, 4096 + 8, 5000, 0x10008, file.fd, kWritable);
  REQUIRE(mr);
  CHECK(mr->length == 5000);
  CHECK(mr->addr == reinterpret_cast<void*>(4096 + 8));
  CHECK(mr->context == context.get());
  CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0) == IBV_REREG_MR_ERR_INPUT);
  CHECK(ibv_dealloc_pd(pd) == EBUSY);
  CHECK(ibv_dereg_mr(mr) == 0);

  const auto error = [&](int fd, std::uint64_t offset, std::size_t length, std::uint64_t iova, int access) {
    return error_of([&] { return ibv_reg_dmabuf_mr(pd, offset, length, iova, fd, access); });
  };
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  const int disk = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const RegionFile can_shrink(0), read_only(F_SEAL_SHRINK | F_SEAL_WRITE);
  // As programs ask whether a device takes dma-bufs, and as they give one.
  CHECK(error(-1, 0, 0, 0, 0) == EOPNOTSUPP);
  CHECK(error(-1, 0, 4096, 0, kWritable | IBV_ACCESS_REMOTE_ATOMIC) == EOPNOTSUPP);
  CHECK(error(-1, 1, 0, 2, -1) == EOPNOTSUPP);
  CHECK(error(pipes[0], 0, 4096, 0, kWritable) == EOPNOTSUPP);
  CHECK(error(disk, 0, 4096, 0, 0) == EOPNOTSUPP);
  CHECK(error(can_shrink.fd, 0, 4096, 0, kWritable) == EINVAL);
  CHECK(error(read_only.fd, 0, 4096, 0, kWritable) == EPERM);
  CHECK(error(read_only.fd, 0, 4096, 0, 0) == 0);
  CHECK(error(file.fd, 0, 0, 0, kWritable) == EINVAL);
  CHECK(error(file.fd, 0, kFileSize + 1, 0, kWritable) == EINVAL);
  CHECK(error(file.fd, kFileSize, 1, 0, kWritable) == EINVAL);
  CHECK(error(file.fd, ~std::uint64_t{0} - 4095, 4096, 0, kWritable) == EINVAL);
  CHECK(error(file.fd, 8, 4096, 0, kWritable) == EINVAL);  // another place in the page
  CHECK(error(file.fd, 0, 4096, 0, kWritable | IBV_ACCESS_ON_DEMAND) == EINVAL);
  CHECK(error(file.fd, 0, 4096, 0, kWritable | IBV_ACCESS_ZERO_BASED) == EINVAL);
  CHECK(error(file.fd, 0, 4096, 0, IBV_ACCESS_REMOTE_WRITE) == EINVAL);
  close(pipes[0]);
  close(pipes[1]);
  close(disk);
}

TEST_CASE("messages pass between regions of memory files, over shared memory from one mapping to the other") {
  bool shm = false, sealed = false;
  SUBCASE("direct, sealed against holes") {
    configure("file0,link=process;file1,link=process");
    sealed = true;
  }
  SUBCASE("direct") { configure("file0,link=process;file1,link=process"); }
  SUBCASE("shared memory") {
    configure("file0,link=shm;file1,link=shm");
    shm = true;
  }
  SUBCASE("shared memory, sealed against holes") {
    configure("file0,link=shm;file1,link=shm");
    shm = sealed = true;
  }
  End a("file0"), b("file1");
  a.connect(b);
  b.connect(a);
  const RegionFile source, target;
  const FileRegion from(a, source, 0x123000, kWritable);
  FileRegion to(b, target, std::uint64_t{1} << 60, kWritable | IBV_ACCESS_REMOTE_WRITE);
  if (sealed) {
    for (const RegionFile* file : {&source, &target}) REQUIRE(fcntl(file->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0);
  }
  for (std::uint8_t round = 1; round < 4; ++round) {
    for (std::uint32_t i = 0; i < kFileSize; ++i) source.data[i] = static_cast<std::uint8_t>(round + i * 7 + (i >> 9));
    REQUIRE(write_all(from, to) == 0);
    REQUIRE(a.poll().status == IBV_WC_SUCCESS);
    CHECK(std::memcmp(source.data, target.data, kFileSize) == 0);
  }
  // The first look for a peer may be too early.
  if (shm) CHECK(counter("file1", "link_shm_mapped") >= 4);
  CHECK(counter("file1", "link_shm_mapped") == counter("file1", "link_shm_pulled"));

  // Another region at the same address is other memory.
  ibv_mr* first = to.mr;
  const RegionFile other;
  to.mr = ibv_reg_dmabuf_mr(b.pd, 0, kFileSize, to.iova, other.fd, kWritable | IBV_ACCESS_REMOTE_WRITE);
  REQUIRE(to.mr);
  CHECK(ibv_dereg_mr(first) == 0);
  source.data[5] ^= 1;
  REQUIRE(write_all(from, to) == 0);
  REQUIRE(a.poll().status == IBV_WC_SUCCESS);
  CHECK(std::memcmp(source.data, other.data, kFileSize) == 0);
  CHECK(target.data[5] != source.data[5]);
}

TEST_CASE("regions of memory files that come and go between messages are never mixed up") {
  configure("file0,link=shm;file1,link=shm");
  End a("file0"), b("file1");
  a.connect(b);
  b.connect(a);
  const RegionFile target;
  const FileRegion to(b, target, 0, kWritable | IBV_ACCESS_REMOTE_WRITE);
  for (int round = 0; round < 100; ++round) {
    const RegionFile source;
    std::memset(source.data, round, kFileSize);
    const FileRegion from(a, source, 0, kWritable);
    REQUIRE(write_all(from, to) == 0);
    REQUIRE(a.poll().status == IBV_WC_SUCCESS);
    CHECK(target.data[0] == round);
    CHECK(target.data[kFileSize - 1] == round);
  }
  CHECK(counter("file1", "link_shm_mapped") > 90);
}

TEST_CASE("READs copy from one mapping to the other, and regions that come and go are never mixed up") {
  configure("file0,link=shm;file1,link=shm");
  End a("file0"), b("file1");
  a.connect(b);
  b.connect(a);
  const RegionFile target;
  const FileRegion to(a, target, 0, kWritable);
  for (int round = 0; round < 100; ++round) {
    const RegionFile source;
    std::memset(source.data, round, kFileSize);
    const FileRegion from(b, source, 0, kWritable | IBV_ACCESS_REMOTE_READ);
    REQUIRE(read_all(to, from) == 0);
    REQUIRE(a.poll().status == IBV_WC_SUCCESS);
    CHECK(target.data[0] == round);
    CHECK(target.data[kFileSize - 1] == round);
  }
  CHECK(counter("file0", "link_shm_mapped") > 90);
  CHECK(counter("file0", "link_shm_mapped") == counter("file0", "link_shm_pulled"));
}
