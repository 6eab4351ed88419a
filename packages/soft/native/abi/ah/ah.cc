#include <cerrno>

#include "abi/ah/address_from_wc.h"
#include "abi/model/control_verbs.h"
#include "abi/objects/objects.h"

using namespace verbs::soft;

namespace {

// The NIC's address handle begins with the ibv_ah, so that posting a datagram needs no look-up.
nic::Ah* nic_of(ibv_ah* ibv) { return reinterpret_cast<nic::Ah*>(ibv); }

void destroy_ah(void* object) { ibv_destroy_ah(static_cast<ibv_ah*>(object)); }

int destroy_in_nic(ibv_context* context, nic::Ah* ah) {
  return abi::control(context, [&](nic::Nic& nic, link::Nanos) { return nic.ahs().destroy(ah); });
}

int publish(ibv_ah* ibv, ibv_pd* pd) {
  abi::Handles::Place place(abi::of(pd->context)->handles, ibv, abi::Kind::kAh, destroy_ah);
  ibv->context = pd->context;
  ibv->pd = pd;
  ibv->handle = place.handle();
  place.publish(abi::users_of(pd));
  return 0;
}

int init_from_wc(ibv_context* context, std::uint8_t port_num, const ibv_wc& wc, const ibv_grh* grh, ibv_ah_attr* attr) {
  abi::Uses uses;
  if (const int error = uses.add(context)) return error;
  return abi::address_from_wc(context, port_num, wc, grh, attr);
}

}  // namespace

extern "C" {

ibv_ah* soft_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  return verb([&]() -> ibv_ah* {
    nic::Ah* ah = nullptr;
    const int error = abi::control(
        pd->context, [&](nic::Nic& nic, link::Nanos) { return nic.ahs().create(abi::of(pd)->nic, attr, &ah); });
    if (error != 0) return abi::null_with<ibv_ah>(error);
    // The NIC allocates the memory of the structure, so that its place comes after it.
    const int failed = contain([&] { return publish(&ah->ibv, pd); }, [](int lacking) { return lacking; });
    if (failed == 0) return &ah->ibv;
    destroy_in_nic(pd->context, ah);
    return abi::null_with<ibv_ah>(failed);
  });
}

int ibv_init_ah_from_wc(ibv_context* context, std::uint8_t port_num, ibv_wc* wc, ibv_grh* grh, ibv_ah_attr* attr) {
  return verb([&] { return init_from_wc(context, port_num, *wc, grh, attr); }) == 0 ? 0 : -1;
}

ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port_num) {
  if (const int error = abi::check(pd)) return abi::null_with<ibv_ah>(error);
  ibv_ah_attr attr;
  if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr) != 0) return nullptr;
  return ibv_create_ah(pd, &attr);
}

int ibv_destroy_ah(ibv_ah* ibv) {
  return verb([&] {
    abi::Retirement retirement;
    if (const int error = retirement.begin(ibv)) return error;
    ibv_context* context = ibv->context;
    if (const int error = abi::of(context)->adapter->core.reject_inherited()) return error;
    // Nothing can fail from here on. The memory may be another thread's new handle as soon as the NIC has freed it.
    abi::of(context)->handles.remove(ibv);
    return destroy_in_nic(context, nic_of(ibv));
  });
}

}  // extern "C"
