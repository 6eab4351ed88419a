// Memory whose owner promises to keep it mapped: the NIC does not ask for the signal mask before it touches that.
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cerrno>
#include <optional>
#include <thread>

#include "include/verbs_soft_extension.h"
#include "test/abi/support/device_pair.h"
#include "test/refused_calls.h"

using namespace verbs::soft::test;

namespace {

constexpr std::size_t kKeptSize = 8192;
constexpr int kKeptAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

struct Pages {
  Pages() : memory(mmap(nullptr, kKeptSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(memory != MAP_FAILED);
  }
  ~Pages() { munmap(memory, kKeptSize); }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(memory); }
  void* memory;
};

// Two connected queue pairs of the process, and a region of each end.
struct KeptLine {
  KeptLine() {
    configure("kept0;kept1");
    a.emplace("kept0");
    b.emplace("kept1");
    a->connect(*b);
    b->connect(*a);
    from = ibv_reg_mr(a->pd, source.memory, kKeptSize, kKeptAccess);
    to = ibv_reg_mr(b->pd, target.memory, kKeptSize, kKeptAccess);
    REQUIRE(from);
    REQUIRE(to);
  }
  ~KeptLine() {
    CHECK(ibv_dereg_mr(from) == 0);
    CHECK(ibv_dereg_mr(to) == 0);
  }

  ibv_wc_status write() {
    ibv_sge sge{source.address(), 4096, from->lkey};
    ibv_send_wr wr{}, *bad = nullptr;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = target.address();
    wr.wr.rdma.rkey = to->rkey;
    REQUIRE(ibv_post_send(a->qp, &wr, &bad) == 0);
    ibv_wc wc{}, none{};
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (ibv_poll_cq(a->cq, 1, &wc) == 0 && std::chrono::steady_clock::now() < give_up) ibv_poll_cq(b->cq, 1, &none);
    return wc.status;
  }

  std::optional<End> a, b;
  Pages source, target;
  ibv_mr *from = nullptr, *to = nullptr;
};

#if defined(__x86_64__)
int asked = 0;

// In place of rt_sigprocmask(): no signal is blocked.
void answer(int, siginfo_t*, void* context) {
  ++asked;
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (auto* mask = reinterpret_cast<std::uint64_t*>(registers[REG_RDX]); mask != nullptr) *mask = 0;
  registers[REG_RAX] = 0;
}

// From now on the thread's questions for its mask are answered, and counted.
bool count_questions() {
  struct sigaction action{};
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return sigaction(SIGSYS, &action, nullptr) == 0 && add_filter(code);
}
#endif

}  // namespace

#if defined(__x86_64__)
TEST_CASE("the mask is not asked for where both memories are kept") {
  KeptLine line;
  CHECK(verbs_soft_keep_mapped(line.from) == 0);
  CHECK(verbs_soft_keep_mapped(line.to) == 0);
  int kept = 0, moved = 0;
  std::thread([&] {
    REQUIRE(count_questions());
    for (int i = 0; i < 100; ++i) CHECK(line.write() == IBV_WC_SUCCESS);
    kept = asked;
    // The promise was for the former place.
    REQUIRE(ibv_rereg_mr(line.from, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, line.source.memory, kKeptSize, 0) == 0);
    CHECK(line.write() == IBV_WC_SUCCESS);
    moved = asked - kept;
  }).join();
  CHECK(kept == 0);
  CHECK(moved > 0);
}
#endif

TEST_CASE("the promise ends when the region is moved, and is kept when its rights change") {
  KeptLine line;
  REQUIRE(verbs_soft_keep_mapped(line.from) == 0);
  CHECK(ibv_rereg_mr(line.from, 0, nullptr, nullptr, 0, 0) == IBV_REREG_MR_ERR_CMD);  // as the kernel
  CHECK(errno == EINVAL);
  CHECK(ibv_rereg_mr(line.from, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE) == 0);
  CHECK(line.write() == IBV_WC_SUCCESS);
  REQUIRE(ibv_rereg_mr(line.from, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, line.source.memory, kKeptSize, 0) == 0);
  munmap(line.source.memory, kKeptSize);
  std::thread([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    CHECK(line.write() == IBV_WC_LOC_PROT_ERR);
  }).join();
}

TEST_CASE("a promise for what is no region is refused") {
  KeptLine line;
  ibv_mr stale = *line.from;
  CHECK(verbs_soft_keep_mapped(&stale) == ENOENT);
  stale.handle += 1000;
  CHECK(verbs_soft_keep_mapped(&stale) == ENOENT);
}
