// FLUSH and ATOMIC WRITE: one packet there, an empty READ response back, executed once.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "nic/base/guarded_memory.h"
#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr unsigned kRights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | nic::kAccessFlushGlobal | nic::kAccessFlushPersistent;

Connection allowing(unsigned access) {
  Connection connection;
  connection.access = access;
  return connection;
}

struct FlushPair {
  VirtualNetwork net;
  nic::Qp* qa;
  nic::Qp* qb;
  alignas(8) std::uint8_t near[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  alignas(8) std::uint8_t far[64] = {};
  nic::Mr* local;
  nic::Mr* remote;

  explicit FlushPair(unsigned qp_access = kRights, unsigned mr_access = kRights)
      : qa(net.a.create_qp(IBV_QPT_RC)), qb(net.b.create_qp(IBV_QPT_RC)) {
    net.connect(qa, qb, allowing(qp_access));
    local = net.a.reg(near, sizeof near);
    remote = net.b.reg(far, sizeof far, mr_access);
  }

  Send atomic_write(std::uint64_t wr_id = 1) {
    return {.wr_id = wr_id,
            .opcode = IBV_WR_ATOMIC_WRITE,
            .sges = {sge_of(near, 8, local)},
            .remote_addr = reinterpret_cast<std::uint64_t>(far),
            .rkey = remote->rkey()};
  }

  nic::FlushRequest flush(std::uint8_t type = wire::Feth::kGlobal) {
    return {reinterpret_cast<std::uint64_t>(far), sizeof far, remote->rkey(), type, wire::Feth::kRange};
  }
  int post(const nic::FlushRequest& request, std::uint64_t wr_id = 1) {
    ibv_send_wr wr = {};
    ibv_send_wr* bad = nullptr;
    wr.wr_id = wr_id;
    wr.opcode = nic::kWrFlush;
    wr.send_flags = IBV_SEND_SIGNALED;
    std::memcpy(&wr.wr, &request, sizeof request);
    return net.a.nic->data_path().post_send(qa, &wr, &bad);
  }

  ibv_wc finish() {
    net.run();
    const auto done = net.a.poll();
    REQUIRE(done.size() == 1);
    return done[0];
  }
  ibv_wc run(const nic::FlushRequest& request) {
    REQUIRE(post(request) == 0);
    return finish();
  }
  ibv_wc run(const Send& send) {
    REQUIRE(post_send(net.a, qa, send) == 0);
    return finish();
  }
};

}  // namespace

TEST_CASE("ATOMIC WRITE stores eight bytes as they are, inline too") {
  FlushPair pair;
  ibv_wc wc = pair.run(pair.atomic_write());
  CHECK(wc.status == IBV_WC_SUCCESS);
  CHECK(wc.opcode == IBV_WC_ATOMIC_WRITE);
  CHECK(std::equal(pair.near, pair.near + 8, pair.far));
  CHECK(std::count(pair.far + 8, pair.far + 64, 0) == 56);
  std::uint64_t value = 0x1122334455667788;
  Send send = pair.atomic_write();
  send.sges = {{reinterpret_cast<std::uint64_t>(&value), 8, 0}};
  send.flags |= IBV_SEND_INLINE;
  send.remote_addr += 16;
  CHECK(pair.run(send).status == IBV_WC_SUCCESS);
  CHECK(std::memcmp(pair.far + 16, &value, 8) == 0);
}

