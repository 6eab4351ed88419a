// Objects whose handle or context was altered, that were destroyed, or that are of another type: every call rejects
// them as the kernel does, destroys nothing, and leaves the error in errno too.
#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

struct Objects {
  explicit Objects(const End& end) : context(end.context.get()), pd(ibv_alloc_pd(context)) {
    mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
    mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
    ibv_alloc_dm_attr dm_attr{.length = 64, .log_align_req = 0, .comp_mask = 0};
    dm = ibv_alloc_dm(context, &dm_attr);
    channel = ibv_create_comp_channel(context);
    cq = ibv_create_cq(context, 4, nullptr, nullptr, 0);
    ibv_srq_init_attr srq_attr{.srq_context = nullptr, .attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0}};
    srq = ibv_create_srq(pd, &srq_attr);
    ibv_qp_init_attr qp_attr{};
    qp_attr.send_cq = qp_attr.recv_cq = cq;
    qp_attr.qp_type = IBV_QPT_UD;
    qp_attr.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    qp = ibv_create_qp(pd, &qp_attr);
    ibv_ah_attr address = End::address_of(end);
    ah = ibv_create_ah(pd, &address);
    ibv_td_init_attr td_attr{};
    td = ibv_alloc_td(context, &td_attr);
    ibv_parent_domain_init_attr domain_attr{};
    domain_attr.pd = pd;
    domain = ibv_alloc_parent_domain(context, &domain_attr);
    ibv_xrcd_init_attr xrcd_attr{.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = 0};
    xrcd = ibv_open_xrcd(context, &xrcd_attr);
    REQUIRE((mr && mw && dm && channel && cq && srq && qp && ah && td && domain && xrcd));
  }

  char memory[64] = {};
  ibv_context* context;
  ibv_pd* pd;
  ibv_mr* mr;
  ibv_mw* mw;
  ibv_dm* dm;
  ibv_comp_channel* channel;
  ibv_cq* cq;
  ibv_srq* srq;
  ibv_qp* qp;
  ibv_ah* ah;
  ibv_td* td;
  ibv_pd* domain;
  ibv_xrcd* xrcd;
};

// An object with its destroy call, in an order in which nothing is busy.
struct Case {
  const char* name;
  ibv_context** context;
  std::uint32_t* handle;  // nullptr: the structure has none
  std::function<int()> destroy;
};

std::vector<Case> cases(Objects& o) {
  return {
      {"xrcd", &o.xrcd->context, nullptr, [&] { return ibv_close_xrcd(o.xrcd); }},
      {"td", &o.td->context, nullptr, [&] { return ibv_dealloc_td(o.td); }},
      {"channel", &o.channel->context, nullptr, [&] { return ibv_destroy_comp_channel(o.channel); }},
      {"parent domain", &o.domain->context, &o.domain->handle, [&] { return ibv_dealloc_pd(o.domain); }},
      {"ah", &o.ah->context, &o.ah->handle, [&] { return ibv_destroy_ah(o.ah); }},
      {"qp", &o.qp->context, &o.qp->handle, [&] { return ibv_destroy_qp(o.qp); }},
      {"srq", &o.srq->context, &o.srq->handle, [&] { return ibv_destroy_srq(o.srq); }},
      {"cq", &o.cq->context, &o.cq->handle, [&] { return ibv_destroy_cq(o.cq); }},
      {"dm", &o.dm->context, &o.dm->handle, [&] { return o.context ? ibv_free_dm(o.dm) : 0; }},
      {"mw", &o.mw->context, &o.mw->handle, [&] { return ibv_dealloc_mw(o.mw); }},
      {"mr", &o.mr->context, &o.mr->handle, [&] { return ibv_dereg_mr(o.mr); }},
      {"pd", &o.pd->context, &o.pd->handle, [&] { return ibv_dealloc_pd(o.pd); }},
  };
}

int destroy(const Case& each) {
  errno = 0;
  const int error = each.destroy();
  CHECK_MESSAGE(errno == error, each.name);
  return error;
}

}  // namespace

TEST_CASE("an object with an altered handle or context is not destroyed, and is destroyed with the right one") {
  configure("x0;y0");
  const End a("x0"), b("y0");
  Objects objects(a);
  for (const Case& each : cases(objects)) {
    CAPTURE(each.name);
    if (each.handle) {
      const std::uint32_t handle = *each.handle;
      for (const std::uint32_t wrong : {handle + 1000, handle ^ 0x80000000u, UINT32_MAX}) {
        *each.handle = wrong;
        CHECK(destroy(each) == ENOENT);
      }
      for (const std::uint32_t other : {a.qp->handle, a.cq->handle, a.mr->handle, a.pd->handle}) {
        *each.handle = other;
        CHECK(destroy(each) == EINVAL);
      }
      *each.handle = handle;
    }
    // The inline functions of the header call through the context, so only another live one can stand there.
    ibv_context* context = std::exchange(*each.context, b.context.get());
    CHECK(destroy(each) == ENOENT);
    *each.context = context;
    CHECK(destroy(each) == 0);
  }
}

