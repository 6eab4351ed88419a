#include "abi/memory/mw.h"

#include <cerrno>

#include "abi/objects/objects.h"

namespace verbs::soft::abi {
namespace {

void destroy_mw(void* object) { dealloc_mw(static_cast<ibv_mw*>(object)); }

}  // namespace

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
  Uses uses;
  if (const int error = uses.add(pd)) return null_with<ibv_mw>(error);
  auto mw = std::make_unique<Mw>();
  ibv_mw& ibv = mw->ibv;
  Handles::Place place(of(pd->context)->handles, &ibv, Kind::kMw, destroy_mw);
  const int error = control(pd->context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = nic.mws().alloc(of(pd)->nic, type, &mw->nic);
    if (failure == 0) ibv.rkey = mw->nic->rkey();
    return failure;
  });
  if (error != 0) return null_with<ibv_mw>(error);
  ibv.context = pd->context;
  ibv.pd = pd;
  ibv.type = type;
  ibv.handle = place.handle();
  place.publish(users_of(pd));
  return &mw.release()->ibv;
}

int dealloc_mw(ibv_mw* ibv) {
  Retirement retirement;
  if (const int error = retirement.begin(ibv)) return error;
  Mw* mw = of(ibv);
  const int error = control(ibv->context, [&](nic::Nic& nic, link::Nanos) { return nic.mws().dealloc(mw->nic); });
  if (error != 0) return error;
  of(ibv->context)->handles.remove(ibv);
  delete mw;
  return 0;
}

// ibv_bind_mw() has checked the window's type and its PD. The key changes when the request is posted, not when it is
// executed, so that several requests can be outstanding.
int bind_mw(ibv_qp* qp, ibv_mw* ibv, ibv_mw_bind* bind) {
  Uses uses;
  if (const int error = uses.add(qp)) return error;
  if (const int error = use_with(uses, ibv, qp->context)) return error;
  const std::uint32_t rkey = ibv_inc_rkey(ibv->rkey);
  const int error = control(
      qp->context, [&](nic::Nic& nic, link::Nanos) { return nic.data_path().post_bind(of(qp)->nic, bind, rkey); });
  if (error == 0) ibv->rkey = rkey;
  return error;
}

}  // namespace verbs::soft::abi
