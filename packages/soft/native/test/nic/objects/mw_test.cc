// Memory windows: access through them, bind and invalidate, and which objects keep others from being destroyed.
#include "test/nic/objects/mw_windows.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

TEST_CASE("a type 1 window opens its part of a region, to every QP of the PD") {
  Windows windows(3);
  nic::Mw* mw = windows.alloc(IBV_MW_TYPE_1);
  const std::uint32_t key = next_key(mw->rkey());
  REQUIRE(windows.bind_1(key, 1000, 4000, kReadWrite) == 0);
  const ibv_wc bound = windows.complete(windows.net.b);
  CHECK(bound.status == IBV_WC_SUCCESS);
  CHECK(bound.opcode == IBV_WC_BIND_MW);
  CHECK(bound.wr_id == 5);
  CHECK(mw->rkey() == key);

  CHECK(windows.write(key, windows.at(1000), 4000) == IBV_WC_SUCCESS);
  CHECK(std::equal(windows.near.begin(), windows.near.begin() + 4000, windows.far.begin() + 1000));
  CHECK(windows.far[999] == 0);
  CHECK(windows.far[5000] == 0);
  CHECK(windows.access(IBV_WR_RDMA_READ, key, windows.at(4999), 1, 1) == IBV_WC_SUCCESS);
  CHECK(windows.write(key, windows.at(999), 1, 1) == IBV_WC_REM_ACCESS_ERR);
  CHECK(windows.write(key, windows.at(4999), 2, 2) == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("a bind changes the key of a type 1 window, and a length of 0 closes it") {
  Windows windows(3);
  nic::Mw* mw = windows.alloc(IBV_MW_TYPE_1);
  const std::uint32_t first = next_key(mw->rkey());
  REQUIRE(windows.bind_1(first, 0, 100, kReadWrite) == 0);
  REQUIRE(windows.bind_1(next_key(first), 100, 100, kReadWrite) == 0);
  windows.net.run();
  CHECK(windows.net.b.poll().size() == 2);
  CHECK(windows.write(first, windows.at(0), 1) == IBV_WC_REM_ACCESS_ERR);
  CHECK(windows.write(next_key(first), windows.at(100), 1, 1) == IBV_WC_SUCCESS);
  CHECK(windows.net.b.nic->mrs().dereg(windows.region) == EBUSY);
  const std::uint32_t closed = next_key(next_key(first));
  // On QP 1: the error above broke the first QP.
  windows.to[0] = windows.to[1];
  REQUIRE(windows.bind_1(closed, 0, 0, 0) == 0);
  CHECK(windows.complete(windows.net.b).status == IBV_WC_SUCCESS);
  CHECK(windows.write(closed, windows.at(100), 1, 2) == IBV_WC_REM_ACCESS_ERR);
  CHECK(windows.net.b.nic->mrs().dereg(windows.region) == 0);
}

TEST_CASE("a window that was never bound opens nothing, and one without the right does not give it") {
  Windows windows(2);
  nic::Mw* mw = windows.alloc(IBV_MW_TYPE_1);
  CHECK(windows.write(mw->rkey(), windows.at(0), 1) == IBV_WC_REM_ACCESS_ERR);
  windows.to[0] = windows.to[1];
  const std::uint32_t key = next_key(mw->rkey());
  REQUIRE(windows.bind_1(key, 0, 100, IBV_ACCESS_REMOTE_READ) == 0);
  CHECK(windows.complete(windows.net.b).status == IBV_WC_SUCCESS);
  CHECK(windows.access(IBV_WR_RDMA_READ, key, windows.at(0), 1, 1) == IBV_WC_SUCCESS);
  CHECK(windows.write(key, windows.at(0), 1, 1) == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("a type 2 window is open to the QP that bound it only, and its key's low byte is the application's") {
  Windows windows(2);
  nic::Mw* mw = windows.alloc(IBV_MW_TYPE_2);
  const std::uint32_t key = (mw->rkey() & ~0xffu) | 0xab;
  CHECK(windows.bind_2(mw, key, windows.region, windows.at(64), 64, kReadWrite) == IBV_WC_SUCCESS);
  CHECK(mw->rkey() == key);
  CHECK(windows.write(key, windows.at(64), 64) == IBV_WC_SUCCESS);
  CHECK(windows.write(key, windows.at(64), 64, 1) == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("of the key in a bind only the lowest byte counts: the rest is the window's") {
  for (const std::uint32_t key : {0x5au, 0xffffff5au, 0x1235au}) {
    CAPTURE(key);
    Windows windows;
    nic::Mw* mw = windows.alloc(IBV_MW_TYPE_2);
    const std::uint32_t bound = (mw->rkey() & ~0xffu) | 0x5a;
    CHECK(windows.bind_2(mw, key, windows.region, windows.at(64), 64, kReadWrite) == IBV_WC_SUCCESS);
    CHECK(mw->rkey() == bound);
    CHECK(windows.write(bound, windows.at(64), 64) == IBV_WC_SUCCESS);
  }
}

TEST_CASE("a type 2 window whose structure already has the new key cannot be bound") {
  Windows windows;
  nic::Mw* mw = windows.alloc(IBV_MW_TYPE_2);
  const std::uint32_t before = mw->rkey();
  ibv_mr face = {};
  face.lkey = windows.region->lkey();
  REQUIRE(windows.bind_2(next_key(before), next_key(before), {&face, windows.at(0), 64, kReadWrite}) == 0);
  CHECK(windows.complete(windows.net.b).status == IBV_WC_MW_BIND_ERR);
  CHECK(mw->rkey() == before);
}

TEST_CASE("a request invalidates a type 2 window, which may then be bound again") {
  Windows windows(2);
  nic::Mw* mw = windows.alloc(IBV_MW_TYPE_2);
  const std::uint32_t key = next_key(mw->rkey());
  CHECK(windows.bind_2(mw, key, windows.region, windows.at(0), 64, kReadWrite) == IBV_WC_SUCCESS);
  CHECK(windows.invalidate(key) == IBV_WC_SUCCESS);
  CHECK(windows.bind_2(mw, key, windows.region, windows.at(0), 64, kReadWrite) == IBV_WC_SUCCESS);
  CHECK(windows.invalidate(key) == IBV_WC_SUCCESS);
  CHECK(windows.net.b.nic->mrs().dereg(windows.region) == 0);
  CHECK(windows.write(key, windows.at(0), 1) == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("a bound type 2 window must be invalidated before it is bound again") {
  Windows windows;
  nic::Mw* mw = windows.alloc(IBV_MW_TYPE_2);
  const std::uint32_t key = next_key(mw->rkey());
  CHECK(windows.bind_2(mw, key, windows.region, windows.at(0), 64, kReadWrite) == IBV_WC_SUCCESS);
  CHECK(windows.bind_2(mw, next_key(key), windows.region, windows.at(0), 64, kReadWrite) == IBV_WC_MW_BIND_ERR);
  CHECK(windows.to[0]->state == IBV_QPS_ERR);
  CHECK(mw->rkey() == key);
}

TEST_CASE("an invalidate with a key that is no window of the QP fails") {
  const auto attempt = [](auto choose) {
    Windows windows(2);
    const std::uint32_t key = choose(windows);
    CHECK(windows.invalidate(key) == IBV_WC_MW_BIND_ERR);
    CHECK(windows.to[0]->state == IBV_QPS_ERR);
  };
  attempt([](Windows& windows) { return windows.region->rkey(); });
  attempt([](Windows& windows) { return windows.alloc(IBV_MW_TYPE_1)->rkey(); });
  attempt([](Windows& windows) { return next_key(windows.alloc(IBV_MW_TYPE_2)->rkey()); });
  attempt([](Windows&) { return 0xffffff00u; });
  attempt([](Windows& windows) {
    nic::Mw* mw = windows.alloc(IBV_MW_TYPE_2);
    const std::uint32_t key = next_key(mw->rkey());
    CHECK(windows.bind_2(mw, key, windows.region, windows.at(0), 64, kReadWrite, 1) == IBV_WC_SUCCESS);
    return key;  // QP 1 has it
  });
}

TEST_CASE("binds that fail") {
  struct Case {
    unsigned region_access;
    std::size_t offset;
    std::size_t length;
    unsigned access;
    bool allowed;
  };
  constexpr Case kCases[] = {
      {kBindable, 0, 8192, kReadWrite, true},
      {kBindable, 8191, 1, IBV_ACCESS_REMOTE_ATOMIC, true},
      {kBindable, 0, 64, IBV_ACCESS_LOCAL_WRITE, true},
      {kBindable, 0, 8193, kReadWrite, false},
      {kBindable, 8192, 1, kReadWrite, false},
      {kBindable, 0, 0, kReadWrite, false},
      {kBindable, 0, SIZE_MAX, kReadWrite, false},
      {kBindable, 0, 64, IBV_ACCESS_MW_BIND, false},
      {IBV_ACCESS_LOCAL_WRITE, 0, 64, IBV_ACCESS_REMOTE_READ, false},
      {IBV_ACCESS_MW_BIND, 0, 64, IBV_ACCESS_REMOTE_READ, true},
      {IBV_ACCESS_MW_BIND, 0, 64, IBV_ACCESS_REMOTE_WRITE, false},
      {IBV_ACCESS_MW_BIND, 0, 64, IBV_ACCESS_REMOTE_ATOMIC, false},
      {kBindable | IBV_ACCESS_ZERO_BASED, 0, 64, IBV_ACCESS_REMOTE_READ, false},
  };
  for (const Case& row : kCases) {
    CAPTURE(row.region_access);
    CAPTURE(row.length);
    CAPTURE(row.access);
    Windows windows;
    nic::Mr* region = windows.net.b.reg(windows.far.data(), windows.far.size(), row.region_access);
    nic::Mw* mw = windows.alloc(IBV_MW_TYPE_2);
    const std::uint32_t key = next_key(mw->rkey());
    CHECK(windows.bind_2(mw, key, region, windows.at(row.offset), row.length, row.access) ==
          (row.allowed ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR));
  }
}

TEST_CASE("a zero-based window is addressed from 0") {
  Windows windows(2);
  nic::Mw* mw = windows.alloc(IBV_MW_TYPE_2);
  const std::uint32_t key = next_key(mw->rkey());
  CHECK(windows.bind_2(mw, key, windows.region, windows.at(128), 64, kReadWrite | IBV_ACCESS_ZERO_BASED) ==
        IBV_WC_SUCCESS);
  CHECK(windows.write(key, 0, 64) == IBV_WC_SUCCESS);
  CHECK(std::equal(windows.near.begin(), windows.near.begin() + 64, windows.far.begin() + 128));
  CHECK(windows.write(key, 1, 64) == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("a window of another PD, of the wrong type or with a wrong key gets a NAK") {
  Windows windows(2);
  nic::Nic& nic = *windows.net.b.nic;
  nic::Mw* mw = nullptr;
  CHECK(nic.mws().alloc(windows.net.b.pd, static_cast<ibv_mw_type>(3), &mw) == EINVAL);
  nic::Pd* pd = nullptr;
  REQUIRE(nic.pds().alloc(&pd) == 0);
  REQUIRE(nic.mws().alloc(pd, IBV_MW_TYPE_2, &mw) == 0);
  CHECK(nic.pds().dealloc(pd) == EBUSY);
  CHECK(windows.bind_2(mw, next_key(mw->rkey()), windows.region, windows.at(0), 64, kReadWrite) == IBV_WC_MW_BIND_ERR);
  CHECK(nic.mws().dealloc(mw) == 0);
  CHECK(nic.pds().dealloc(pd) == 0);

  ibv_mw type_1 = {};
  type_1.type = IBV_MW_TYPE_1;
  ibv_send_wr wr = {};
  ibv_send_wr* bad = nullptr;
  wr.opcode = IBV_WR_BIND_MW;
  CHECK(nic.data_path().post_send(windows.to[1], &wr, &bad) == EINVAL);
  wr.bind_mw.mw = &type_1;
  CHECK(nic.data_path().post_send(windows.to[1], &wr, &bad) == EINVAL);
  CHECK(windows.bind_1(0x100, 0, 64, IBV_ACCESS_ZERO_BASED) == EINVAL);
}

TEST_CASE("after its QP or itself is destroyed, a window gives no access and its region may be deregistered") {
  Windows windows(2);
  nic::Nic& nic = *windows.net.b.nic;
  nic::Mw* by_qp = windows.alloc(IBV_MW_TYPE_2);
  nic::Mw* by_hand = windows.alloc(IBV_MW_TYPE_2);
  CHECK(windows.bind_2(by_qp, by_qp->rkey() ^ 1, windows.region, windows.at(0), 64, kReadWrite, 0) == IBV_WC_SUCCESS);
  CHECK(windows.bind_2(by_hand, by_hand->rkey() ^ 1, windows.region, windows.at(0), 64, kReadWrite, 1) ==
        IBV_WC_SUCCESS);
  const std::uint32_t key = by_hand->rkey();
  REQUIRE(nic.qps().destroy(windows.to[0]) == 0);
  CHECK(nic.mrs().dereg(windows.region) == EBUSY);
  REQUIRE(nic.mws().dealloc(by_hand) == 0);
  CHECK(windows.write(key, windows.at(0), 1, 1) == IBV_WC_REM_ACCESS_ERR);
  CHECK(nic.mrs().dereg(windows.region) == 0);
  CHECK(nic.mws().dealloc(by_qp) == 0);
}

TEST_CASE("UC binds windows too") {
  Windows windows(1, IBV_QPT_UC);
  nic::Mw* mw = windows.alloc(IBV_MW_TYPE_2);
  const std::uint32_t key = next_key(mw->rkey());
  CHECK(windows.bind_2(mw, key, windows.region, windows.at(64), 64, IBV_ACCESS_REMOTE_WRITE) == IBV_WC_SUCCESS);
  CHECK(windows.write(key, windows.at(64), 64) == IBV_WC_SUCCESS);
  CHECK(std::equal(windows.near.begin(), windows.near.begin() + 64, windows.far.begin() + 64));
  CHECK(windows.bind_2(mw, key, windows.region, windows.at(0), 64, IBV_ACCESS_REMOTE_WRITE) == IBV_WC_MW_BIND_ERR);
  CHECK(windows.to[0]->state == IBV_QPS_SQE);
}

TEST_CASE("a bind waits for the requests before it") {
  Windows windows;
  nic::Mw* mw = windows.alloc(IBV_MW_TYPE_2);
  const std::uint32_t key = next_key(mw->rkey());
  // A message without a posted receive request blocks the queue.
  const nic::Mr* readable = windows.net.b.reg(windows.far.data(), windows.far.size());
  REQUIRE(post_send(windows.net.b, windows.to[0], {.wr_id = 1, .sges = {sge_of(windows.far.data(), 16, readable)}}) ==
          0);
  ibv_mr face = {};
  face.lkey = windows.region->lkey();
  REQUIRE(windows.bind_2(mw, key, {&face, windows.at(0), 64, kReadWrite}) == 0);
  windows.net.run(kMillisecond);
  CHECK(windows.net.b.poll().empty());
  CHECK(mw->rkey() != key);
  REQUIRE(post_recv(windows.net.a, windows.from[0], 9, {sge_of(windows.near.data(), 16, windows.local)}) == 0);
  windows.net.run();
  const auto completions = windows.net.b.poll();
  REQUIRE(completions.size() == 2);
  CHECK(completions[0].wr_id == 1);
  CHECK(completions[1].opcode == IBV_WC_BIND_MW);
  CHECK(mw->rkey() == key);
}

TEST_CASE("SEND with invalidate closes the receiver's window when the data has arrived") {
  for (const std::uint32_t size : {0u, 100u, 5000u}) {
    CAPTURE(size);
    Windows test;
    nic::Mw* mw = test.alloc(IBV_MW_TYPE_2);
    const std::uint32_t rkey = mw->rkey() ^ 1;
    REQUIRE(test.bind_2(mw, rkey, test.region, test.at(0), 4096, kReadWrite) == IBV_WC_SUCCESS);
    REQUIRE(post_recv(test.net.b, test.to[0], 7, {sge_of(test.far.data(), 8192, test.region)}) == 0);
    // `imm` is in a union with the key, which is in the host's byte order.
    REQUIRE(post_send(
                test.net.a, test.from[0],
                {.opcode = IBV_WR_SEND_WITH_INV, .sges = {sge_of(test.near.data(), size, test.local)}, .imm = rkey}) ==
            0);
    CHECK(test.complete(test.net.a).status == IBV_WC_SUCCESS);
    const auto received = test.net.b.poll();
    REQUIRE(received.size() == 1);
    CHECK(received[0].status == IBV_WC_SUCCESS);
    CHECK(received[0].wc_flags == IBV_WC_WITH_INV);
    CHECK(received[0].invalidated_rkey == rkey);
    CHECK(received[0].byte_len == size);
    CHECK(std::equal(test.near.begin(), test.near.begin() + size, test.far.begin()));
    REQUIRE(post_send(test.net.a, test.from[0],
                      {.opcode = IBV_WR_RDMA_WRITE,
                       .sges = {sge_of(test.near.data(), 64, test.local)},
                       .remote_addr = test.at(0),
                       .rkey = rkey}) == 0);
    CHECK(test.complete(test.net.a).status == IBV_WC_REM_ACCESS_ERR);
  }
}

TEST_CASE("a remote invalidate that fails is an error of the receiver, and a timeout of the sender") {
  for (const bool region : {true, false}) {
    CAPTURE(region);
    Windows test;
    const std::uint32_t rkey = region ? test.region->rkey() : test.alloc(IBV_MW_TYPE_1)->rkey();
    REQUIRE(post_recv(test.net.b, test.to[0], 7, {sge_of(test.far.data(), 8192, test.region)}) == 0);
    REQUIRE(
        post_send(test.net.a, test.from[0],
                  {.opcode = IBV_WR_SEND_WITH_INV, .sges = {sge_of(test.near.data(), 64, test.local)}, .imm = rkey}) ==
        0);
    CHECK(test.complete(test.net.a).status == IBV_WC_RETRY_EXC_ERR);
    const auto received = test.net.b.poll();
    REQUIRE(received.size() == 1);
    CHECK(received[0].status == IBV_WC_REM_INV_REQ_ERR);
    CHECK(test.net.b.saw(IBV_EVENT_QP_REQ_ERR));
    CHECK(test.to[0]->state == IBV_QPS_ERR);
  }
}