TEST_CASE("a context that is none of ours is not followed") {
  configure("x0;y0");
  const End a("x0");
  Objects o(a);
  const auto garbled = reinterpret_cast<ibv_context*>(std::uintptr_t{0x10});
  const auto altered = [&](ibv_context** context, const auto& call) {
    ibv_context* right = std::exchange(*context, garbled);
    const int error = call();
    *context = right;
    return error;
  };
  CHECK(altered(&o.ah->context, [&] { return ibv_destroy_ah(o.ah); }) == ENOENT);
  CHECK(altered(&o.qp->context, [&] { return ibv_destroy_qp(o.qp); }) == ENOENT);
  CHECK(altered(&o.srq->context, [&] { return ibv_destroy_srq(o.srq); }) == ENOENT);
  CHECK(altered(&o.cq->context, [&] { return ibv_destroy_cq(o.cq); }) == ENOENT);
  CHECK(altered(&o.cq->context, [&] { return ibv_resize_cq(o.cq, 8); }) == EINVAL);
  CHECK(altered(&o.mr->context, [&] { return ibv_dereg_mr(o.mr); }) == ENOENT);
  CHECK(altered(&o.pd->context, [&] { return ibv_dealloc_pd(o.pd); }) == ENOENT);
  CHECK(altered(&o.channel->context, [&] { return ibv_destroy_comp_channel(o.channel); }) == ENOENT);
  for (const Case& each : cases(o)) CHECK(destroy(each) == 0);
}

TEST_CASE("calls that use an object with an altered handle fail, and create nothing") {
  configure("x0;y0");
  const End a("x0"), b("y0");
  Objects o(a);
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  ibv_srq_attr srq_attr{.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  const auto with = [](std::uint32_t* handle, const auto& call) {
    *handle += 1000;
    errno = 0;
    const auto result = call();
    const int error = errno;
    *handle -= 1000;
    if constexpr (std::is_pointer_v<std::remove_cv_t<decltype(result)>>) {
      CHECK(result == nullptr);
    } else {
      CHECK(result == error);
    }
    return error;
  };
  CHECK(with(&o.qp->handle, [&] { return ibv_modify_qp(o.qp, &attr, 0); }) == EINVAL);
  CHECK(with(&o.qp->handle, [&] { return ibv_query_qp(o.qp, &attr, 0, &init); }) == EINVAL);
  const ibv_gid group{{0xff, 0x0e}};
  CHECK(with(&o.qp->handle, [&] { return ibv_attach_mcast(o.qp, &group, 0); }) == EINVAL);
  CHECK(with(&o.qp->handle, [&] { return ibv_detach_mcast(o.qp, &group, 0); }) == EINVAL);
  CHECK(with(&o.cq->handle, [&] { return ibv_resize_cq(o.cq, 8); }) == EINVAL);
  ibv_modify_cq_attr moderation{.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = {}};
  CHECK(with(&o.cq->handle, [&] { return ibv_modify_cq(o.cq, &moderation); }) == EINVAL);
  CHECK(with(&o.srq->handle, [&] { return ibv_modify_srq(o.srq, &srq_attr, IBV_SRQ_LIMIT); }) == EINVAL);
  CHECK(with(&o.srq->handle, [&] { return ibv_query_srq(o.srq, &srq_attr); }) == EINVAL);
  CHECK(with(&o.pd->handle, [&] { return (ibv_reg_mr)(o.pd, o.memory, 8, 0); }) == EINVAL);
  CHECK(with(&o.pd->handle, [&] { return ibv_alloc_mw(o.pd, IBV_MW_TYPE_1); }) == EINVAL);
  ibv_ah_attr address = End::address_of(a);
  CHECK(with(&o.pd->handle, [&] { return ibv_create_ah(o.pd, &address); }) == EINVAL);
  ibv_srq_init_attr srq_init{.srq_context = nullptr, .attr = srq_attr};
  CHECK(with(&o.pd->handle, [&] { return ibv_create_srq(o.pd, &srq_init); }) == ENOENT);
  ibv_qp_init_attr qp_attr{};
  qp_attr.send_cq = qp_attr.recv_cq = o.cq;
  qp_attr.qp_type = IBV_QPT_RC;
  qp_attr.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  CHECK(with(&o.pd->handle, [&] { return ibv_create_qp(o.pd, &qp_attr); }) == ENOENT);
  CHECK(with(&o.cq->handle, [&] { return ibv_create_qp(o.pd, &qp_attr); }) == ENOENT);
  CHECK(with(&o.dm->handle, [&] { return ibv_reg_dm_mr(o.pd, o.dm, 0, 8, IBV_ACCESS_ZERO_BASED); }) == ENOENT);
  CHECK(with(&o.mr->handle, [&] {
          const int code = ibv_rereg_mr(o.mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0);
          return code == IBV_REREG_MR_ERR_INPUT ? errno : -1;
        }) == ENOENT);
  // Nothing was left behind: each object can be destroyed, and no domain is busy.
  for (const Case& each : cases(o)) CHECK(destroy(each) == 0);
}

TEST_CASE("an object of another type is EINVAL, a context is no object, and destroyed ones are ENOENT") {
  configure("x0;y0");
  const End a("x0");
  Objects o(a);
  CHECK(ibv_destroy_qp(reinterpret_cast<ibv_qp*>(o.cq)) == EINVAL);
  CHECK(ibv_destroy_cq(reinterpret_cast<ibv_cq*>(o.qp)) == EINVAL);
  CHECK(ibv_dealloc_pd(reinterpret_cast<ibv_pd*>(o.ah)) == EINVAL);
  CHECK(ibv_dealloc_pd(reinterpret_cast<ibv_pd*>(o.context)) == EINVAL);
  CHECK(ibv_alloc_pd(reinterpret_cast<ibv_context*>(o.pd)) == nullptr);
  CHECK(errno == EINVAL);
  char foreign[512] = {};
  CHECK(ibv_destroy_qp(reinterpret_cast<ibv_qp*>(foreign)) == ENOENT);
  CHECK(ibv_destroy_cq(nullptr) == ENOENT);
  const std::vector<Case> all = cases(o);
  ibv_qp* qp = o.qp;
  ibv_ah* ah = o.ah;
  for (const Case& each : all) CHECK(destroy(each) == 0);
  CHECK(ibv_destroy_qp(qp) == ENOENT);
  CHECK(ibv_destroy_ah(ah) == ENOENT);
  ibv_async_event event{.element = {.qp = qp}, .event_type = IBV_EVENT_QP_FATAL};
  ibv_ack_async_event(&event);  // of a destroyed queue pair: nothing happens
}

TEST_CASE("a refused destroy leaves EBUSY in errno as well") {
  configure("x0;y0");
  const End a("x0");
  errno = 0;
  CHECK(ibv_dealloc_pd(a.pd) == EBUSY);
  CHECK(errno == EBUSY);
  errno = 0;
  CHECK(ibv_destroy_cq(a.cq) == EBUSY);
  CHECK(errno == EBUSY);
  ibv_qp_attr attr{};
  errno = 0;
  attr.qp_state = IBV_QPS_RTS;
  CHECK(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) == EINVAL);
  CHECK(errno == EINVAL);
  ibv_send_wr wr{}, *bad = nullptr;
  errno = 0;
  CHECK(ibv_post_send(a.qp, &wr, &bad) == EINVAL);
  CHECK(errno == EINVAL);
}

