// Fork support. No memory is pinned or shared with hardware, so that a fork needs no preparation.
#include <infiniband/verbs.h>

extern "C" {

int ibv_fork_init() { return 0; }
ibv_fork_status ibv_is_fork_initialized() { return IBV_FORK_UNNEEDED; }

// Exported by libibverbs without a declaration.
int ibv_dontfork_range(void*, size_t) { return 0; }
int ibv_dofork_range(void*, size_t) { return 0; }

}  // extern "C"
