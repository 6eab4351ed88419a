// The limits on the number of objects: a creation beyond one is ENOMEM, and works again after an object is destroyed.
#include <doctest/doctest.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <vector>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

struct Limited final : nic::EventSink {
  CableEnd cable;
  nic::Pd* pd = nullptr;
  nic::Cq* cq = nullptr;
  nic::Nic nic;

  Limited() : nic(config(), *this) {
    REQUIRE(nic.pds().alloc(&pd) == 0);
    REQUIRE(nic.cqs().create(16, this, &cq) == 0);
  }

  void completion(nic::Cq*) override {}
  void async(const nic::AsyncEvent&) override {}

  nic::NicConfig config() {
    nic::NicConfig config;
    nic::Limits& limits = config.limits;
    limits.max_pd = limits.max_cq = limits.max_ah = limits.max_mr = limits.max_mw = limits.max_qp = limits.max_srq = 2;
    const std::uint8_t address[4] = {10, 0, 0, 1};
    config.ports.push_back({&cable, {wire::Gid::from_ipv4(address)}});
    return config;
  }
};

// Creates objects up to the limit, meets ENOMEM, and creates one again in place of another.
template <typename Object>
void check_limit(std::size_t room, const std::function<int(Object**)>& create,
                 const std::function<int(Object*)>& destroy) {
  std::vector<Object*> objects(room);
  for (Object*& object : objects) REQUIRE(create(&object) == 0);
  Object* rest = nullptr;
  CHECK(create(&rest) == ENOMEM);
  CHECK(rest == nullptr);
  REQUIRE(destroy(objects[0]) == 0);
  CHECK(create(&objects[0]) == 0);
  for (Object* object : objects) CHECK(destroy(object) == 0);
}

}  // namespace

TEST_CASE("a creation beyond the limit of a kind of object is ENOMEM") {
  Limited test;
  nic::Nic& nic = test.nic;
  alignas(8) std::uint8_t memory[64] = {};
  check_limit<nic::Pd>(
      1, [&](nic::Pd** pd) { return nic.pds().alloc(pd); }, [&](nic::Pd* pd) { return nic.pds().dealloc(pd); });
  check_limit<nic::Cq>(
      1, [&](nic::Cq** cq) { return nic.cqs().create(16, nullptr, cq); },
      [&](nic::Cq* cq) { return nic.cqs().destroy(cq); });
  check_limit<nic::Mr>(
      2,
      [&](nic::Mr** mr) {
        return nic.mrs().reg(test.pd, memory, sizeof memory, reinterpret_cast<std::uint64_t>(memory), 0, mr);
      },
      [&](nic::Mr* mr) { return nic.mrs().dereg(mr); });
  check_limit<nic::Mw>(
      2, [&](nic::Mw** mw) { return nic.mws().alloc(test.pd, IBV_MW_TYPE_2, mw); },
      [&](nic::Mw* mw) { return nic.mws().dealloc(mw); });
  check_limit<nic::Ah>(
      2,
      [&](nic::Ah** ah) {
        ibv_ah_attr attr = {};
        attr.is_global = 1;
        attr.port_num = 1;
        wire::Gid gid;
        REQUIRE(nic.ports().query_gid(1, 0, &gid) == 0);
        std::memcpy(attr.grh.dgid.raw, gid.bytes.data(), sizeof attr.grh.dgid.raw);
        return nic.ahs().create(test.pd, &attr, ah);
      },
      [&](nic::Ah* ah) { return nic.ahs().destroy(ah); });
  check_limit<nic::Srq>(
      2,
      [&](nic::Srq** srq) {
        ibv_srq_attr attr{.max_wr = 4, .max_sge = 1, .srq_limit = 0};
        return nic.srqs().create(test.pd, &attr, nullptr, srq);
      },
      [&](nic::Srq* srq) { return nic.srqs().destroy(srq); });
  check_limit<nic::Qp>(
      2,
      [&](nic::Qp** qp) {
        ibv_qp_init_attr init = {};
        init.qp_type = IBV_QPT_RC;
        return nic.qps().create({.pd = test.pd, .send_cq = test.cq, .recv_cq = test.cq}, &init, nullptr, qp);
      },
      [&](nic::Qp* qp) { return nic.qps().destroy(qp); });
  check_limit<nic::Xrcd>(
      1u << 16, [&](nic::Xrcd** xrcd) { return nic.xrcds().open(nullptr, true, false, xrcd); },
      [&](nic::Xrcd* xrcd) { return nic.xrcds().close(xrcd); });
}
