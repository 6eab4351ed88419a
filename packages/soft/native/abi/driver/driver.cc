// The private symbols of rdma-core's drivers, except for their kernel commands. Programs that are linked with a
// vendor's library (perftest, pyverbs) load it with whatever libibverbs is there, and it brings its driver along. Here
// no driver finds a device: it may register, and everything else that it asks for is refused.
#include "abi/driver/driver.h"

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "abi/objects/objects.h"

using namespace verbs::soft;

extern "C" {

// Whether destroy calls succeed after the device has gone. A driver sets it; ours never goes.
extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy = false;

// The constructor of every driver calls it. There are no kernel devices to match it with.
void verbs_register_driver_34(const void* /*ops*/) {}

// A driver opens a device of its own with attributes of its own.
ibv_context* verbs_open_device(ibv_device* device, void* private_data) {
  return private_data ? abi::null_with<ibv_context>(EOPNOTSUPP) : ibv_open_device(device);
}

// NOLINTBEGIN(bugprone-reserved-identifier): the names are rdma-core's.

// Makes the context that a driver's alloc_context() fills; none is ever asked to.
void* _verbs_init_and_alloc_context(ibv_device*, int /*cmd_fd*/, std::size_t /*size*/, verbs_context* /*offset*/,
                                    std::uint32_t /*driver_id*/) {
  return abi::null_with<void>(EOPNOTSUPP);
}
void verbs_uninit_context(verbs_context*) {}

// The functions of a context of ours stay its own.
void verbs_set_ops(verbs_context*, const void* /*ops*/) {}

// Logs to VERBS_LOG_FILE in rdma-core; a driver has nothing to tell of devices that are not its own.
void __verbs_log(verbs_context*, std::uint32_t /*level*/, const char* /*format*/, ...) {}

int ibv_read_ibdev_sysfs_file(char*, std::size_t, void* /*sysfs_device*/, const char* /*format*/, ...) {
  errno = ENOENT;
  return -1;
}

// The size of a command buffer. execute_ioctl() below reads none, so that what is linked to it adds nothing.
unsigned int __ioctl_final_num_attrs(unsigned int count, void* /*link*/) { return count; }

// NOLINTEND(bugprone-reserved-identifier)

int execute_ioctl(ibv_context*, void* /*command*/) { return EOPNOTSUPP; }

}  // extern "C"
