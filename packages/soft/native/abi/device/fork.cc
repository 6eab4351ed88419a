// Fork support: nothing here is pinned or shared with a device, so registered memory needs no care across a fork.
#include <infiniband/verbs.h>

extern "C" {

int ibv_fork_init() { return 0; }
ibv_fork_status ibv_is_fork_initialized() { return IBV_FORK_UNNEEDED; }

// Exported by libibverbs without a declaration.
int ibv_dontfork_range(void*, size_t) { return 0; }
int ibv_dofork_range(void*, size_t) { return 0; }

}  // extern "C"
