// Thread domains and parent domains: the calls behind the slots of the context.
//
// A parent domain is a second verbs structure of a protection domain: objects made with it belong to that domain. Its
// thread domain saves no lock, because the helper thread takes the device's one lock too. Its allocators are for
// buffers that a driver shares with its card; there are none here, and the allocators are never called.
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::abi {

struct Pd;

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attr);
int dealloc_td(ibv_td* td);
ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attr);
int dealloc_parent_domain(Pd* pd);

}  // namespace verbs::soft::abi
