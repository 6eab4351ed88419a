#include "../nic/ah.h"

#include <cerrno>

#include "address_from_wc.h"
#include "objects.h"

using namespace verbs::soft;

namespace {

void destroy(void* object) { ibv_destroy_ah(static_cast<ibv_ah*>(object)); }

}  // namespace

extern "C" {

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  auto ah = std::make_unique<abi::Ah>();
  const int error = abi::control(pd->context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = nic.create_ah(abi::of(pd)->nic, attr, &ah->nic);
    // Datagrams name their address handle by the NIC's own number.
    if (failure == 0) ah->face.handle = ah->nic->handle;
    return failure;
  });
  if (error != 0) return abi::null_with<ibv_ah>(error);
  ah->face.context = pd->context;
  ah->face.pd = pd;
  ah->context_handle = abi::of(pd->context)->handles.add(ah.get(), destroy);
  return &ah.release()->face;
}

int ibv_init_ah_from_wc(ibv_context* context, std::uint8_t port_num, ibv_wc* wc, ibv_grh* grh, ibv_ah_attr* attr) {
  const int error = abi::address_from_wc(context, port_num, *wc, grh, attr);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port_num) {
  ibv_ah_attr attr;
  if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr) != 0) return nullptr;
  return ibv_create_ah(pd, &attr);
}

int ibv_destroy_ah(ibv_ah* face) {
  abi::Ah* ah = abi::of(face);
  const int error = abi::control(face->context, [&](nic::Nic& nic, link::Nanos) { return nic.destroy_ah(ah->nic); });
  if (error != 0) return error;
  abi::of(face->context)->handles.remove(ah->context_handle);
  delete ah;
  return 0;
}

}  // extern "C"