TEST_CASE("an ATOMIC WRITE that does not fit gets a NAK") {
  {
    FlushPair pair;
    Send send = pair.atomic_write();
    send.sges[0].length = 16;
    CHECK(post_send(pair.net.a, pair.qa, send) == EINVAL);
    send.sges[0].length = 4;
    CHECK(post_send(pair.net.a, pair.qa, send) == EINVAL);
    send = pair.atomic_write();
    send.remote_addr += 4;
    CHECK(pair.run(send).status == IBV_WC_REM_INV_REQ_ERR);
  }
  {
    FlushPair pair(nic::kAccessFlushGlobal);
    CHECK(pair.run(pair.atomic_write()).status == IBV_WC_REM_INV_REQ_ERR);
  }
  {
    FlushPair pair(kRights, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
    CHECK(pair.run(pair.atomic_write()).status == IBV_WC_REM_ACCESS_ERR);
  }
  {
    FlushPair pair;
    Send send = pair.atomic_write();
    send.sges[0].lkey ^= 1;
    CHECK(pair.run(send).status == IBV_WC_LOC_PROT_ERR);
  }
}

TEST_CASE("FLUSH of a range and of a region, global and persistent") {
  FlushPair pair;
  ibv_wc wc = pair.run(pair.flush());
  CHECK(wc.status == IBV_WC_SUCCESS);
  CHECK(wc.opcode == nic::kWcFlush);
  nic::FlushRequest whole = pair.flush(wire::Feth::kGlobal | wire::Feth::kPersistent);
  whole.level = wire::Feth::kRegion;
  whole.remote_addr = 0;  // not looked at
  whole.length = 0;
  CHECK(pair.run(whole).status == IBV_WC_SUCCESS);

  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  REQUIRE(ftruncate(fileno(file), 8192) == 0);
  auto* mapped = static_cast<std::uint8_t*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0));
  REQUIRE(mapped != MAP_FAILED);
  nic::Mr* persistent = pair.net.b.reg(mapped + 100, 5000, kRights);
  Send write = pair.atomic_write();
  write.opcode = IBV_WR_RDMA_WRITE;
  write.flags = 0;
  write.remote_addr = reinterpret_cast<std::uint64_t>(mapped + 4090);
  write.rkey = persistent->rkey();
  REQUIRE(post_send(pair.net.a, pair.qa, write) == 0);
  CHECK(pair.run(nic::FlushRequest{write.remote_addr, 8, write.rkey, wire::Feth::kPersistent, wire::Feth::kRange})
            .status == IBV_WC_SUCCESS);
  std::uint8_t stored[8] = {};
  REQUIRE(pread(fileno(file), stored, 8, 4090) == 8);
  CHECK(std::equal(stored, stored + 8, pair.near));
  munmap(mapped, 8192);
  CHECK(pair.run(nic::FlushRequest{write.remote_addr, 8, write.rkey, wire::Feth::kPersistent, wire::Feth::kRange})
            .status == IBV_WC_REM_ACCESS_ERR);
  std::fclose(file);
}

TEST_CASE("FLUSH gets a NAK without the rights, beyond the range, and with undefined types") {
  {
    FlushPair pair;
    for (const auto& [type, level] : {std::pair<int, int>{0, 0}, {4, 0}, {1, 2}}) {
      nic::FlushRequest request = pair.flush(static_cast<std::uint8_t>(type));
      request.level = static_cast<std::uint8_t>(level);
      CHECK(pair.post(request) == EINVAL);
    }
    nic::FlushRequest request = pair.flush();
    request.length = sizeof pair.far + 1;
    CHECK(pair.run(request).status == IBV_WC_REM_ACCESS_ERR);
    CHECK(pair.net.b.saw(IBV_EVENT_QP_ACCESS_ERR));
  }
  {
    FlushPair pair(nic::kAccessFlushGlobal);
    CHECK(pair.run(pair.flush()).status == IBV_WC_SUCCESS);
    CHECK(pair.run(pair.flush(wire::Feth::kPersistent)).status == IBV_WC_REM_INV_REQ_ERR);
    CHECK(pair.net.b.saw(IBV_EVENT_QP_REQ_ERR));
  }
  {
    FlushPair pair(kRights, nic::kAccessFlushGlobal);
    CHECK(pair.run(pair.flush(wire::Feth::kPersistent)).status == IBV_WC_REM_ACCESS_ERR);
  }
}

TEST_CASE("both survive loss, in order and once") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    FlushPair pair;
    link::FaultPlan plan;
    plan.drop = 0.2;
    plan.seed = seed;
    pair.net.a.faults.set_plan(plan);
    plan.seed = seed + 100;
    pair.net.b.faults.set_plan(plan);
    for (std::uint64_t i = 0; i < 60; ++i) {
      if (i % 3 == 2) {
        REQUIRE(pair.post(pair.flush(), i) == 0);
      } else {
        REQUIRE(post_send(pair.net.a, pair.qa, pair.atomic_write(i)) == 0);
      }
    }
    pair.net.run();
    const auto done = pair.net.a.poll();
    REQUIRE(done.size() == 60);
    for (std::size_t i = 0; i < done.size(); ++i) {
      CHECK(done[i].status == IBV_WC_SUCCESS);
      CHECK(done[i].wr_id == i);
    }
    CHECK(std::equal(pair.near, pair.near + 8, pair.far));
  }
}

TEST_CASE("a retransmitted ATOMIC WRITE does not undo later writes") {
  FlushPair pair;
  pair.net.b.cable.unplugged = true;
  REQUIRE(post_send(pair.net.a, pair.qa, pair.atomic_write()) == 0);
  pair.net.run(500 * kMicrosecond);
  CHECK(pair.far[0] == 1);
  pair.far[0] = 77;
  pair.net.b.cable.unplugged = false;
  CHECK(pair.finish().status == IBV_WC_SUCCESS);
  CHECK(pair.far[0] == 77);
}
