#include "abi/memory/parent_domain.h"

#include <cerrno>

#include "abi/objects/objects.h"

namespace verbs::soft::abi {

namespace {

void destroy_td(void* object) { dealloc_td(static_cast<ibv_td*>(object)); }
void destroy_domain(void* object) { ibv_dealloc_pd(static_cast<ibv_pd*>(object)); }

bool is_complete(const ibv_parent_domain_init_attr& attr) {
  constexpr std::uint32_t kKnown = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
  const bool allocates = (attr.comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0;
  return (attr.comp_mask & ~kKnown) == 0 && (!allocates || (attr.alloc && attr.free));
}

}  // namespace

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attr) {
  if (!is_live(context) || attr->comp_mask != 0) return null_with<ibv_td>(EINVAL);
  auto td = std::make_unique<Td>();
  td->ibv.context = context;
  td->handle = of(context)->handles.add(td.get(), destroy_td);
  return &td.release()->ibv;
}

int dealloc_td(ibv_td* ibv) {
  if (!is_live(ibv)) return EINVAL;
  if (of(ibv)->users != 0) return EBUSY;
  of(ibv->context)->handles.remove(of(ibv)->handle);
  delete of(ibv);
  return 0;
}

ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attr) {
  if (!is_live(context) || !is_complete(*attr) || !is_usable(attr->pd, context) || of(attr->pd)->is_parent_domain ||
      (attr->td && !is_usable(attr->td, context))) {
    return null_with<ibv_pd>(EINVAL);
  }
  auto pd = std::make_unique<Pd>();
  pd->is_parent_domain = true;
  pd->nic = of(attr->pd)->nic;
  pd->ibv = {.context = context, .handle = attr->pd->handle};
  const int error = control(context, [&](nic::Nic& nic, link::Nanos) {
    nic.pds().retain(pd->nic);
    return 0;
  });
  if (error != 0) return null_with<ibv_pd>(error);
  if (attr->td) {
    pd->td = of(attr->td);
    ++pd->td->users;
  }
  pd->own_handle = of(context)->handles.add(pd.get(), destroy_domain);
  return &pd.release()->ibv;
}

int dealloc_parent_domain(Pd* pd) {
  if (pd->users != 0) return EBUSY;
  const int error = control(pd->ibv.context, [&](nic::Nic& nic, link::Nanos) {
    nic.pds().release(pd->nic);
    return 0;
  });
  if (error != 0) return error;
  if (pd->td) --pd->td->users;
  of(pd->ibv.context)->handles.remove(pd->own_handle);
  delete pd;
  return 0;
}

}  // namespace verbs::soft::abi
