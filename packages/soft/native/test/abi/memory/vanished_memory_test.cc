// Memory that was unmapped under a region is an error completion, whatever signals the thread blocks and whatever
// handlers the program has installed since.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <optional>
#include <thread>

#include "test/abi/support/device_pair.h"
#include "test/refused_calls.h"

using namespace verbs::soft::test;

namespace {

constexpr std::size_t kSize = 8192;
constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

void* map() {
  void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return memory;
}

sigset_t mask_now() {
  sigset_t now;
  sigemptyset(&now);
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return now;
}

int differences(const sigset_t& a, const sigset_t& b) {
  int count = 0;
  for (int signal = 1; signal < NSIG; ++signal) count += sigismember(&a, signal) != sigismember(&b, signal) ? 1 : 0;
  return count;
}

// Two connected queue pairs of the process.
struct Line {
  Line() {
    configure("gone0;gone1");
    a.emplace("gone0");
    b.emplace("gone1");
  }

  // New queue pairs: packets for the former ones are not theirs.
  void connect() {
    for (End* end : {&*a, &*b}) {
      REQUIRE(ibv_destroy_qp(end->qp) == 0);
      ibv_qp_init_attr attr{};
      attr.send_cq = attr.recv_cq = end->cq;
      attr.qp_type = IBV_QPT_RC;
      attr.cap.max_send_wr = attr.cap.max_recv_wr = attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
      end->qp = ibv_create_qp(end->pd, &attr);
      REQUIRE(end->qp);
    }
    a->connect(*b);
    b->connect(*a);
  }

  // A WRITE from a region or to one whose memory is unmapped between registration and request; `then` runs after that.
  template <typename Then>
  ibv_wc_status write(bool source, Then then) {
    connect();
    End& owner = source ? *a : *b;
    void* memory = map();
    ibv_mr* mr = ibv_reg_mr(owner.pd, memory, kSize, kAccess);
    REQUIRE(mr);
    munmap(memory, kSize);
    then();
    ibv_sge sge;
    ibv_send_wr wr = a->request(&sge, IBV_WR_RDMA_WRITE, 0, 4096), *bad = nullptr;
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    if (source) sge = {address, 4096, mr->lkey};
    wr.wr.rdma.remote_addr = source ? reinterpret_cast<std::uintptr_t>(b->memory.data()) : address;
    wr.wr.rdma.rkey = source ? b->mr->rkey : mr->rkey;
    REQUIRE(ibv_post_send(a->qp, &wr, &bad) == 0);
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    ibv_wc wc{}, none{};
    while (ibv_poll_cq(a->cq, 1, &wc) == 0 && std::chrono::steady_clock::now() < give_up) ibv_poll_cq(b->cq, 1, &none);
    CHECK(ibv_dereg_mr(mr) == 0);
    return wc.status;
  }
  ibv_wc_status write(bool source) {
    return write(source, [] {});
  }

  std::optional<End> a, b;
};

int calls = 0;
// It returns, and the access would fault again for ever: so it gives up.
void not_chaining(int, siginfo_t*, void*) {
  if (++calls > 100) _exit(99);
}

}  // namespace

TEST_CASE("a thread that blocks all signals keeps its mask through a hundred faults") {
  Line line;
  std::thread thread([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    const sigset_t before = mask_now();
    for (int i = 0; i < 50; ++i) {
      CHECK(line.write(true) == IBV_WC_LOC_PROT_ERR);
      CHECK(line.write(false) == IBV_WC_REM_ACCESS_ERR);
      CHECK(differences(mask_now(), before) == 0);
    }
  });
  thread.join();
}

TEST_CASE("a handler that the program installs later, without chaining, does not get in the way") {
  Line line;
  CHECK(line.write(true) == IBV_WC_LOC_PROT_ERR);
  struct sigaction action{}, old;
  action.sa_sigaction = not_chaining;
  action.sa_flags = SA_SIGINFO;
  for (const int signal : {SIGSEGV, SIGBUS}) {
    const auto install = [&] { REQUIRE(sigaction(signal, &action, &old) == 0); };
    CHECK(line.write(true, install) == IBV_WC_LOC_PROT_ERR);
    CHECK(line.write(false, install) == IBV_WC_REM_ACCESS_ERR);
    REQUIRE(sigaction(signal, &old, nullptr) == 0);
  }
  CHECK(calls == 0);
}

TEST_CASE("without a free descriptor unmapped and read-only memory is no region") {
  Line line;
  auto* memory = static_cast<char*>(map());
  rlimit limit;
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit none{0, limit.rlim_max};
  const auto reg = [&](void* at, std::size_t size, int access) {
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    errno = 0;
    ibv_mr* mr = ibv_reg_mr(line.a->pd, at, size, access);
    const int error = mr ? 0 : errno;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (mr) CHECK(ibv_dereg_mr(mr) == 0);
    return error;
  };
  CHECK(reg(memory, kSize, kAccess) == 0);
  mprotect(memory, 4096, PROT_READ);
  CHECK(reg(memory, kSize, kAccess) == EFAULT);
  CHECK(reg(memory, kSize, 0) == 0);
  munmap(memory, 4096);
  CHECK(reg(memory, kSize, 0) == EFAULT);
  munmap(memory, kSize);
}

TEST_CASE("a registration does not read the list of all mappings") {
  Line line;
  constexpr std::size_t kMappings = 32'000, kPage = 4096;
  auto* many = static_cast<char*>(
      mmap(nullptr, kMappings * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  REQUIRE(many != MAP_FAILED);
  for (std::size_t i = 0; i < kMappings; i += 2) REQUIRE(mprotect(many + i * kPage, kPage, PROT_READ) == 0);
  std::thread thread([&] {
    REQUIRE(refuse_reading());  // of this thread
    ibv_mr* mr = ibv_reg_mr(line.a->pd, line.a->memory.data(), line.a->memory.size(), kAccess);
    REQUIRE(mr);
    CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE) == 0);
    CHECK(ibv_dereg_mr(mr) == 0);
  });
  thread.join();
  munmap(many, kMappings * kPage);
}
