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

// Called by the constructor of every driver, under the private ABI number that it was built for: 34 to 99, of which 34,
// 57, 59, 64 and 65 exist. There is no kernel device to match.
#define VERBS_REGISTER(number) \
  void verbs_register_driver_##number(const void* /*ops*/) {}
#define VERBS_REGISTER_TEN(ten) \
  VERBS_REGISTER(ten##0);       \
  VERBS_REGISTER(ten##1);       \
  VERBS_REGISTER(ten##2);       \
  VERBS_REGISTER(ten##3);       \
  VERBS_REGISTER(ten##4);       \
  VERBS_REGISTER(ten##5);       \
  VERBS_REGISTER(ten##6);       \
  VERBS_REGISTER(ten##7);       \
  VERBS_REGISTER(ten##8);       \
  VERBS_REGISTER(ten##9)
VERBS_REGISTER(34);
VERBS_REGISTER(35);
VERBS_REGISTER(36);
VERBS_REGISTER(37);
VERBS_REGISTER(38);
VERBS_REGISTER(39);
VERBS_REGISTER_TEN(4);
VERBS_REGISTER_TEN(5);
VERBS_REGISTER_TEN(6);
VERBS_REGISTER_TEN(7);
VERBS_REGISTER_TEN(8);
VERBS_REGISTER_TEN(9);
#undef VERBS_REGISTER_TEN
#undef VERBS_REGISTER

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

// Memory of a dma-buf heap, for drivers in a confidential guest.
void* ibv_dmabuf_heap_alloc(void* /*heap*/, std::size_t /*size*/, int* /*fd*/) {
  return abi::null_with<void>(EOPNOTSUPP);
}
int ibv_dmabuf_heap_cc_shared_init(void* /*heap*/) { return EOPNOTSUPP; }
void ibv_dmabuf_heap_destroy(void* /*heap*/) {}
void ibv_dmabuf_heap_free(void* /*address*/, std::size_t /*size*/, int /*fd*/) {}

int execute_ioctl(ibv_context*, void* /*command*/) { return EOPNOTSUPP; }

}  // extern "C"
