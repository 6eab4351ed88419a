// Thread domains and parent domains: the calls behind the slots of the context.
//
// A parent domain is another face of a protection domain: whatever is made with it works as if made with that one. Its
// thread domain would spare locks; the device's one lock stays, since the helper thread takes it too. Its allocators
// are for buffers that a driver shares with its card: there are none here, so that they are never called.
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::abi {

struct Pd;

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attr);
int dealloc_td(ibv_td* td);
ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attr);
int dealloc_parent_domain(Pd* pd);

}  // namespace verbs::soft::abi
