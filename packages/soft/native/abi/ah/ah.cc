#include <cerrno>

#include "abi/ah/address_from_wc.h"
#include "abi/model/control_verbs.h"
#include "abi/objects/objects.h"

using namespace verbs::soft;

namespace {

// The NIC's address handle begins with the ibv_ah, so that posting a datagram needs no look-up.
nic::Ah* nic_of(ibv_ah* ibv) { return reinterpret_cast<nic::Ah*>(ibv); }

void destroy_ah(void* object) { ibv_destroy_ah(static_cast<ibv_ah*>(object)); }

}  // namespace

extern "C" {

ibv_ah* soft_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  nic::Ah* ah = nullptr;
  const int error = abi::control(
      pd->context, [&](nic::Nic& nic, link::Nanos) { return nic.ahs().create(abi::of(pd)->nic, attr, &ah); });
  if (error != 0) return abi::null_with<ibv_ah>(error);
  ibv_ah* ibv = &ah->ibv;
  ibv->context = pd->context;
  ibv->pd = pd;
  ibv->handle = abi::of(pd->context)->handles.add(ibv, destroy_ah, abi::users_of(pd));
  return ibv;
}

int ibv_init_ah_from_wc(ibv_context* context, std::uint8_t port_num, ibv_wc* wc, ibv_grh* grh, ibv_ah_attr* attr) {
  const int error = abi::address_from_wc(context, port_num, *wc, grh, attr);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port_num) {
  if (!abi::is_live(pd)) return abi::null_with<ibv_ah>(EINVAL);
  ibv_ah_attr attr;
  if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr) != 0) return nullptr;
  return ibv_create_ah(pd, &attr);
}

int ibv_destroy_ah(ibv_ah* ibv) {
  if (!abi::is_live(ibv)) return EINVAL;
  abi::Context* context = abi::of(ibv->context);
  const std::uint32_t handle = ibv->handle;
  // The NIC frees the memory of the verbs structure, and another thread's new handle may get it at once.
  if (!context->handles.retire(handle, ibv)) return EINVAL;
  const int error =
      abi::control(&context->verbs.context, [&](nic::Nic& nic, link::Nanos) { return nic.ahs().destroy(nic_of(ibv)); });
  if (error != 0) {
    context->handles.restore(handle);
    return error;
  }
  context->handles.erase_retired(handle);
  return 0;
}

}  // extern "C"