TEST_CASE("of the threads that destroy one object, one succeeds") {
  configure("x0;y0");
  const End a("x0");
  for (int round = 0; round < 200; ++round) {
    ibv_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = a.cq;
    attr.qp_type = IBV_QPT_RC;
    attr.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    ibv_qp* qp = ibv_create_qp(a.pd, &attr);
    REQUIRE(qp);
    std::atomic<int> destroyed{0}, refused{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        const int error = ibv_destroy_qp(qp);
        if (error == 0) ++destroyed;
        if (error == ENOENT || error == EBUSY) ++refused;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(destroyed == 1);
    CHECK(refused == 2);
  }
}

TEST_CASE("a thread may destroy what others use: each call fails or succeeds, and none follows a stale pointer") {
  configure("x0;y0");
  const End a("x0");
  // The threads share the slots without any agreement.
  std::atomic<ibv_pd*> pds[4] = {};
  std::atomic<ibv_cq*> cqs[4] = {};
  std::atomic<ibv_qp*> qps[4] = {};
  std::vector<std::thread> threads;
  std::atomic<int> calls{0};
  for (unsigned seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&, seed]() mutable {
      const auto pick = [&](unsigned count) { return (seed = seed * 1103515245 + 12345) >> 16 & (count - 1); };
      for (int i = 0; i < 4000; ++i) {
        auto& pd = pds[pick(4)];
        auto& cq = cqs[pick(4)];
        auto& qp = qps[pick(4)];
        ibv_qp_init_attr attr{};
        attr.send_cq = attr.recv_cq = cq;
        attr.qp_type = IBV_QPT_RC;
        attr.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
        ibv_qp_attr state{};
        switch (pick(8)) {
          case 0:
            if (ibv_pd* made = ibv_alloc_pd(a.context.get())) pd = made;
            break;
          case 1:
            if (ibv_cq* made = ibv_create_cq(a.context.get(), 4, nullptr, nullptr, 0)) cq = made;
            break;
          case 2:
          case 3:
            if (ibv_qp* made = ibv_create_qp(pd, &attr)) qp = made;
            break;
          case 4:
            ibv_dealloc_pd(pd);
            break;
          case 5:
            ibv_destroy_cq(cq);
            break;
          case 6:
            ibv_destroy_qp(qp);
            break;
          default:
            ibv_query_qp(qp, &state, 0, &attr);
            ibv_resize_cq(cq, 8);
        }
        ++calls;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(calls == 16000);
}
