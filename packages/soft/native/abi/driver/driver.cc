// The private symbols that rdma-core's drivers use, except for the kernel commands. Programs that are linked with a
// vendor's library (perftest, pyverbs) load it, and with it the vendor's driver, on top of this libibverbs. A driver
// may register. It finds no device, and every other call fails.
#include "abi/driver/driver.h"

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "abi/objects/objects.h"

using namespace verbs::soft;

extern "C" {

// Whether destroy calls succeed after the device was removed. Set by drivers; our devices are never removed.
extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy = false;

// Called by the constructor of every driver. There is no kernel device to match.
void verbs_register_driver_34(const void* /*ops*/) {}

// For drivers that open their own device with their own attributes.
ibv_context* verbs_open_device(ibv_device* device, void* private_data) {
  return private_data ? abi::null_with<ibv_context>(EOPNOTSUPP) : ibv_open_device(device);
}

// NOLINTBEGIN(bugprone-reserved-identifier): the names are rdma-core's.

// Creates the context for a driver's alloc_context(), which is never called here.
void* _verbs_init_and_alloc_context(ibv_device*, int /*cmd_fd*/, std::size_t /*size*/, verbs_context* /*offset*/,
                                    std::uint32_t /*driver_id*/) {
  return abi::null_with<void>(EOPNOTSUPP);
}
void verbs_uninit_context(verbs_context*) {}

// The functions of our contexts stay as they are.
void verbs_set_ops(verbs_context*, const void* /*ops*/) {}

// Logs to VERBS_LOG_FILE in rdma-core; nothing is logged here.
void __verbs_log(verbs_context*, std::uint32_t /*level*/, const char* /*format*/, ...) {}

int ibv_read_ibdev_sysfs_file(char*, std::size_t, void* /*sysfs_device*/, const char* /*format*/, ...) {
  errno = ENOENT;
  return -1;
}

// The size of a command buffer. execute_ioctl() below reads no buffer, so that the size is 0.
unsigned int __ioctl_final_num_attrs(unsigned int count, void* /*link*/) { return count; }

// NOLINTEND(bugprone-reserved-identifier)

int execute_ioctl(ibv_context*, void* /*command*/) { return EOPNOTSUPP; }

}  // extern "C"
